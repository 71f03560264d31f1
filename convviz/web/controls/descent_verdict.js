// A verdict on the last step, or the next.
import { formatApart } from "../base/format.js";
import { sayLearn } from "./gradient_descent_sentences.js";
import { RATES, hasLowestPoint, steepness } from "../numbers/gradient_step.js";

/** Beside the rate that was chosen. @param {number} lowest @param {number} lr */
function valley(lowest, lr) {
  const [, low, twice] = formatApart(lr, lowest, 2 * lowest);
  return { lowest: low, twice };
}

/**
 * @param {import("../numbers/actions.js").Shown} shown
 * @param {import("./descent_history.js").Descent} descent
 * @param {() => { lowest: number | null, safe: number }} rates
 * @returns {{ text: string, rose: boolean, ends: boolean }} rose: the loss did; ends: no step goes on
 */
export function judged({ settings, numbers: { stages } }, descent, rates) {
  const [before, after] = descent.losses().slice(-2);
  const last = descent.last();
  const calm = (/** @type {string} */ text) => ({ text, rose: false, ends: false });
  if (last && after > before) {
    const [low, high] = formatApart(before, after);
    const values = { before: low, after: high, lr: last.lr };
    const text =
      last.lowest === null
        ? sayLearn("rose.other", values)
        : sayLearn("rose", { ...values, ...valley(last.lowest, last.lr) });
    return { text, rose: true, ends: false };
  }
  if (!hasLowestPoint(settings)) return calm(sayLearn("endless"));
  if (steepness(stages) < 1e-20) return { text: sayLearn("flat"), rose: false, ends: true };
  const { lowest, safe } = rates();
  if (safe < RATES[0]) return calm(sayLearn("steep", { lr: RATES[0], safe: formatApart(safe, RATES[0])[0] }));
  return calm(lowest === null ? "" : sayLearn("hint", valley(lowest, settings.lr)));
}
