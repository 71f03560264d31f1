// What a step covers, because it is not computed yet, and what it frames: window or stamp, and cells in use.
import { completedAt, spanOf } from "../../picture/window_positions.js";

/**
 * @import { Step } from "./step_animation.js"
 * @import { Span } from "./step_overlay.js"
 * @typedef {(row: number, column: number) => boolean} Covers
 * @typedef {{ name: string, view: string }} Reading of a band
 */

const ONE = { rows: 1, columns: 1 };

/**
 * @param {Iterable<Panel>} panels @param {Step} step @param {Reading} reading @param {number} position
 * @param {boolean} lacking the stamps' sum is not known
 */
export function veilPanels(panels, step, reading, position, lacking) {
  const covers = coversOf(step, position, lacking);
  const frames = framesOf(step, reading);
  const cells = cellsOf(step);
  for (const panel of panels) {
    const { name, rows, columns } = panel.spec();
    panel.veil.cover(covers[name] ?? null, rows.length, columns.length);
    panel.veil.frame(frames[name] ?? null, cells[name] ?? null);
  }
}

/**
 * By panel. Stamps cover all or nothing, and a folded cell waits for its last copy.
 * @param {Step} step @param {number} position @param {boolean} lacking
 * @returns {Record<string, Covers | null>}
 */
function coversOf({ geometry, walk: { result, size, unit } }, position, lacking) {
  if (unit === "stamp") return { grad_input: () => lacking, [result]: () => lacking };
  const complete = result === "grad_padded_input" ? completedAt(geometry) : null;
  return {
    grad_input: complete && ((down, right) => complete(down, right) > position),
    [result]: (down, right) => down * size[1] + right > position,
  };
}

/** @param {Step} step @param {Reading} reading @returns {Record<string, Span>} */
function framesOf({ geometry, walk: { image }, row, column, both }, { name, view }) {
  const frames = { [image]: spanOf(geometry, name, view, [row, column]) };
  if (both) frames.padded_grad_output = spanOf(geometry, name, "window", [both.to.row, both.to.column]);
  return frames;
}

/** @param {Step} step @returns {Record<string, Span>} */
function cellsOf({ walk: { over, result }, row, column, both }) {
  return { [over]: { row, column, ...ONE }, ...(both && { [result]: { ...both.to, ...ONE } }) };
}
