// Settings that had to give way.
import { axisName, say } from "./sentences.js";

/**
 * Its sentence, its axis (0 height, 1 width) if any, and the sentence's other arguments.
 * @import { SentenceId } from "./sentences.js"
 * @typedef {{ why: SentenceId, axis: number | null, values: Record<string, string | number> }} Moved
 */

/**
 * @param {SentenceId} why @param {number | null} axis @param {string | number} old
 * @param {string | number} now @param {Moved["values"]} [values] @returns {Moved}
 */
export const moved = (why, axis, old, now, values = {}) => ({
  why,
  axis,
  values: { old, new: now, ...values },
});

/** @param {Moved[]} moves */
export const describeAdjustments = (moves) =>
  moves.map(({ why, axis, values }) =>
    say(why, axis === null ? values : { ...values, axis: axisName(axis) }),
  );
