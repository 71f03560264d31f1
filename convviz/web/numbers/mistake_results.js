// The catalogue's mistakes at one setting: results and verdicts.
import { rightProducts } from "../rules/products.js";
import { apartBy, mistakenProducts, productsOf, summed } from "./compute_mistake.js";

/**
 * @import { Given, Product } from "./compute_mistake.js"
 * @typedef {{ kept: Product[], missing: Product[], extra: Product[] }} Compared
 * @typedef {{ products: Products, tensor: Tensor }} Computed
 * @typedef {{ kind: "wrong", cells: number, all: number, most: number } | { kind: "shape", wrong: number[],
 *   right: number[] } | { kind: "crash" } | { kind: "same" }} Verdict
 */

/** Computes what mistakes give, each gradient once. */
export class MistakeResults {
  /** @type {Map<string, Computed | null>} */
  #known = new Map();
  /** @param {Gradient} of */
  right = (of) => /** @type {Computed} */ (this.#once(of, of, () => rightProducts(of, this.#spec)));
  /**
   * Computes a mistaken result, or returns null where its recipe is impossible.
   * @param {Gradient} of @param {Recipe} way
   */
  wrong = (of, way) => this.#once(of, of + JSON.stringify(way), () => mistakenProducts(of, way, this.#spec));
  #spec;
  #given;

  /** @param {Spec} spec @param {Given} given */
  constructor(spec, given) {
    this.#spec = spec;
    this.#given = given;
  }

  /** @param {Gradient} of @param {string} key @param {() => Products | null} make */
  #once(of, key, make) {
    if (!this.#known.has(key)) {
      const products = make();
      this.#known.set(key, products && { products, tensor: summed(of, products, this.#given) });
    }
    return this.#known.get(key) ?? null;
  }

  /** @param {Gradient} of @param {Recipe} way @returns {Verdict} */
  verdict(of, way) {
    const [ours, theirs] = [this.right(of), this.wrong(of, way)];
    if (!theirs) return { kind: "crash" };
    const [shape, shapeOfWrong] = [ours.tensor.shape, theirs.tensor.shape];
    if (String(shape) !== String(shapeOfWrong)) return { kind: "shape", wrong: shapeOfWrong, right: shape };
    const { cells, most } = apartBy(ours.tensor, theirs.tensor);
    return cells ? { kind: "wrong", cells, all: ours.tensor.data.length, most } : { kind: "same" };
  }

  /**
   * Common, missing and extra products.
   * @param {Gradient} of @param {Recipe} way @param {number} index of a number @param {number} at in the
   *   wrong one, -1: none
   * @returns {Compared}
   */
  compared(of, way, index, at) {
    const right = this.right(of);
    const [ours, theirs] = [
      index < 0 ? [] : productsOf(of, right.products, this.#given, index),
      at < 0 ? [] : productsOf(of, (this.wrong(of, way) ?? right).products, this.#given, at),
    ];
    const key = (/** @type {Product} */ { grad, other }) => `${grad} ${other}`;
    const [known, found] = [new Set(ours.map(key)), new Set(theirs.map(key))];
    return {
      kept: ours.filter((each) => found.has(key(each))),
      missing: ours.filter((each) => !found.has(key(each))),
      extra: theirs.filter((each) => !known.has(key(each))),
    };
  }
}
