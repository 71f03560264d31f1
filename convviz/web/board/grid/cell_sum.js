// What is written below the board of a cell: its sum, or its origin.
import { say } from "../../base/board_sentences.js";
import { roleWords } from "../../picture/role_in_gradients_sentences.js";
import { explainCell } from "../../picture/explain_grad_output_cell.js";
import { inTurn } from "../../picture/sentences.js";

/**
 * @import { FromLoss } from "../../picture/explain_grad_output_cell.js"
 * @import { Cells } from "./board_cells.js"
 * @import { Sum } from "./sum_of_products.js"
 */

/** Each number of these panels is a sum. */
export const SUMS = ["output", "grad_input", "grad_padded_input", "grad_weight", "grad_bias"];

/** @param {Sum} sum @param {Cells} cells @param {Place | null} cell */
export function writeCell(sum, cells, cell) {
  if (!cells.has(cell)) return sum.say(say("sum.hint"));
  const { panel, row, column } = cell;
  const shown = /** @type {Panel} */ (cells.panel(panel));
  if (shown.grid.isAsked(row, column)) return sum.say(shown.grid.describe(row, column));
  if (!SUMS.includes(panel)) return writeMade(sum, cells, cell);
  const terms = cells.terms.of(cell);
  if (terms.flat().some((factor) => factor.value === undefined)) return sum.say(say("sum.elsewhere"));
  const nothing = say(panel === "output" || panel === "grad_weight" ? "sum.padding" : "sum.nothing");
  const { label: name, products: factors } = shown.spec();
  const [label, after] = [`${name}[${row},${column}]`, shown.brokenSum(row, column)];
  const value = cells.value(cell);
  sum.show({ cell, label, factors, value, terms, nothing, after }, cells.colorIn);
}

/** Of no sum of products. @param {Sum} sum @param {Cells} cells @param {Place} cell */
function writeMade(sum, cells, cell) {
  const { links, terms, loss } = cells;
  const valueAt = (panel, row, column) => cells.value({ panel, row, column });
  const role = links.geometry.transposed ? "" : roleWords(links, terms, cell, valueAt);
  const made = explainCell(loss, links.geometry, cell, valueAt);
  if (made?.difference.length) return writeDifference(sum, cells, cell, made, role);
  const what = /** @type {Panel} */ (cells.panel(cell.panel)).grid.describe(cell.row, cell.column);
  const how = inTurn(made?.words ?? "", role);
  sum.say(say("cell.more", { cell: what, more: how || say("sum.none") }));
}

/**
 * grad_output as the loss makes it.
 * @param {Sum} sum @param {Cells} cells @param {Place} cell @param {FromLoss} made @param {string} after
 */
function writeDifference(sum, cells, cell, { gradient, difference, words: factors }, after) {
  const panel = /** @type {Panel} */ (cells.panel(gradient.panel));
  const label = `${panel.spec().label}[${gradient.row},${gradient.column}]`;
  const terms = difference.map((each) => [{ ...each, value: cells.value(each), shown: true }]);
  const value = /** @type {number} */ (cells.value(gradient));
  sum.show({ cell, label, factors, value, terms, minus: true, after }, cells.colorIn);
}
