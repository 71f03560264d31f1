// A wrong sign moves a sum by twice its product, as two other slips often do: only what they cannot explain
// proves it.
import { typedAgrees } from "./typed_number.js";
import { upTo } from "../rules/shapes_and_indices.js";

const MAX_PRODUCTS = 200; // products: of more, some pair always fits
/** Of two products, each missing (−1) or added twice (1). */
const SLIPS = [
  [-1, -1],
  [-1, 1],
  [1, -1],
  [1, 1],
];

/**
 * Whether one product alone fits, and no two that are missing or added twice.
 * @param {number[]} products @param {number} right their sum @param {number} typed
 */
export function provesSign(products, right, typed) {
  if (products.length > MAX_PRODUCTS) return false;
  const flipped = products.filter((product) => typedAgrees(typed, right - 2 * product));
  const pairs = products.flatMap((one, at) => upTo(at).map((other) => [one, products[other]]));
  const isOther = (/** @type {number[]} */ [one, other]) =>
    SLIPS.some(([first, second]) => typedAgrees(typed, right + first * one + second * other));
  return flipped.length === 1 && !pairs.some(isOther);
}
