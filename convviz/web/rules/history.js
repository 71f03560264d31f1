// Undo and redo.
import SETTINGS from "../../facts/settings.json" with { type: "json" };
import { LOOKS } from "./schema.js";

/** @import { Settings } from "./settings.js" */

const STEPS = SETTINGS.limits.history.steps;
// Moves of one control this close are one.
const SAME_MOVE = 1000 * SETTINGS.limits.history.same_move_seconds;
/** It changes no number. */
const VIEW = /** @type {(keyof Settings)[]} */ (LOOKS);

/** A stroke is one step however long it takes. */
export const STROKE = "stroke ";

/** @param {Settings} settings @param {Settings} view @returns {Settings} */
export function seenAs(settings, view) {
  return { ...settings, ...Object.fromEntries(VIEW.map((name) => [name, view[name]])) };
}

/**
 * move, when: of the last control.
 * @typedef {{ past: Settings[], future: Settings[], move: string, when: number }} Steps
 */

/** @type {Steps} */
const NONE = { past: [], future: [], move: "", when: -Infinity };

/** @param {() => number} clock */
export function createHistory(clock) {
  let steps = NONE;

  return {
    canUndo: () => steps.past.length > 0,
    canRedo: () => steps.future.length > 0,
    steps: () => steps,
    /** None: a new start. @param {Steps} [kept] */
    restore(kept = NONE) {
      steps = kept;
    },

    /** @param {Settings} old @param {Settings} now @param {string} move */
    remember(old, now, move) {
      if (JSON.stringify(old) === JSON.stringify(seenAs(now, old))) return;
      const when = clock();
      const { past } = steps;
      const goesOn = move.startsWith(STROKE) || when - steps.when < SAME_MOVE;
      const same = move && move === steps.move && goesOn && past.length;
      steps = { past: same ? past : [...past, old].slice(-STEPS), future: [], move, when };
    },

    /** null: none. @param {"undo" | "redo"} way @param {Settings} now */
    take(way, now) {
      const [from, to] = way === "undo" ? [steps.past, steps.future] : [steps.future, steps.past];
      if (!from.length) return null;
      const there = seenAs(from[from.length - 1], now);
      const [left, right] = [from.slice(0, -1), [...to, now]];
      steps = { ...NONE, past: way === "undo" ? left : right, future: way === "undo" ? right : left };
      return there;
    },
  };
}
