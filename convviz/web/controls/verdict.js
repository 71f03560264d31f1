// A verdict on the last step, or the next.
import SETTINGS from "../../facts/settings.json" with { type: "json" };
import { formatNumber } from "../base/format.js";
import { sayLearn } from "./say_learn.js";
import { RATES, steepness } from "../numbers/gradient_step.js";

/** @param {number} lowest */
const valley = (lowest) => ({ lowest: formatNumber(lowest), twice: formatNumber(2 * lowest) });

/**
 * @param {import("../numbers/actions.js").Shown} shown @param {import("./descent_history.js").Descent} descent
 * @param {() => { lowest: number | null, safe: number }} rates
 * @returns {{ text: string, rose: boolean, ends: boolean }} rose: the loss did; ends: no step goes on
 */
export function judged({ settings, numbers: { stages } }, descent, rates) {
  const [before, after] = descent.losses().slice(-2);
  const last = descent.last();
  const calm = (/** @type {string} */ text) => ({ text, rose: false, ends: false });
  if (last && after > before) {
    const values = { before: formatNumber(before), after: formatNumber(after), lr: last.lr };
    const text =
      last.lowest === null
        ? sayLearn("rose.other", values)
        : sayLearn("rose", { ...values, ...valley(last.lowest) });
    return { text, rose: true, ends: false };
  }
  if (!SETTINGS.losses_with_a_lowest_point.includes(settings.loss)) return calm(sayLearn("endless"));
  if (steepness(stages) < 1e-20) return { text: sayLearn("flat"), rose: false, ends: true };
  const { lowest, safe } = rates();
  if (safe < RATES[0]) return calm(sayLearn("steep", { lr: RATES[0], safe: formatNumber(safe) }));
  return calm(lowest === null ? "" : sayLearn("hint", valley(lowest)));
}
