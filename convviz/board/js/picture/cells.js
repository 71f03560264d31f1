// @ts-check
// What the cells of each panel are, as views/cells.py says it: one letter a row and a column. d data, p padding,
// i a zero that the stride inserted, r padding for the remainder.
import { backwardPadding, bothAxes, outputSize, paddedSize, remainderOf, unreadLines } from "../rules/spec.js";

/**
 * @import { Spec } from "../rules/spec.js"
 * @typedef {{ rows: string, columns: string, unread_rows: number[], unread_columns: number[] }} Roles
 */

/** @param {Spec} spec @param {string} name of the stage @param {number[]} size [rows, columns] of the panel @returns {Roles} */
export function rolesOf(spec, name, size) {
  /** @type {number[][]} */
  const none = [[], []];
  if (name === "padded_input" || name === "grad_padded_input") {
    return both((axis) => padded(spec, axis), bothAxes((axis) => unreadPadded(spec, axis)));
  }
  if (name === "padded_grad_output") return both((axis) => paddedGradOutput(spec, axis), none);
  if (name === "dilated_grad_output") return both((axis) => dilated(spec, axis), none);
  /** @param {number} axis */
  const data = (axis) => "d".repeat(size[axis]);
  return both(data, name === "input" || name === "grad_input" ? bothAxes((axis) => unreadLines(spec, axis)) : none);
}

/** @param {(axis: number) => string} letters @param {number[][]} unread @returns {Roles} */
function both(letters, unread) {
  return { rows: letters(0), columns: letters(1), unread_rows: unread[0], unread_columns: unread[1] };
}

/** @param {Spec} spec @param {number} axis */
function padded(spec, axis) {
  const [before, after] = spec.padding[axis];
  return "p".repeat(before) + "d".repeat(spec.input_size[axis]) + "p".repeat(after);
}

/** Lines of the padded input under no window: without padding each of them is a line of the input. @param {Spec} spec @param {number} axis */
function unreadPadded(spec, axis) {
  const size = bothAxes((each) => paddedSize(spec, each));
  return unreadLines({ ...spec, input_size: size, padding: [[0, 0], [0, 0]], padding_mode: "zeros" }, axis);
}

/** @param {Spec} spec @param {number} axis */
function dilated(spec, axis) {
  return Array(outputSize(spec, axis)).fill("d").join("i".repeat(spec.stride[axis] - 1));
}

/** @param {Spec} spec @param {number} axis */
function paddedGradOutput(spec, axis) {
  const [before, after] = backwardPadding(spec, axis);
  const own = after - remainderOf(spec, axis); // what would be padded (or cropped) here without a remainder
  const [room, kept] = [Math.max(after, 0), Math.max(own, 0)];
  const text = "p".repeat(Math.max(before, 0)) + dilated(spec, axis);
  // The remainder is the outermost part of the padding after the data; a crop eats it first.
  const whole = text + "p".repeat(Math.min(kept, room)) + "r".repeat(Math.max(room - kept, 0));
  return whole.slice(Math.max(-before, 0), whole.length - Math.max(-after, 0));
}
