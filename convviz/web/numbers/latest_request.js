// Between settings and their numbers. A maker answers at once or promises: one request is under way, only the
// newest waits, stale numbers are dropped. Until a promise is kept, a second maker may preview.
import SETTINGS from "../../facts/data/settings.json" with { type: "json" };
import { shownName } from "../rules/tensor_display_names.js";
import { say } from "../rules/sentences.js";

/**
 * @typedef {{ k: number, stages: Stages, dtype: string, truth: string, truth_ok: boolean | null, from:
 *   "page" | "torch" }} Numbers k: of their settings; truth: what they were compared with
 * @typedef {(settings: Settings, k: number) => Numbers | Promise<Numbers>} MakeNumbers throws, or rejects,
 *   with the sentence to show
 * @typedef {{ settings: Settings, k: number }} Request
 * @typedef {{ onNumbers: (settings: Settings, numbers: Numbers) => void, onPreview: (settings: Settings,
 *   numbers: Numbers | null) => void, onRefused: (error: Error) => void, onTimeout: () => void }} Listener
 *   onNumbers: of the newest settings; onPreview: null where there is none; onTimeout: still no numbers
 * @typedef {(act: () => void, milliseconds: number) => (() => void)} Later cancellable
 */

const PATIENCE = 10_000; // milliseconds

/** @type {Later} */
export const afterwards = (act, milliseconds) => {
  const timer = setTimeout(act, milliseconds);
  return () => clearTimeout(timer);
};

export class LatestRequest {
  #makeNumbers;
  /** @type {((settings: Settings, k: number) => Numbers) | null} */
  #preview = null;
  #listener;
  #later;
  #k = 0; // the id of the newest request
  #pending = false; // whether its numbers are still to come
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
   * Requests of the old maker are dropped.
   * @param {MakeNumbers} makeNumbers
   * @param {((settings: Settings, k: number) => Numbers) | null} [preview] shown until a promise is kept
   */
  setBackend(makeNumbers, preview = null) {
    [this.#makeNumbers, this.#preview] = [makeNumbers, preview];
    this.cancel();
    this.#underway = null;
  }

  pending() {
    return this.#pending;
  }

  /** What comes at once is taken, or thrown, before this returns. @param {Settings} settings */
  ask(settings) {
    const request = { settings, k: ++this.#k };
    this.#pending = true;
    if (this.#underway) this.#waiting = request;
    else this.#start(request);
    // After sending, to compute in parallel.
    if (this.#preview && this.#pending)
      this.#listener.onPreview(settings, this.#made(this.#preview, request));
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

  /** Drops what is under way: other numbers are there. @returns {number} their id */
  cancel() {
    this.#k += 1;
    this.#pending = false;
    this.#waiting = null;
    return this.#k;
  }

  /**
   * A preview, or null where it cannot be computed.
   * @param {(settings: Settings, k: number) => Numbers} make @param {Request} request
   */
  #made(make, { settings, k }) {
    try {
      const numbers = make(settings, k);
      checkFinite(numbers, settings.transposed);
      return numbers;
    } catch {
      return null; // too large: the other maker says why
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
    this.#listener.onNumbers(settings, numbers);
  }

  /** With no caller to catch. @param {() => void} action */
  #attempt(action) {
    try {
      action();
    } catch (error) {
      this.#pending = false;
      this.#listener.onRefused(error instanceof Error ? error : new Error(String(error)));
    }
  }

  /** The newest takes its turn; a late answer counts while its settings hold. @param {Request} request */
  #giveUp(request) {
    if (this.#pending) this.#listener.onTimeout();
    this.#next(request);
  }

  /** Sends the newest request that waits, unless this one was given up. @param {Request} request */
  #next(request) {
    if (this.#underway !== request) return;
    const waiting = this.#waiting;
    this.#underway = this.#waiting = null;
    if (waiting) this.#attempt(() => this.#send(waiting));
  }
}

/**
 * As settings/compute.py: non-finite numbers can be neither coloured nor handed on.
 * @param {Numbers} numbers @param {boolean} transposed
 */
function checkFinite({ stages, dtype }, transposed) {
  const byName = /** @type {Record<string, Tensor | number | null>} */ (stages);
  for (const name of SETTINGS.computed) {
    const made = byName[shownName(name, transposed)];
    // No stage holds the target.
    const value = (typeof made === "number" ? [made] : made?.data)?.find((each) => !Number.isFinite(each));
    if (value === undefined) continue;
    const word = Number.isNaN(value) ? "nan" : value < 0 ? "-inf" : "inf";
    throw new Error(say("refused.finite", { dtype, value: word, name }));
  }
}
