// @ts-check
// The way back: what undo and redo remember, by the rules of app/model.py.
import SETTINGS from "../../../facts/settings.json" with { type: "json" };

/** @import { Settings } from "./settings.js" */

const STEPS = SETTINGS.limits.history.steps; // that undo remembers
const SAME_MOVE = 1000 * SETTINGS.limits.history.same_move_seconds; // milliseconds within which moves of one control count as one
/** What undo leaves alone, because it changes no number. */
const VIEW = /** @type {(keyof Settings)[]} */ (SETTINGS.view);

/** @param {Settings} settings @param {Settings} view whose view the settings shall have @returns {Settings} */
export function seenAs(settings, view) {
  return { ...settings, ...Object.fromEntries(VIEW.map((name) => [name, view[name]])) };
}

/** @param {() => number} clock milliseconds */
export function createHistory(clock) {
  /** @type {{ past: Settings[], future: Settings[] }} */
  let steps = { past: [], future: [] };
  let last = { move: "", when: -Infinity };

  return {
    canUndo: () => steps.past.length > 0,
    canRedo: () => steps.future.length > 0,
    /** Forget the way back: another start was chosen. */
    clear() {
      steps = { past: [], future: [] };
      last = { move: "", when: -Infinity };
    },

    /** @param {Settings} old @param {Settings} now @param {string} move name of the control, or empty */
    remember(old, now, move) {
      if (JSON.stringify(old) === JSON.stringify(seenAs(now, old))) return;
      const when = clock();
      const same = move && move === last.move && when - last.when < SAME_MOVE && steps.past.length;
      last = { move, when };
      steps = { past: same ? steps.past : [...steps.past, old].slice(-STEPS), future: [] };
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
      steps = way === "undo" ? { past: left, future: right } : { past: right, future: left };
      last = { move: "", when: -Infinity };
      return there;
    },
  };
}
