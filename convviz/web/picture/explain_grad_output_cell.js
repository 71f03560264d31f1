// A cell of grad_output, from a loss with a target.
import SETTINGS from "../../facts/data/settings.json" with { type: "json" };
import { formatNumber } from "../base/format.js";
import { say, sayIfThere } from "./sentences.js";

/**
 * @typedef {{ gradient: Place, difference: Place[], words: string }} FromLoss difference: its two cells, if
 *   it is one
 */

/**
 * Returns null for another panel, and where there is no target.
 * @param {string} loss @param {{ transposed: boolean, batch: number }} geometry @param {Place} cell
 * @param {(panel: string, row: number, column: number) => number | undefined} valueOf @returns {FromLoss | null}
 */
export function explainCell(loss, { transposed, batch }, cell, valueOf) {
  const [output, gradient] = transposed ? ["grad_input", "input"] : ["output", "grad_output"];
  const { panel, row, column } = cell;
  const target = valueOf("target", row, column);
  if (target === undefined || (panel !== "target" && panel !== gradient)) return null;
  const there = {
    gradient: { ...cell, panel: gradient },
    difference: /** @type {Place[]} */ ([]),
    words: "",
  };
  if (SETTINGS.losses_of_a_difference.includes(loss)) {
    return {
      ...there,
      words: say("cell.difference"),
      difference: [output, "target"].map((name) => ({ ...cell, panel: name })),
    };
  }
  const value = Number(valueOf(gradient, row, column));
  // Rounded: float32 keeps six digits.
  const share = target ? Math.round(1e6 * (value * batch + target)) / 1e6 : value * batch;
  const numbers = { share, target, gradient: value };
  const written = Object.fromEntries(
    Object.entries(numbers).map(([name, number]) => [name, formatNumber(number)]),
  );
  const id = `cell.target.${loss}${written.share === "0" ? ".no_share" : ""}`;
  return { ...there, words: sayIfThere(id, { count: batch, row, column, ...written }) };
}
