// What a cell that is no sum does in the gradients; counts come from the sum's own list.
import { formatNumber } from "../base/format.js";
import { plainPanel } from "../rules/tensor_display_names.js";
import { inTurn, say } from "./sentences.js";

/** @import { CellProducts, Factor } from "./cell_products.js" */

/**
 * Returns an empty text where there is nothing more to say.
 * @param {Links} links @param {CellProducts} terms @param {Place} cell
 * @param {(panel: string, row: number, column: number) => number | undefined} valueOf
 */
export function roleWords(links, terms, cell, valueOf) {
  const panel = plainPanel(cell.panel, links.geometry.stride);
  if (cell.panel === "padded_input") return inputWords(links, terms, cell);
  if (cell.panel === "weight") return weightWords(links, terms, cell);
  if (panel === "grad_output")
    return gradientWords(links, cell, valueOf("grad_output", cell.row, cell.column));
  if (cell.panel === "rotated_weight") {
    const from = links.copyIn("weight", cell);
    return from ? say("cell.rotated_weight", { row: from.row, column: from.column }) : "";
  }
  if (panel !== "padded_grad_output" && panel !== "dilated_grad_output") return "";
  const from = links.copyIn("grad_output", cell);
  return from ? say("cell.copied_gradient", { row: from.row, column: from.column }) : say("cell.no_window");
}

/**
 * What grad_weight has of one cell of grad_output, whose window is framed.
 * @param {boolean} transposed @param {string} cell as written @param {number} value
 * @param {boolean} isOnly all others are 0
 */
export function weightReason(transposed, cell, value, isOnly) {
  if (transposed) return say("reason.layer", { cell, value: formatNumber(value) });
  return isOnly && value === 1 ? say("reason.one") : say("reason.some", { cell, value: formatNumber(value) });
}

/** @param {Links} links @param {CellProducts} terms @param {Place} cell */
function inputWords(links, terms, cell) {
  const gradient = links.gradientOf(cell);
  if (!gradient) return say("cell.padding");
  const count = links.terms(gradient).length; // of one output channel
  if (!count) return say("cell.unread");
  const products = terms.of(gradient);
  const channels = products.length / count;
  const kind = links.results(gradient).length > 1 ? "copies" : "windows";
  const id = /** @type {const} */ (`cell.${kind}${channels > 1 ? ".channels" : ""}`);
  return inTurn(say(id, { count, channels, terms: products.length }), zeroWords(products));
}

/** @param {Factor[][]} products */
function zeroWords(products) {
  const values = products.map((factors) => factors.reduce((product, { value = NaN }) => product * value, 1));
  const count = values.filter((value) => value !== 0).length;
  if (count === products.length || products.flat().some(({ value }) => value === undefined)) return "";
  return count ? say("cell.not_zero", { count }) : say("cell.all_zero");
}

/** @param {Links} links @param {CellProducts} terms @param {Place} cell */
function weightWords(links, terms, cell) {
  const gradient = { ...cell, panel: "grad_weight" };
  const { batch, output_size } = links.geometry;
  const count = links.terms(gradient).length; // windows of one sample
  if (!count) return say("cell.unread_weight");
  const kind = batch > 1 ? "cell.products.samples" : "cell.products";
  const read = say(kind, { count, samples: batch, terms: terms.of(gradient).length });
  const others = output_size[0] * output_size[1] - count;
  return inTurn(read, others ? say("cell.in_padding", { count: others }) : "");
}

/** @param {Links} links @param {Place} cell @param {number} [value] */
function gradientWords(links, cell, value) {
  const [rows, columns] = links.geometry.kernel_size;
  const count = rows * columns - links.terms({ ...cell, panel: "output" }).length;
  if (count === rows * columns) return say("cell.stamps_nothing");
  return inTurn(
    say("cell.grad_output", { value: formatNumber(value ?? 0) }),
    count ? say("cell.dropped", { count }) : "",
  );
}
