// @ts-check
// Every mistake of the catalogue at one setting: what it computes of the numbers on the board, and
// whether one would notice.
import { rightProducts } from "../rules/products.js";
import { apartBy, comparedAt, productsBy, summed } from "./mistaken.js";

/**
 * @import { Products } from "../rules/products.js"
 * @import { Gradient, Recipe } from "../rules/recipes.js"
 * @import { Tensor } from "../rules/settings.js"
 * @import { Spec } from "../rules/spec.js"
 * @import { Given } from "./mistaken.js"
 * @typedef {{ products: Products, tensor: Tensor }} Computed
 * @typedef {{ kind: "wrong", cells: number, all: number, most: number } | { kind: "shape", wrong: number[],
 *   right: number[] } | { kind: "crash" } | { kind: "same" }} Verdict
 */

/**
 * Make what answers about the mistakes at one setting; each gradient is computed once.
 * @param {Spec} spec @param {Given} given the numbers on the board
 */
export function createGallery(spec, given) {
  /** @type {Map<string, Computed | null>} */
  const known = new Map();

  /** @param {Gradient} of @param {string} key @param {() => Products | null} make */
  function once(of, key, make) {
    if (!known.has(key)) {
      const products = make();
      known.set(key, products && { products, tensor: summed(of, products, given) });
    }
    return known.get(key) ?? null;
  }

  /** @param {Gradient} of */
  const right = (of) => /** @type {Computed} */ (once(of, of, () => rightProducts(of, spec)));
  /**
   * What a way of a mistake computes; null where it cannot be computed at all.
   * @param {Gradient} of @param {Recipe} way
   */
  const wrong = (of, way) => once(of, of + JSON.stringify(way), () => productsBy(of, way, spec));

  /** Whether one would notice, and what. @param {Gradient} of @param {Recipe} way @returns {Verdict} */
  function verdict(of, way) {
    const [ours, theirs] = [right(of), wrong(of, way)];
    if (!theirs) return { kind: "crash" };
    const [shape, shapeOfWrong] = [ours.tensor.shape, theirs.tensor.shape];
    if (String(shape) !== String(shapeOfWrong)) return { kind: "shape", wrong: shapeOfWrong, right: shape };
    const { cells, most } = apartBy(ours.tensor, theirs.tensor);
    return cells ? { kind: "wrong", cells, all: ours.tensor.data.length, most } : { kind: "same" };
  }

  return {
    right,
    wrong,
    verdict,
    /**
     * The products of one number in both.
     * @param {Gradient} of @param {Recipe} way @param {number} index in the right one
     * @param {number} at in the wrong one
     * @returns {import("./mistaken.js").Compared}
     */
    compared: (of, way, index, at) =>
      comparedAt(of, right(of).products, wrong(of, way)?.products ?? right(of).products, given, index, at),
  };
}
