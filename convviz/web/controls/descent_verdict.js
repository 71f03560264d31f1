// A verdict on the last step, or the next.
import { formatApart } from "../base/format.js";
import { sayDescent } from "./gradient_descent_sentences.js";
import { RATES, hasLowestPoint, isFlat } from "../numbers/gradient_step.js";

/** Beside the rate that was chosen. @param {number} lowest @param {number} lr */
function valley(lowest, lr) {
  const [, low, twice] = formatApart(lr, lowest, 2 * lowest);
  return { lowest: low, twice };
}

/**
 * @param {import("../numbers/actions.js").Shown} shown
 * @param {import("./descent_history.js").Descent} descent
 * @param {() => import("../numbers/gradient_step.js").Slope} slopeOf
 * @returns {{ text: string, rose: boolean, ends: boolean }} rose: the loss did; ends: no step goes on
 */
export function verdictOn({ settings, numbers: { stages } }, descent, slopeOf) {
  /** @param {string} text @param {{ rose?: boolean, ends?: boolean }} [more] */
  const verdict = (text, { rose = false, ends = false } = {}) => ({ text, rose, ends });
  if (!hasLowestPoint(settings)) return verdict(sayDescent("endless"));
  const { lowest, safe, rounding, fall } = slopeOf();
  const [before, after] = descent.losses().slice(-2);
  const last = descent.last();
  if (last && after - before > rounding) {
    const [low, high] = formatApart(before, after);
    const values = { before: low, after: high, lr: last.lr };
    const text =
      last.lowest === null
        ? sayDescent("rose.other", values)
        : sayDescent("rose", { ...values, ...valley(last.lowest, last.lr) });
    if (low !== high) return verdict(text, { rose: true });
  }
  if (isFlat(stages)) return verdict(sayDescent("flat"), { ends: true });
  if (fall <= rounding) return verdict(sayDescent("lowest", { dtype: settings.dtype }), { ends: true });
  if (safe < RATES[0])
    return verdict(sayDescent("steep", { lr: RATES[0], safe: formatApart(safe, RATES[0])[0] }));
  return verdict(lowest === null ? "" : sayDescent("hint", valley(lowest, settings.lr)));
}
