// Whether pasted numbers are those of a tensor: as they were printed, in the shapes that mean the same.
import { countOf, flatIndex, indicesAt, largestOf, upTo } from "../../web/rules/shapes_and_indices.js";

/**
 * @import { Pasted } from "./read_numbers.js"
 * @typedef {Pick<Pasted, "data" | "half">} Reading in the order of a shape
 */

const ROUNDED = 2e-6; // of the largest number: sums in float32
const ROUNDED_PRODUCT = 3e-7; // of the largest product: what they lose where it cancels out
/**
 * Returns the distance within which a number counts as right.
 * @param {Tensor} right @param {number} product the largest one
 */
export const closeTo = (right, product) =>
  Math.max(ROUNDED * largestOf(right.data), ROUNDED_PRODUCT * product);

/** @param {number[]} shape */
const plain = (shape) => shape.filter((size) => size !== 1);

/** Whether neighbouring axes taken together make `merged`. @param {number[]} merged @param {number[]} shape */
export function isMerged(merged, shape) {
  const left = plain(shape);
  if (countOf(merged) !== countOf(shape)) return false;
  if (!countOf(shape)) return true;
  return plain(merged).every((size) => {
    let product = 1;
    while (product < size && left.length) product *= /** @type {number} */ (left.shift());
    return product === size;
  });
}

/**
 * The places in a tensor with other axes of each cell: axes[k] of `shape` is the k-th.
 * @param {number[]} shape @param {number[]} axes
 */
export function placesIn(shape, axes) {
  const turned = axes.map((axis) => shape[axis]);
  return upTo(countOf(shape)).map((index) => {
    const at = indicesAt(turned, index);
    return flatIndex(
      shape,
      shape.map((_, axis) => at[axes.indexOf(axis)]),
    );
  });
}

/** Those that fit the shape, the likeliest first. @param {Pasted} pasted @param {number[]} shape @returns {Reading[]} */
export function readingsAs(pasted, shape) {
  const own = isMerged(pasted.shape, shape) ? [{ data: pasted.data, half: pasted.half }] : [];
  if (!pasted.columnMajor || shape.length < 3) return own;
  // MATLAB's and Julia's order: rows, columns, channels, samples
  const count = shape.length;
  const rowsFirst = [count - 2, count - 1, ...upTo(count - 2).reverse()];
  const wanted = rowsFirst.map((axis) => shape[axis]);
  const length = Math.max(count, pasted.shape.length);
  const padded = (/** @type {number[]} */ sizes) => String(upTo(length).map((axis) => sizes[axis] ?? 1));
  if (padded(wanted) !== padded(pasted.shape)) return own;
  const places = placesIn(shape, rowsFirst);
  const inOrder = (/** @type {Float64Array} */ values) => {
    const made = new Float64Array(values.length);
    places.forEach((place, index) => (made[place] = values[index]));
    return made;
  };
  return [{ data: inOrder(pasted.data), half: inOrder(pasted.half) }, ...own];
}

/** @param {Reading} reading @param {number} index @param {number} value @param {number} close */
export const isCell = ({ data, half }, index, value, close) =>
  Math.abs(data[index] - value) <= half[index] + close;

/** @param {Reading} reading @param {ArrayLike<number>} values @param {number} close */
export function isSame(reading, values, close) {
  if (reading.data.length !== values.length) return false;
  for (let index = 0; index < values.length; index++)
    if (!isCell(reading, index, values[index], close)) return false;
  return true;
}

/** @param {Pasted} pasted @param {Tensor} tensor @param {number} close */
export const isTensor = (pasted, { shape, data }, close) =>
  readingsAs(pasted, shape).some((reading) => isSame(reading, data, close));
