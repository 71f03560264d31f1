// An equation's steps: places of window or stamp, and when cells are complete.
import PICTURE from "../../facts/data/picture.json" with { type: "json" };
import { bothAxes, sourcesOf } from "../rules/conv_geometry.js";
import { foldsBack, stampedSize } from "./cell_copies.js";

/**
 * `unit`: a step's name; `over`: the panel of steps; `result`: fills in; `image`: where the window or stamp
 * moves.
 * @typedef {{ unit: string, over: string, result: string, image: string, size: Pair }} Walk
 */

/** @typedef {"output_size" | "kernel_size" | "stride" | "dilation"} PairName */
/** @param {string} name @param {string} view with both readings, steps are stamps */
const factsOf = (name, view) =>
  PICTURE.walks[/** @type {"input"} */ (name === "input" && view !== "window" ? "stamps" : name)];

/** @param {Geometry} geometry @param {string} name @param {string} view */
export function windowWalk(geometry, name, view) {
  const { unit, over, result, image, size } = factsOf(name, view);
  const [filled, from, on] = [over, result, image].map((panel) =>
    panel === "grad_input" && foldsBack(geometry) ? "grad_padded_input" : panel,
  );
  const sizes =
    size === "input_size"
      ? [stampedSize(geometry, 0), stampedSize(geometry, 1)]
      : geometry[/** @type {PairName} */ (size)];
  return { unit, over: filled, result: from, image: on, size: /** @type {Pair} */ (sizes) };
}

/**
 * A stamp may reach over the edge.
 * @param {Geometry} geometry @param {string} name @param {string} view @param {number[]} cell
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
 * It waits for its last copy.
 * @param {Geometry} geometry @returns {(row: number, column: number) => number}
 */
export function completedAt(geometry) {
  const [rows, columns] = [sourcesOf(geometry, 0), sourcesOf(geometry, 1)];
  return (row, column) => rows.lastIndexOf(row) * columns.length + columns.lastIndexOf(column);
}
