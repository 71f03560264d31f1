// @ts-check
// Where one is: the settings, the start that Reset leads to and the way back; and where one
// was when numbers came last.
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

  /** @param {Settings} start @param {() => number} clock milliseconds */
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

  /** Go to new settings. @param {Settings} next @param {string} move name of the control, or empty */
  go(next, move) {
    this.#history.remember(this.#settings, next, move);
    this.#settings = next;
  }

  /** Go one step back or forward, if there is one. @param {"undo" | "redo"} way @returns {boolean} */
  turn(way) {
    const there = this.#history.take(way, this.#settings);
    if (there) this.#settings = replaced(there, {}); // the plane that is looked at now may not be there
    return there !== null;
  }

  /** Start anew: Reset leads here, and there is nothing to undo. @param {Settings} next */
  restart(next) {
    [this.#settings, this.#initial] = [next, next];
    this.#history.restore();
  }

  /** The numbers of these settings are there: a refusal leads back to them. */
  hold() {
    this.#held = { settings: this.#settings, initial: this.#initial, steps: this.#history.steps() };
  }

  /**
   * Others have set something that holds from now on, whatever comes of what was asked for here.
   * @param {Settings} there
   */
  holdAt(there) {
    this.#held = { ...this.#held, settings: there };
  }

  /** All that another page needs to go on from here. */
  kept = () => ({
    settings: this.#settings,
    initial: this.#initial,
    past: this.#history.steps().past,
    future: this.#history.steps().future,
  });

  /** Go on from where another page was. @param {Kept} kept @param {Partial<Settings>} ground */
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

  /**
   * Change what is no step of a person's: where torch computes.
   * @param {(settings: Settings) => Settings} change
   */
  amend(change) {
    [this.#settings, this.#initial] = [change(this.#settings), change(this.#initial)];
  }

  /** Go back to what holds. */
  giveUp() {
    ({ settings: this.#settings, initial: this.#initial } = this.#held);
    this.#history.restore(this.#held.steps);
  }
}
