// @ts-check
// The seam between the settings and the numbers that follow from them. A maker of numbers answers at once, or
// promises to: then one request is under way at a time, the newest of all others waits, and numbers of
// settings that are gone are dropped. Until such a promise is kept, a second maker that answers at once may
// give what is shown meanwhile.
import { checkFinite } from "./checked.js";

/**
 * @import { Settings, Stages } from "../rules/settings.js"
 * @typedef {{ k: number, stages: Stages, dtype: string, truth: string, truth_ok: boolean | null,
 *   from: "page" | "torch" }} Numbers k: of the settings that they follow from; dtype: in which they were
 *   computed; truth: what they were held against
 * @typedef {(settings: Settings, k: number) => Numbers | Promise<Numbers>} MakeNumbers throws, or rejects,
 *   with the sentence that says why there are none
 * @typedef {{ settings: Settings, k: number }} Request
 * @typedef {{ taken: (settings: Settings, numbers: Numbers) => void,
 *   shown: (settings: Settings, numbers: Numbers | null) => void, refused: (error: Error) => void,
 *   late: () => void }} Listener taken: the numbers of the newest settings; shown: what stands in their place
 *   until they come, null where there is nothing; refused: there are none of them; late:
 *   they have not come so far
 * @typedef {(act: () => void, milliseconds: number) => (() => void)} Later does something
 *   after a while, unless stopped
 */

const PATIENCE = 10_000; // milliseconds, after which nobody waits for a request any longer

/** @type {Later} */
export const afterwards = (act, milliseconds) => {
  const timer = setTimeout(act, milliseconds);
  return () => clearTimeout(timer);
};

export class Asking {
  #makeNumbers;
  /** @type {((settings: Settings, k: number) => Numbers) | null} */
  #meanwhile = null;
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

  /**
   * From now on another maker is asked; what was asked of the old one is dropped.
   * @param {MakeNumbers} makeNumbers
   * @param {((settings: Settings, k: number) => Numbers) | null} [meanwhile] gives at once what is
   *   shown until a promise is kept
   */
  turnTo(makeNumbers, meanwhile = null) {
    [this.#makeNumbers, this.#meanwhile] = [makeNumbers, meanwhile];
    this.skip();
    this.#underway = null;
  }

  /** Whether the numbers of the newest settings are still to come. */
  pending() {
    return this.#pending;
  }

  /**
   * Ask for the numbers of new settings. What is answered at once is taken before this returns, and what
   * refuses at once is thrown.
   * @param {Settings} settings
   */
  ask(settings) {
    const request = { settings, k: ++this.#k };
    this.#pending = true;
    if (this.#underway) this.#waiting = request;
    else this.#start(request);
    // After it is sent, so that the other maker computes meanwhile.
    if (this.#meanwhile && this.#pending)
      this.#listener.shown(settings, this.#made(this.#meanwhile, request));
  }

  /** @param {Request} request */
  #start(request) {
    try {
      this.#send(request);
    } catch (error) {
      this.#pending = false;
      throw error;
    }
  }

  /** No longer want what was asked for: other numbers are there. @returns {number} the id that these have */
  skip() {
    this.#k += 1;
    this.#pending = false;
    this.#waiting = null;
    return this.#k;
  }

  /**
   * What a maker that answers at once makes; null where it cannot.
   * @param {(settings: Settings, k: number) => Numbers} make @param {Request} request
   */
  #made(make, { settings, k }) {
    try {
      const numbers = make(settings, k);
      checkFinite(numbers, settings.transposed);
      return numbers;
    } catch {
      return null; // too much for a page, or too large a number: the other maker says what is to be said
    }
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
      (error) =>
        settle(() => {
          throw error;
        }),
    );
  }

  /** @param {Request} request @param {Numbers} numbers */
  #take({ settings, k }, numbers) {
    if (numbers.k !== k)
      throw new Error(`the numbers of step ${k} are not there: those of step ${numbers.k} came instead`);
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

  /**
   * Wait no longer: the newest request takes the turn. An answer that comes yet is taken
   * while its settings hold.
   * @param {Request} request
   */
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
