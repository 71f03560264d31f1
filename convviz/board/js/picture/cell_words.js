// @ts-check
// What a cell that is no sum has to do with the gradients: why its gradient adds up what it does.
import { formatNumber } from "../base/format.js";
import { say } from "./say.js";

/**
 * @import { Cell, createLinks } from "./links.js"
 * @typedef {ReturnType<typeof createLinks>} Links
 */

/**
 * Say what a cell does in the backward pass; empty where there is nothing more to say.
 * @param {Links} links @param {Cell} cell
 * @param {(panel: string, row: number, column: number) => number | undefined} valueOf of a cell of the shown planes
 */
export function backwardWords(links, cell, valueOf) {
  if (cell.panel === "padded_input") return inputWords(links, cell, valueOf);
  if (cell.panel === "weight") return weightWords(links, cell);
  if (cell.panel === "grad_output") return say("cell.grad_output", { value: formatNumber(valueOf("grad_output", cell.row, cell.column) ?? 0) });
  if (cell.panel === "rotated_weight") {
    const from = links.copyIn("weight", cell);
    return from ? say("cell.rotated_weight", { row: from.row, column: from.column }) : "";
  }
  if (cell.panel !== "padded_grad_output" && cell.panel !== "dilated_grad_output") return "";
  const from = links.copyIn("grad_output", cell);
  return from ? say("cell.copied_gradient", { row: from.row, column: from.column }) : say("cell.no_window");
}

/** @param {Links} links @param {Cell} cell @param {Parameters<typeof backwardWords>[2]} valueOf */
function inputWords(links, cell, valueOf) {
  const windows = links.users(cell);
  if (!windows.length) return say("cell.unread");
  const asked = windows.filter(({ row, column }) => valueOf("grad_output", row, column)).length;
  const read = say("cell.windows", { count: windows.length });
  return asked === windows.length ? read : `${read} ${say("cell.asked", { count: asked })}`;
}

/** @param {Links} links @param {Cell} cell */
function weightWords(links, cell) {
  const count = links.users(cell).length;
  return count ? say("cell.products", { count }) : say("cell.unread_weight");
}
