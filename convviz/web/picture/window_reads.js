// What the window of an output reads, wherever it is read: forward, and to the weight; and that of a pixel.
import { outputCell, paddedCell, sourceCell } from "./cell_copies.js";
import { rulesOf } from "./index_triples.js";

/**
 * @import { Part, Rule } from "./index_triples.js"
 * @typedef {{ panel: string, rows: number[], columns: number[] }} Reads its rows × columns, with zeros of
 *   padding and stride; with a dilation they are no neighbours
 */

/**
 * A transposed layer reads its output's gradient by the rotated kernel's window, and to the weight by the
 * cells that its pixel meets.
 * @param {Geometry} geometry @param {Point} at of the output @returns {Reads[]}
 */
export function readsOf(geometry, at) {
  const [forward, toInput, toWeight] = rulesOf(geometry);
  if (!geometry.transposed) return [linesOf(forward, "result", at, "image")];
  return [
    linesOf(toInput, "result", at, "image"),
    linesOf(toWeight, "image", paddedCell(geometry, at), "kernel"),
  ];
}

/**
 * What the rotated kernel's window reads for a pixel, and the weight that meets the single 1 in it; with copies
 * in the border it is several windows: none.
 * @param {Geometry} geometry @param {Point} pixel @param {Point} one in grad_output @returns {Reads[]}
 */
export function collectedBy(geometry, pixel, one) {
  const [, toInput] = rulesOf(geometry);
  if (toInput.result !== "grad_input") return [];
  const read = linesOf(toInput, "result", pixel, "image");
  const { gradient_padding: padding, stride } = geometry;
  const met = [one.row, one.column].map((own, axis) => padding[axis] + own * stride[axis]);
  const [row, column] = [read.rows, read.columns].map((places, axis) => places.indexOf(met[axis]));
  return row < 0 || column < 0 ? [read] : [read, { panel: toInput.kernel, rows: [row], columns: [column] }];
}

/** @param {Rule} rule @param {Part} from @param {Point} at @param {Part} to @returns {Reads} */
function linesOf(rule, from, { row, column }, to) {
  const [rows, columns] = [row, column].map((own, axis) =>
    rule.axes[axis].flatMap((triple) => (triple[from] === own ? [triple[to]] : [])),
  );
  return { panel: rule[to], rows, columns };
}

/**
 * The output whose window it is; inserted zeros, padding and other tensors have none.
 * @param {Geometry} geometry @param {Place} cell @returns {Point | null}
 */
export function outputBehind(geometry, cell) {
  const { transposed } = geometry;
  const [panel, at] = [cell.panel, { row: cell.row, column: cell.column }];
  if ((transposed ? ["grad_input", "target", "input"] : ["output", "target"]).includes(panel)) return at;
  if (!transposed) return outputCell(geometry, cell);
  return panel === "padded_input" ? sourceCell(geometry, cell) : null;
}
