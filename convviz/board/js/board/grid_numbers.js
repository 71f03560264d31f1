// @ts-check
// The numbers printed over a grid: letters only where one is read, for those that are not seen cost as much.
import { svgElement } from "../base/dom.js";
import { CELL } from "./grid_marks.js";

/** @typedef {{ text: SVGElement, short: string, look: string }} Printed look: the classes of its letters */

/** Make the layer of letters. */
export function createNumbers() {
  const el = svgElement("g", { class: "cv-printed", "aria-hidden": "true" });
  /** What stands where: asked of the page at every move, it would take a third of a frame. @type {(Printed | null | undefined)[][]} */
  const rows = [];

  /** @param {number} row @param {number} column */
  function erase(row, column) {
    rows[row][column]?.text.remove();
    rows[row][column] = null;
  }

  return {
    el,
    /** @param {number} row @param {number} column */
    at: (row, column) => rows[row]?.[column]?.text ?? null,

    /** Let go of what stands outside so many cells. @param {number} height @param {number} width */
    fit(height, width) {
      for (const row of rows.splice(height)) for (const printed of row) printed?.text.remove();
      while (rows.length < height) rows.push([]);
      for (const row of rows) for (const printed of row.splice(width)) printed?.text.remove();
    },

    /** Print a number. @param {number} row @param {number} column @param {string} short empty: none @param {string} look the classes of its letters */
    write(row, column, short, look) {
      if (!short) return erase(row, column);
      let printed = rows[row][column];
      if (!printed) {
        const at = { x: (column + 0.5) * CELL, y: (row + 0.5) * CELL };
        const text = svgElement("text", { ...at, class: look }, short);
        el.append(text);
        printed = rows[row][column] = { text, short, look };
      }
      // Its letters change, and no node comes or goes.
      if (printed.short !== short) /** @type {Text} */ (printed.text.firstChild).data = short;
      if (printed.look !== look) printed.text.setAttribute("class", look);
      Object.assign(printed, { short, look });
    },
  };
}
