// A moving plane's colours, a rectangle a cell: canvases are layers, recomposed each frame. For many cells:
// pixels.js.
import { svgElement } from "../base/dom.js";
import { colorOf } from "../base/format.js";
import { CELL } from "./grid_marks.js";

export function createTiles() {
  const el = svgElement("g", { class: "cv-tiles", "aria-hidden": "true" });
  /** @type {SVGElement[]} */
  const boxes = [];
  /** @type {string[]} */
  const fills = [];
  let across = 0;

  /** @param {number} count @param {number} width */
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
     * Non-finite stays transparent.
     * @param {ArrayLike<number>} values @param {number} width @param {number} limit
     * @param {[number, string][]} scale
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
