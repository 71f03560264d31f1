// @ts-check
// A setting that had to give way, as data until it is said.
import { axisName, say } from "./say.js";

/**
 * One setting that was moved because a rule demanded it: the id of the sentence that says why, 0 for the
 * height and 1 for the width (null where it has no axis), and the arguments of the
 * sentence, without the axis.
 * @import { SentenceId } from "./say.js"
 * @typedef {{ why: SentenceId, axis: number | null, values: Record<string, string | number> }} Moved
 */

/**
 * That a setting went from an old value to a new one.
 * @param {SentenceId} why @param {number | null} axis @param {string | number} old
 * @param {string | number} now
 * @param {Moved["values"]} [values] @returns {Moved}
 */
export const moved = (why, axis, old, now, values = {}) => ({
  why,
  axis,
  values: { old, new: now, ...values },
});

/** A sentence for every setting that was moved. @param {Moved[]} moves */
export const saidOf = (moves) =>
  moves.map(({ why, axis, values }) =>
    say(why, axis === null ? values : { ...values, axis: axisName(axis) }),
  );
