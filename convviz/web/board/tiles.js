// @ts-check
// The colours of a plane while it moves, a rectangle a cell: a canvas would be a layer of its own in each
// panel, and the browser puts all layers together anew in every frame. Where cells are many they are fewer
// pixels: pixels.js.
import { svgElement } from "../base/dom.js";
import { colorOf } from "../base/format.js";
import { CELL } from "./grid_marks.js";

export function createTiles() {
  const el = svgElement("g", { class: "cv-tiles", "aria-hidden": "true" });
  /** @type {SVGElement[]} */
  const boxes = [];
  /** @type {string[]} how each is filled */
  const fills = [];
  let across = 0; // cells of a row

  /** Bring the rectangles to their number and their places. @param {number} count @param {number} width */
  function fit(count, width) {
    if (boxes.length === count && across === width) return;
    across = width;
    [boxes.length, fills.length] = [0, 0];
    for (let cell = 0; cell < count; cell++) {
      const [x, y] = [(cell % width) * CELL, Math.floor(cell / width) * CELL];
      boxes.push(svgElement("rect", { x, y, width: CELL, height: CELL }));
    }
    el.replaceChildren(...boxes);
  }

  return {
    el,
    /**
     * Paint a plane; what is no finite number stays transparent.
     * @param {ArrayLike<number>} values row by row @param {number} width in cells
     * @param {number} limit the value at the end of the scale @param {[number, string][]} scale
     */
    paint(values, width, limit, scale) {
      fit(values.length, width);
      boxes.forEach((box, cell) => {
        const isNumber = Number.isFinite(values[cell]);
        const fill = isNumber ? `rgb(${colorOf(scale, values[cell], limit).map(Math.round).join()})` : "none";
        if (fills[cell] !== fill) box.setAttribute("fill", fill);
        fills[cell] = fill;
      });
    },
  };
}
