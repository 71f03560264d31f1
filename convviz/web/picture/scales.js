// @ts-check
// What the colours say. Fill is a number: one pair of hues for its sign, and how strong it is for its size,
// up to the end of a scale. A panel's name and frame have the hue of its variable: input, weight or output.
// Its gradient has the same.
import PICTURE from "../../facts/picture.json" with { type: "json" };
import { panelsOf } from "./panels.js";

/**
 * @import { Settings, Stages, Tensor } from "../rules/settings.js"
 * @import { Equation, ShownName } from "./panels.js"
 * @typedef {keyof typeof PICTURE.quantities} Quantity
 */

const { of: OF, of_transposed: OF_TRANSPOSED, product: PRODUCT, far: FAR } = PICTURE.scales;
const QUANTITIES = new Map(
  Object.entries(PICTURE.quantities).flatMap(([quantity, names]) => names.map((name) => [name, quantity])),
);

/** @param {string} called what the page calls a tensor @returns {Quantity} */
export const quantityOf = (called) => /** @type {Quantity} */ (QUANTITIES.get(called));

/**
 * Whether it is a gradient, whose frame is the strong one.
 * @param {string} called what the page calls a tensor
 */
export const isGradient = (called) => /(^|_)grad_/.test(called);

/**
 * Whether a number lies beyond the end of its scale, so that its colour does not tell its size.
 * @param {number} value @param {number} end
 */
export const isBeyond = (value, end) => Math.abs(value) > FAR.slack * end; // an end has six digits

/**
 * The number at the ends of each panel's colour scale, by "equation:panel".
 * @param {Equation[]} equations @param {Stages} stages
 * @param {Settings} settings whose scale is one a "quantity", an "equation" or a "panel"
 */
export function endsOf(equations, stages, { scale, transposed }) {
  /**
   * @type {Record<string, string[]>} what is told by the result of the forward pass is
   *   told by another one there
   */
  const of = transposed ? { ...OF, ...OF_TRANSPOSED } : OF;
  /** @type {Map<Tensor, number>} */
  const known = new Map();
  /** @param {Tensor | null | undefined} tensor */
  function end(tensor) {
    if (!tensor) return 0;
    const found = known.get(tensor) ?? endOf(tensor.data);
    known.set(tensor, found);
    return found;
  }
  /** @param {string} name */
  const endNamed = (name) => end(stages[/** @type {ShownName} */ (name)]);
  /**
   * A tensor has one scale wherever it stands. A result's reaches at least as far as a product of its
   * factors' ends: sent back by a single 1, the kernel has its own colours in grad_input, and
   * the patch in grad_weight.
   * @param {ShownName} name
   */
  function ofQuantity(name) {
    const [one, other] = /** @type {Record<string, string[]>} */ (PRODUCT)[name] ?? [];
    const product = one ? Math.min(endNamed(one) * endNamed(other), Number.MAX_VALUE) : 0;
    return Math.max(product, ...of[name].map(endNamed));
  }
  return Object.fromEntries(
    equations.flatMap((equation) => {
      const panels = panelsOf(equation);
      const shared = scale === "equation" ? Math.max(...panels.map(({ tensor }) => end(tensor))) : 0;
      return panels.map(({ name, tensor }) => {
        const own =
          scale === "quantity"
            ? ofQuantity(/** @type {ShownName} */ (name))
            : scale === "panel"
              ? end(tensor)
              : shared;
        return [`${equation.name}:${name}`, Number((own || 1).toPrecision(6))];
      });
    }),
  );
}

/**
 * The largest |finite number| that is not far out: a typed 1e9 must not bleach all the others. Far out are
 * those behind a gap of many times, as long as they are the fewer ones.
 * @param {Float64Array} data
 */
export function endOf(data) {
  let largest = 0;
  for (const value of data) if (Number.isFinite(value)) largest = Math.max(largest, Math.abs(value));
  if (largest < FAR.least) return largest;
  const sizes = data
    .map(Math.abs)
    .filter((size) => size > 0 && size < Infinity)
    .sort();
  let end = largest;
  for (let at = sizes.length - 1; 2 * at > sizes.length && sizes[at] >= FAR.least; at--) {
    if (sizes[at] >= FAR.times * sizes[at - 1]) end = sizes[at - 1];
  }
  return end;
}
