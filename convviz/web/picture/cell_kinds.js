// Letters for cells, as in views/cell_kinds.py: d data, p padding, c copies, i inserted zero, r remainder.
import {
  backwardPadding,
  bothAxes,
  outputSize,
  remainderOf,
  unfolded,
  unreadLines,
} from "../rules/conv_geometry.js";

/**
 * @typedef {{ rows: string, columns: string, unread_rows: number[], unread_columns: number[] }} Roles
 */

/** @param {Spec} spec @param {string} name @param {number[]} size @returns {Roles} */
export function kindsOf(spec, name, size) {
  const [[rows, unread_rows], [columns, unread_columns]] = bothAxes((axis) =>
    linesOf(spec, name, axis, size[axis]),
  );
  return { rows, columns, unread_rows, unread_columns };
}

/**
 * @param {Spec} spec @param {string} name @param {number} axis @param {number} size
 * @returns {[string, number[]]}
 */
function linesOf(spec, name, axis, size) {
  if (name === "padded_input" || name === "grad_padded_input") {
    const [before, after] = spec.padding[axis];
    const border = spec.padding_mode === "zeros" ? "p" : "c";
    return [
      border.repeat(before) + "d".repeat(spec.input_size[axis]) + border.repeat(after),
      unreadLines(unfolded(spec), axis),
    ];
  }
  if (name === "padded_grad_output") return [padded(spec, axis), []];
  if (name === "dilated_grad_output") return [dilated(spec, axis), []];
  return ["d".repeat(size), name === "input" || name === "grad_input" ? unreadLines(spec, axis) : []];
}

/** @param {Spec} spec @param {number} axis */
const dilated = (spec, axis) =>
  Array(outputSize(spec, axis))
    .fill("d")
    .join("i".repeat(spec.stride[axis] - 1));

/** @param {Spec} spec @param {number} axis */
function padded(spec, axis) {
  const [before, after] = backwardPadding(spec, axis);
  const own = after - remainderOf(spec, axis); // padding without a remainder
  const [room, kept] = [Math.max(after, 0), Math.max(own, 0)];
  const text = "p".repeat(Math.max(before, 0)) + dilated(spec, axis);
  // The remainder is outermost; a crop takes it first.
  const whole = text + "p".repeat(Math.min(kept, room)) + "r".repeat(Math.max(room - kept, 0));
  return whole.slice(Math.max(-before, 0), whole.length - Math.max(-after, 0));
}
