// Which planes of the tensors of a mistake are shown, and where a cell stands in them.
import { flatIndex, rowsOf } from "../rules/shapes_and_indices.js";
import { shownAt } from "../rules/shown_plane.js";

/** @param {Tensor} tensor @param {number} plane */
export function planeRows({ shape, data }, plane) {
  const [height, width] = sizeOf(shape);
  return rowsOf(data.subarray(plane * height * width, (plane + 1) * height * width), width);
}

/** A vector is a row. @param {number[]} shape @returns {Pair} */
export const sizeOf = (shape) => [shape.at(-2) ?? 1, shape.at(-1) ?? 1];

/** @param {Gradient} of @param {Settings} settings */
export const planesOf = (of, { plane, spec }) =>
  shownAt(plane, spec, of === "grad_bias" ? "grad_output" : of, false);

/**
 * At these leading indices or the nearest, with their text.
 * @param {number[]} shape @param {number[]} at @returns {[number, string]}
 */
export function planeIn(shape, at) {
  const leading = shape.slice(0, -2);
  const near = leading.map((count, axis) =>
    Math.max(Math.min(at[axis + 2 - leading.length] ?? 0, count - 1), 0),
  );
  return [flatIndex(leading, near), near.length ? `[${near.join(", ")}]` : ""];
}

/**
 * Returns the flat index of a cell in the plane at these indices, or -1 where it lies outside.
 * @param {number[]} shape @param {number[]} at @param {Point} place
 */
export function indexIn(shape, at, { row, column }) {
  const [height, width] = sizeOf(shape);
  return row < height && column < width ? (planeIn(shape, at)[0] * height + row) * width + column : -1;
}
