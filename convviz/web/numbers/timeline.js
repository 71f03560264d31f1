// Settings, Reset's target and undo; and where they were when numbers came last.
import { createHistory } from "../rules/history.js";
import { replaced } from "../rules/settings.js";

/**
 * @import { Settings } from "../rules/settings.js"
 * @typedef {{ settings: Settings, initial: Settings, past: Settings[], future: Settings[] }} Kept
 */

export class Timeline {
  #history;
  #settings;
  #initial;
  #held;
  canUndo;
  canRedo;

  /** @param {Settings} start @param {() => number} clock */
  constructor(start, clock) {
    this.#history = createHistory(clock);
    this.#settings = start;
    this.#initial = start;
    this.#held = { settings: this.#settings, initial: this.#initial, steps: this.#history.steps() };
    this.canUndo = this.#history.canUndo;
    this.canRedo = this.#history.canRedo;
  }

  settings = () => this.#settings;

  initial = () => this.#initial;

  /** @param {Settings} next @param {string} move */
  go(next, move) {
    this.#history.remember(this.#settings, next, move);
    this.#settings = next;
  }

  /** @param {"undo" | "redo"} way @returns {boolean} */
  turn(way) {
    const there = this.#history.take(way, this.#settings);
    if (there) this.#settings = replaced(there, {}); // the plane may be gone
    return there !== null;
  }

  /** Reset leads here. @param {Settings} next */
  restart(next) {
    [this.#settings, this.#initial] = [next, next];
    this.#history.restore();
  }

  /** Refusals lead back here. */
  hold() {
    this.#held = { settings: this.#settings, initial: this.#initial, steps: this.#history.steps() };
  }

  /** Set elsewhere: it holds now. @param {Settings} there */
  holdAt(there) {
    this.#held = { ...this.#held, settings: there };
  }

  /** For another page. */
  kept = () => ({
    settings: this.#settings,
    initial: this.#initial,
    past: this.#history.steps().past,
    future: this.#history.steps().future,
  });

  /** As another page was. @param {Kept} kept @param {Partial<Settings>} ground */
  takeUp(kept, ground) {
    const whole = (/** @type {Settings} */ state) => replaced({ ...state, ...ground }, {});
    const [now, start, past, future] = [
      whole(kept.settings),
      whole(kept.initial),
      kept.past.map(whole),
      kept.future.map(whole),
    ];
    [this.#settings, this.#initial] = [now, start];
    this.#history.restore({ past, future, move: "", when: -Infinity });
  }

  /** No undo step: the device. @param {(settings: Settings) => Settings} change */
  amend(change) {
    [this.#settings, this.#initial] = [change(this.#settings), change(this.#initial)];
  }

  /** Back to what holds. */
  giveUp() {
    ({ settings: this.#settings, initial: this.#initial } = this.#held);
    this.#history.restore(this.#held.steps);
  }
}
