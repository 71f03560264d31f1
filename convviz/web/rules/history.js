// @ts-check
// The way back: what undo and redo remember.
import SETTINGS from "../../facts/settings.json" with { type: "json" };
import { LOOKS } from "./schema.js";

/** @import { Settings } from "./settings.js" */

const STEPS = SETTINGS.limits.history.steps; // that undo remembers
// The milliseconds within which moves of one control count as one.
const SAME_MOVE = 1000 * SETTINGS.limits.history.same_move_seconds;
/** What undo leaves alone, because it changes no number. */
const VIEW = /** @type {(keyof Settings)[]} */ (LOOKS);

/**
 * How the moves begin that are one step however long they take: a stroke that draws ends
 * when the pointer is let go.
 */
export const STROKE = "stroke ";

/**
 * @param {Settings} settings @param {Settings} view whose view the settings shall have @returns {Settings}
 */
export function seenAs(settings, view) {
  return { ...settings, ...Object.fromEntries(VIEW.map((name) => [name, view[name]])) };
}

/**
 * What is remembered, replaced whole at each step; move and when are of the last control that moved.
 * @typedef {{ past: Settings[], future: Settings[], move: string, when: number }} Steps
 */

/** @type {Steps} */
const NONE = { past: [], future: [], move: "", when: -Infinity };

/** @param {() => number} clock milliseconds */
export function createHistory(clock) {
  let steps = NONE;

  return {
    canUndo: () => steps.past.length > 0,
    canRedo: () => steps.future.length > 0,
    steps: () => steps,
    /** Have other steps; without any, another start was chosen. @param {Steps} [kept] */
    restore(kept = NONE) {
      steps = kept;
    },

    /** @param {Settings} old @param {Settings} now @param {string} move name of the control, or empty */
    remember(old, now, move) {
      if (JSON.stringify(old) === JSON.stringify(seenAs(now, old))) return;
      const when = clock();
      const { past } = steps;
      const goesOn = move.startsWith(STROKE) || when - steps.when < SAME_MOVE;
      const same = move && move === steps.move && goesOn && past.length;
      steps = { past: same ? past : [...past, old].slice(-STEPS), future: [], move, when };
    },

    /**
     * Take the settings one step back or forward; null where there is none.
     * @param {"undo" | "redo"} way @param {Settings} now the present ones
     */
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
