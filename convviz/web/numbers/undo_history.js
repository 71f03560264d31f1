// Settings, what Reset goes back to, undo and redo; and all of it as it was when numbers came last.
import SETTINGS from "../../facts/data/settings.json" with { type: "json" };
import { UNDO_STROKE, seenAs } from "../rules/undo_rules.js";
import { replaced } from "../rules/settings_and_tensors.js";

/**
 * @typedef {{ past: Settings[], future: Settings[], move: string, when: number }} Steps replaced whole;
 *   move, when: of the last control
 * @typedef {{ settings: Settings, initial: Settings, past: Settings[], future: Settings[] }} Kept
 */

const MAX_STEPS = SETTINGS.limits.history.steps;
/** Moves of a control within it are one step. */
const SAME_MOVE = 1000 * SETTINGS.limits.history.same_move_seconds;
/** @type {Steps} */
const NONE = { past: [], future: [], move: "", when: -Infinity };

export class UndoHistory {
  #clock;
  #settings;
  #initial;
  #steps = NONE;
  #accepted; // when numbers came last

  /** @param {Settings} start @param {() => number} clock milliseconds */
  constructor(start, clock) {
    this.#clock = clock;
    this.#settings = this.#initial = start;
    this.#accepted = this.#now();
  }

  #now = () => ({ settings: this.#settings, initial: this.#initial, steps: this.#steps });

  settings = () => this.#settings;
  initial = () => this.#initial;
  canUndo = () => this.#steps.past.length > 0;
  canRedo = () => this.#steps.future.length > 0;

  /** @param {Settings} next @param {string} move name of the control, or empty */
  go(next, move) {
    const old = this.#settings;
    this.#settings = next;
    if (JSON.stringify(old) === JSON.stringify(seenAs(next, old))) return;
    const when = this.#clock();
    const { past, ...last } = this.#steps;
    const goesOn = move.startsWith(UNDO_STROKE) || when - last.when < SAME_MOVE;
    const isSame = move && move === last.move && goesOn && past.length;
    this.#steps = { past: isSame ? past : [...past, old].slice(-MAX_STEPS), future: [], move, when };
  }

  /** @param {"undo" | "redo"} way @returns {boolean} whether there was a step */
  turn(way) {
    const { past, future } = this.#steps;
    const [from, to] = way === "undo" ? [past, future] : [future, past];
    if (!from.length) return false;
    const [left, right] = [from.slice(0, -1), [...to, this.#settings]];
    this.#steps = { ...NONE, past: way === "undo" ? left : right, future: way === "undo" ? right : left };
    this.#settings = replaced(seenAs(from[from.length - 1], this.#settings), {}); // the plane may be gone
    return true;
  }

  /** Starts anew: reset leads here, and nothing can be undone. @param {Settings} next */
  restart(next) {
    [this.#settings, this.#initial, this.#steps] = [next, next, NONE];
  }

  /** Numbers came: a refusal leads back here. */
  accept() {
    this.#accepted = this.#now();
  }

  /** Made elsewhere; a refusal leads there. @param {Settings} there */
  acceptElsewhere(there) {
    this.#accepted = { ...this.#accepted, settings: there };
  }

  /** What another page needs to go on from here. @returns {Kept} */
  kept() {
    const { past, future } = this.#steps;
    return { settings: this.#settings, initial: this.#initial, past, future };
  }

  /** Goes on from what another page kept. @param {Kept} kept @param {Partial<Settings>} ground */
  goOnFrom(kept, ground) {
    const whole = (/** @type {Settings} */ state) => replaced({ ...state, ...ground }, {});
    const [now, start] = [whole(kept.settings), whole(kept.initial)];
    this.#steps = { ...NONE, past: kept.past.map(whole), future: kept.future.map(whole) };
    [this.#settings, this.#initial] = [now, start];
  }

  /** Changes the settings and those of reset, without an undo step. @param {(settings: Settings) => Settings} change */
  amend(change) {
    [this.#settings, this.#initial] = [change(this.#settings), change(this.#initial)];
  }

  goBack() {
    ({ settings: this.#settings, initial: this.#initial, steps: this.#steps } = this.#accepted);
  }
}
