// Cells with the same number, or its counterpart, in other panels.
import { sourceOf } from "../rules/taps.js";
import { eachCell } from "../rules/shapes_and_indices.js";
import { effectiveKernel, paddedSize, sourcesOf } from "../rules/conv_geometry.js";

/** A border of copies folds back. @param {{ padding_mode: string }} geometry */
export const foldsBack = ({ padding_mode }) => padding_mode !== "zeros";

/** @param {Geometry} geometry @param {Place} cell @returns {Place[]} */
export function copiesOf(geometry, cell) {
  const { panel, row, column } = cell;
  const [rows, columns] = geometry.kernel_size;
  const turned = { row: rows - 1 - row, column: columns - 1 - column };
  if (panel === "weight") return [{ panel: "rotated_weight", ...turned }];
  if (panel === "rotated_weight") return [{ panel: "weight", ...turned }];
  if (panel === "input") return [paddedCell(geometry, cell)];
  if (panel === "padded_input" && (geometry.transposed || foldsBack(geometry))) {
    const from = sourceCell(geometry, cell);
    if (geometry.transposed) return from ? [{ panel: "input", ...from }] : [];
    return cellsCopying(geometry, from).filter((copy) => copy.row !== row || copy.column !== column);
  }
  return gradientsAt(geometry, outputCell(geometry, cell)).filter((copy) => copy.panel !== panel);
}

/** @param {Geometry} geometry @param {Point | null} at @returns {Place[]} */
function gradientsAt(geometry, at) {
  if (!at) return [];
  const [down, right] = geometry.gradient_padding;
  const row = at.row * geometry.stride[0];
  const column = at.column * geometry.stride[1];
  const padded = [down + row, right + column];
  const isThere = padded.every(
    (place, axis) => place >= 0 && place <= stampedSize(geometry, axis) + effectiveKernel(geometry, axis) - 2,
  );
  return [
    { panel: "grad_output", ...at },
    { panel: "dilated_grad_output", row, column },
    // A negative padding may have cropped the cell away.
    ...(isThere ? [{ panel: "padded_grad_output", row: padded[0], column: padded[1] }] : []),
  ];
}

/** The input, with its border if that has a gradient. @param {Geometry} geometry @param {number} axis */
export const stampedSize = (geometry, axis) =>
  foldsBack(geometry) ? paddedSize(geometry, axis) : geometry.input_size[axis];

/**
 * Returns the cell of grad_output that this one shows, or null for an inserted zero, padding or another panel.
 * @param {Geometry} geometry @param {Place} cell
 */
export function outputCell({ stride, output_size, gradient_padding }, { panel, row, column }) {
  if (panel === "grad_output") return { row, column };
  /** @type {Record<string, Pair>} */
  const offsets = { dilated_grad_output: [0, 0], padded_grad_output: gradient_padding };
  const offset = offsets[panel];
  if (!offset) return null;
  const place = [row, column].map((at, axis) => (at - offset[axis]) / stride[axis]);
  const inside = place.every((at, axis) => Number.isInteger(at) && at >= 0 && at < output_size[axis]);
  return inside ? { row: place[0], column: place[1] } : null;
}

/** @param {Geometry} geometry @param {Point} pixel */
export function paddedCell({ padding }, { row, column }) {
  return { panel: "padded_input", row: row + padding[0][0], column: column + padding[1][0] };
}

/**
 * Returns the input cell that a cell of padded_input copies, or null for a padding zero.
 * @param {Geometry} geometry @param {Point} cell
 */
export function sourceCell({ padding, input_size, padding_mode }, cell) {
  const [row, column] = [cell.row, cell.column].map((place, axis) =>
    sourceOf(place - padding[axis][0], input_size[axis], padding_mode),
  );
  return row === null || column === null ? null : { row, column };
}

/** The cells that copy the same input cell, itself included. @param {Geometry} geometry @param {Point | null} from */
export function cellsCopying(geometry, from, panel = "padded_input") {
  if (!from) return [];
  const [rows, columns] = [from.row, from.column].map((place, axis) =>
    sourcesOf(geometry, axis).flatMap((source, at) => (source === place ? [at] : [])),
  );
  return rows.flatMap((row) => columns.map((column) => ({ panel, row, column })));
}

/**
 * Output, target and gradient correspond.
 * @param {Geometry} geometry @param {Place[]} cells @returns {Place[]}
 */
export function pairsOf({ transposed }, cells) {
  const layer = transposed ? ["grad_input", "target", "input"] : ["output", "target", "grad_output"];
  const here = cells.find(({ panel }) => layer.includes(panel));
  return here ? layer.filter((panel) => panel !== here.panel).map((panel) => ({ ...here, panel })) : [];
}

/**
 * The bias and all outputs of its channel; its gradient and theirs.
 * @param {Geometry} geometry @param {Place} cell @returns {Place[]}
 */
export function sumsOverAll(geometry, cell) {
  const { transposed, plane } = geometry;
  const channel = transposed ? plane.c : plane.o;
  const [rows, columns] = transposed ? geometry.input_size : geometry.output_size;
  // A transposed layer's output is called grad_input.
  const [result, gradient] = transposed ? ["grad_input", "input"] : ["output", "grad_output"];
  const summed = { bias: result, grad_bias: gradient }[cell.panel];
  if (summed && cell.column === channel)
    return eachCell(rows, columns, (row, column) => ({ panel: summed, row, column }));
  if (cell.panel === result) return [{ panel: "bias", row: 0, column: channel }];
  const isGradient = transposed
    ? cell.panel === "input" || (cell.panel === "padded_input" && sourceCell(geometry, cell))
    : outputCell(geometry, cell);
  return isGradient ? [{ panel: "grad_bias", row: 0, column: channel }] : [];
}
