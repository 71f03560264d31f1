// @ts-check
// The numbers printed over a grid: letters only where one is read, for those that are not seen cost as much.
import { setText, svgElement } from "../base/dom.js";
import { CELL } from "./grid_marks.js";

/** Make the layer of letters. */
export function createNumbers() {
  const el = svgElement("g", { class: "cv-printed", "aria-hidden": "true" });
  /** @type {(SVGElement | null | undefined)[][]} */
  const rows = [];

  /** @param {number} row @param {number} column */
  function erase(row, column) {
    rows[row][column]?.remove();
    rows[row][column] = null;
  }

  return {
    el,
    /** @param {number} row @param {number} column */
    at: (row, column) => rows[row]?.[column] ?? null,

    /** Let go of what stands outside so many cells. @param {number} height @param {number} width */
    fit(height, width) {
      for (const row of rows.splice(height)) for (const text of row) text?.remove();
      while (rows.length < height) rows.push([]);
      for (const row of rows) for (const text of row.splice(width)) text?.remove();
    },

    /** Print a number. @param {number} row @param {number} column @param {string} short empty: none @param {string} look the classes of its letters */
    write(row, column, short, look) {
      if (!short) return erase(row, column);
      const text =
        rows[row][column] ?? svgElement("text", { x: (column + 0.5) * CELL, y: (row + 0.5) * CELL });
      if (!rows[row][column]) el.append((rows[row][column] = text));
      setText(text, short);
      if (text.getAttribute("class") !== look) text.setAttribute("class", look);
    },
  };
}

/** The classes of a number's letters. @param {string} short @param {"white" | "zero" | ""} ink white on a dark ground, pale if it is 0 */
export function looks(short, ink) {
  const wide = short.length === 4 && !short.includes("."); // a point is narrow
  return [short.length > 2 && `cv-long${short.length}`, wide && "cv-wide", ink && `cv-${ink}`]
    .filter(Boolean)
    .join(" ");
}
