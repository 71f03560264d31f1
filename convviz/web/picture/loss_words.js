// @ts-check
// How a cell of grad_output follows from the loss, where the loss is given a target.
import SETTINGS from "../../facts/settings.json" with { type: "json" };
import { formatNumber } from "../base/format.js";
import { say, sayIfThere } from "./say.js";

/**
 * @import { Cell } from "./links.js"
 * @typedef {{ gradient: Cell, difference: Cell[], words: string }} FromLoss words: how grad_output is made;
 *   difference: the two cells, where it is one of them without the other, else none
 */

/**
 * What the loss makes of output and target at one place; null for a cell of no such panel, and
 * where there is no target.
 * @param {string} loss @param {{ transposed: boolean, batch: number }} geometry @param {Cell} cell
 * @param {(panel: string, row: number, column: number) => number | undefined} valueOf of a
 *   cell of the shown planes
 * @returns {FromLoss | null}
 */
export function fromLoss(loss, { transposed, batch }, cell, valueOf) {
  const [output, gradient] = transposed ? ["grad_input", "input"] : ["output", "grad_output"];
  const { panel, row, column } = cell;
  const target = valueOf("target", row, column);
  if (target === undefined || (panel !== "target" && panel !== gradient)) return null;
  const there = { gradient: { ...cell, panel: gradient }, difference: /** @type {Cell[]} */ ([]), words: "" };
  if (SETTINGS.losses_of_a_difference.includes(loss)) {
    return {
      ...there,
      words: say("cell.difference"),
      difference: [output, "target"].map((name) => ({ ...cell, panel: name })),
    };
  }
  const value = Number(valueOf(gradient, row, column));
  // Where the target is not 0, grad_output has rounded away what is left of a small share:
  // float32 keeps six digits.
  const share = target ? Math.round(1e6 * (value * batch + target)) / 1e6 : value * batch;
  const numbers = { share, target, gradient: value };
  const written = Object.fromEntries(
    Object.entries(numbers).map(([name, number]) => [name, formatNumber(number)]),
  );
  return { ...there, words: sayIfThere(`cell.target.${loss}`, { count: batch, row, column, ...written }) };
}
