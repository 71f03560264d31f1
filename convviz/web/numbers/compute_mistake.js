// What a mistake computes, and what is right, from a recipe's products.
import { rightProducts } from "../rules/products.js";
import { inputProducts } from "../rules/grad_input_by_recipe.js";
import { outputProducts } from "../rules/output_by_recipe.js";
import { biasBy, weightProducts } from "../rules/grad_weight_by_recipe.js";
import { completeRecipe } from "../rules/recipe_steps.js";
import { zeros } from "./compute.js";
import { largestOf } from "../rules/shapes_and_indices.js";

/**
 * @import { Result } from "../rules/recipe_steps.js"
 * @typedef {{ grad_output: Tensor, weight: Tensor, input: Tensor, bias?: Tensor | null }} Given
 * @typedef {{ grad: Pair, other: Pair, factors: number[], value: number }} Product [plane, cell] of each
 *   factor; value: before the result's factor
 */

/**
 * Multiplied with grad_output; for output, with the weight.
 * @type {Record<Result, "weight" | "input" | null>}
 */
export const FACTOR = { grad_input: "weight", grad_weight: "input", grad_bias: null, output: "input" };

/**
 * Lists the products that a recipe sums, or returns null where the recipe is impossible.
 * @param {Result} of @param {Recipe} recipe @param {Spec} spec
 */
export function mistakenProducts(of, recipe, spec) {
  const chosen = completeRecipe(of, recipe);
  if (of === "output") return outputProducts(chosen, spec);
  if (of === "grad_input") return inputProducts(chosen, spec);
  return of === "grad_weight" ? weightProducts(chosen, spec) : biasBy(chosen, spec);
}

/** @param {Gradient} of @param {Products} products @param {Given} given @returns {Tensor} */
export function summed(of, { shape, size, planes, cells, factor }, given) {
  const result = zeros(shape);
  const { grad, other, gradSize, otherSize } = operands(of, given);
  for (const plane of planes) {
    const [to, from, by] = [plane.result * size, plane.grad * gradSize, plane.other * otherSize];
    for (const cell of cells)
      result.data[to + cell.result] += grad[from + cell.grad] * (other ? other[by + cell.other] : 1);
  }
  if (factor !== 1) result.data.forEach((value, index) => (result.data[index] = value * factor));
  return result;
}

/**
 * Computes a mistaken gradient, whatever its shape, or returns null where the recipe is impossible.
 * @param {Gradient} of @param {Recipe} recipe @param {Spec} spec @param {Given} given
 */
export function mistakenGradient(of, recipe, spec, given) {
  const products = mistakenProducts(of, recipe, spec);
  return products && summed(of, products, given);
}

/** @param {Gradient} of @param {Spec} spec @param {Given} given */
export const gradientRight = (of, spec, given) => summed(of, rightProducts(of, spec), given);

/** @param {Result} of @param {Given} given */
function operands(of, given) {
  const name = FACTOR[of];
  const other = name ? given[name] : null;
  const first = of === "output" ? given.weight : given.grad_output;
  const sizeOf = (/** @type {Tensor} */ { shape }) => shape[2] * shape[3];
  return {
    grad: first.data,
    other: other?.data ?? null,
    gradSize: sizeOf(first),
    otherSize: other ? sizeOf(other) : 1,
  };
}

/**
 * @param {Result} of @param {Products} products @param {Given} given @param {number} index
 * @returns {Product[]}
 */
export function productsOf(of, { size, planes, cells }, given, index) {
  const { grad, other, gradSize, otherSize } = operands(of, given);
  const [plane, cell] = [Math.floor(index / size), index % size];
  const here = cells.filter(({ result }) => result === cell);
  return planes
    .filter(({ result }) => result === plane)
    .flatMap((each) =>
      here.map((tap) => {
        const first = grad[each.grad * gradSize + tap.grad];
        const factors = other ? [first, other[each.other * otherSize + tap.other]] : [first];
        return {
          grad: /** @type {Pair} */ ([each.grad, tap.grad]),
          other: /** @type {Pair} */ ([each.other, tap.other]),
          factors,
          value: factors.reduce((product, factor) => product * factor, 1),
        };
      }),
    );
}

/** @param {Result} of @param {Products} products @param {Given} given @param {number} index */
export function mistakenNumber(of, products, given, index) {
  const sum = productsOf(of, products, given, index).reduce((total, { value }) => total + value, 0);
  const channel = Math.floor(index / products.size) % products.shape[1];
  return sum * products.factor + (products.bias ? products.bias * (given.bias?.data[channel] ?? 0) : 0);
}

/**
 * Summed in another order, they differ by rounding.
 * @param {number} one @param {number} other @param {number} most the largest of the gradient
 */
export const isNear = (one, other, most) =>
  one === other || Math.abs(one - other) <= 1e-9 * Math.max(most, 1);

/** @param {Tensor} right @param {Tensor} wrong */
export function differing(right, wrong) {
  const most = largestOf(right.data);
  return Array.from(right.data, (value, index) => !isNear(value, wrong.data[index], most));
}

/** The largest distance, and in how many cells. @param {Tensor} right @param {Tensor} wrong */
export function apartBy(right, wrong) {
  const cells = differing(right, wrong).filter(Boolean).length;
  const far = right.data.map((value, index) => Math.abs(value - wrong.data[index]));
  return { cells, most: cells ? Math.max(...far) : 0 };
}
