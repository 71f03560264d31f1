// Colours: name, frame and fill have the variable's hue, its gradient the same. A fill's strength is a number's
// size up to the scale's end; a negative one is gold.
import PICTURE from "../../facts/data/picture.json" with { type: "json" };
import { panelsOf } from "./panels.js";

/**
 * @import { ShownName } from "./panels.js"
 * @typedef {keyof typeof PICTURE.quantities} Quantity
 * @typedef {Record<Quantity | "other", Scale>} Hues other: of what is no variable
 * @typedef {(quantity: Quantity | "other") => Scale} ScaleOf in the present theme
 */

const { of: OF, of_transposed: OF_TRANSPOSED, product: PRODUCT, far: FAR } = PICTURE.scales;
const QUANTITIES = new Map(
  Object.entries(PICTURE.quantities).flatMap(([quantity, names]) => names.map((name) => [name, quantity])),
);

/** @param {string} called */
export const quantityOf = (called) => /** @type {Quantity} */ (QUANTITIES.get(called));

/** @param {string} called */
export const isGradient = (called) => /(^|_)grad_/.test(called);

/** Its colour no longer shows its size. @param {number} value @param {number} end */
export const isBeyond = (value, end) => Math.abs(value) > FAR.slack * end; // an end has six digits

/**
 * Returns where the colour scale of each panel ends, by "equation:panel".
 * @param {Equation[]} equations @param {Stages} stages @param {Settings} settings
 */
export function scaleEnds(equations, stages, { scale, transposed }) {
  /** @type {Record<string, string[]>} */
  const of = transposed ? { ...OF, ...OF_TRANSPOSED } : OF;
  /** @type {Map<Tensor, number>} */
  const known = new Map();
  /** @param {Tensor | null | undefined} tensor */
  function end(tensor) {
    if (!tensor) return 0;
    const found = known.get(tensor) ?? scaleEnd(tensor.data);
    known.set(tensor, found);
    return found;
  }
  /** @param {string} name */
  const endNamed = (name) => end(stages[/** @type {ShownName} */ (name)]);
  /**
   * One scale a tensor. A result's reaches the product of its factors' ends, so that a single 1 shows the
   * kernel in its own strengths.
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
 * The largest finite size that is not far out (behind a gap, among the fewer): a typed 1e9 must not bleach
 * all others.
 * @param {Float64Array} data
 */
export function scaleEnd(data) {
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
