// @ts-check
// The seam between the settings and the numbers that follow from them. A maker of numbers answers at once, or promises
// to: then one request is under way at a time, the newest of all others waits, and numbers of settings that are gone are
// dropped.
import { checkFinite } from "./checked.js";

/**
 * @import { Settings, Stages } from "../rules/settings.js"
 * @typedef {{ k: number, stages: Stages, dtype: string, truth: string, truth_ok: boolean | null }} Numbers
 *   k: of the settings that they follow from; dtype: in which they were computed; truth: what they were held against
 * @typedef {(settings: Settings, k: number) => Numbers | Promise<Numbers>} MakeNumbers throws, or rejects, with the sentence
 *   that says why there are none
 * @typedef {{ settings: Settings, k: number }} Request
 * @typedef {{ taken: (settings: Settings, numbers: Numbers) => void, refused: (error: Error) => void, late: () => void }} Listener
 *   taken: the numbers of the newest settings; refused: there are none of them; late: they have not come so far
 * @typedef {(act: () => void, milliseconds: number) => (() => void)} Later does something after a while, unless stopped
 */

const PATIENCE = 10_000; // milliseconds, after which nobody waits for a request any longer

/** @type {Later} */
export const afterwards = (act, milliseconds) => {
  const timer = setTimeout(act, milliseconds);
  return () => clearTimeout(timer);
};

export class Asking {
  #makeNumbers;
  #listener;
  #later;
  #k = 0; // of the newest settings
  #pending = false; // whether their numbers are still to come
  /** @type {Request | null} */
  #underway = null;
  /** @type {Request | null} */
  #waiting = null;

  /** @param {MakeNumbers} makeNumbers @param {Listener} listener @param {Later} later */
  constructor(makeNumbers, listener, later) {
    this.#makeNumbers = makeNumbers;
    this.#listener = listener;
    this.#later = later;
  }

  /** Whether the numbers of the newest settings are still to come. */
  pending() {
    return this.#pending;
  }

  /**
   * Ask for the numbers of new settings. What is answered at once is taken before this returns, and what refuses at once
   * is thrown.
   * @param {Settings} settings
   */
  ask(settings) {
    const request = { settings, k: ++this.#k };
    this.#pending = true;
    if (this.#underway) {
      this.#waiting = request;
      return;
    }
    try {
      this.#send(request);
    } catch (error) {
      this.#pending = false;
      throw error;
    }
  }

  /** No longer want what was asked for: the settings are again those whose numbers are there. */
  forget() {
    this.#k += 1;
    this.#pending = false;
    this.#waiting = null;
  }

  /** @param {Request} request */
  #send(request) {
    const answer = this.#makeNumbers(request.settings, request.k);
    if (!(answer instanceof Promise)) {
      this.#take(request, answer);
      return;
    }
    this.#underway = request;
    const stop = this.#later(() => this.#giveUp(request), PATIENCE);
    /** @param {() => void} finish */
    const settle = (finish) => {
      stop();
      if (request.k === this.#k) this.#attempt(finish);
      this.#next(request);
    };
    answer.then(
      (numbers) => settle(() => this.#take(request, numbers)),
      (error) => settle(() => { throw error; }),
    );
  }

  /** @param {Request} request @param {Numbers} numbers */
  #take({ settings, k }, numbers) {
    if (numbers.k !== k) throw new Error(`the numbers of step ${k} are not there: those of step ${numbers.k} came instead`);
    checkFinite(numbers, settings.transposed);
    this.#pending = false;
    this.#listener.taken(settings, numbers);
  }

  /** Run what nobody above can catch. @param {() => void} action */
  #attempt(action) {
    try {
      action();
    } catch (error) {
      this.#pending = false;
      this.#listener.refused(error instanceof Error ? error : new Error(String(error)));
    }
  }

  /** Wait no longer: the newest request takes the turn. An answer that comes yet is taken while its settings hold. @param {Request} request */
  #giveUp(request) {
    if (this.#pending) this.#listener.late();
    this.#next(request);
  }

  /** Send what waits behind a request, unless that was given up before. @param {Request} request */
  #next(request) {
    if (this.#underway !== request) return;
    const waiting = this.#waiting;
    this.#underway = this.#waiting = null;
    if (waiting) this.#attempt(() => this.#send(waiting));
  }
}
