// @ts-check
// The steps of an equation: where the window or the stamp is, and when a cell is complete.
// No message to the kernel.
import PICTURE from "../../facts/picture.json" with { type: "json" };
import { bothAxes, paddedSize, sourcesOf } from "../rules/spec.js";

/** @import { Geometry } from "../rules/spec.js" */

/**
 * `unit`: what a step is called. `over`: the panel whose cells are the steps, in reading order. `result`:
 * where numbers fill in. `image`: the panel on which the window or the stamp moves.
 * @typedef {{ unit: string, over: string, result: string, image: string, size: [number, number] }} Walk
 */

/** Whether the border copies the input, so that its gradient is folded back. @param {Geometry} geometry */
const foldsBack = (geometry) => geometry.padding_mode !== "zeros";

/**
 * Rows or columns of the plane on which stamps fall: the input, with its border where that has a gradient.
 * @param {Geometry} geometry @param {number} axis
 */
const stampedSize = (geometry, axis) =>
  foldsBack(geometry) ? paddedSize(geometry, axis) : geometry.input_size[axis];

/** @typedef {"output_size" | "kernel_size" | "stride" | "dilation"} PairName */
/**
 * @param {string} name of the equation
 * @param {string} view of the equation to the input: with both readings its steps are stamps
 */
const factsOf = (name, view) =>
  PICTURE.walks[/** @type {"input"} */ (name === "input" && view !== "window" ? "stamps" : name)];

/**
 * How one equation is walked through.
 * @param {Geometry} geometry @param {string} name @param {string} view @returns {Walk}
 */
export function walkOf(geometry, name, view) {
  const { unit, over, result, image, size } = factsOf(name, view);
  const [filled, from, on] = [over, result, image].map((panel) =>
    panel === "grad_input" && foldsBack(geometry) ? "grad_padded_input" : panel,
  );
  const sizes =
    size === "input_size"
      ? [stampedSize(geometry, 0), stampedSize(geometry, 1)]
      : geometry[/** @type {PairName} */ (size)];
  return { unit, over: filled, result: from, image: on, size: /** @type {[number, number]} */ (sizes) };
}

/**
 * The rectangle of the image that the window or the stamp of one step spans; a stamp may reach over the edge.
 * @param {Geometry} geometry @param {string} name @param {string} view
 * @param {number[]} cell [row, column] of the step
 */
export function spanOf(geometry, name, view, cell) {
  const { unit, step, spread, cells } = /** @type {Record<string, PairName>} */ (factsOf(name, view));
  const [[row, rows], [column, columns]] = bothAxes((axis) => {
    const before = String(unit) === "stamp" && !foldsBack(geometry) ? geometry.padding[axis][0] : 0;
    return [
      cell[axis] * (geometry[step]?.[axis] ?? 1) - before,
      geometry[spread][axis] * (geometry[cells][axis] - 1) + 1,
    ];
  });
  return { row, column, rows, columns };
}

/**
 * The step that completes each cell of the input's gradient: it waits for the last of the cells that copy it.
 * @param {Geometry} geometry
 * @returns {(row: number, column: number) => number}
 */
export function completedAt(geometry) {
  const [rows, columns] = [sourcesOf(geometry, 0), sourcesOf(geometry, 1)];
  return (row, column) => rows.lastIndexOf(row) * columns.length + columns.lastIndexOf(column);
}
