// The lens: 5 × 5 numbers around a cell, value and gradient, beside what is said of it. It covers nothing.
import { element, setStyle, setText } from "../../web/base/dom.js";
import { cssColor, formatNumber, needsWhiteInk } from "../../web/base/format.js";
import { partsOf } from "./planes.js";
import { say } from "./sentences.js";

const SIDE = 5;

/**
 * @import { Colours } from "./column.js"
 * @import { Shade } from "./planes.js"
 * @typedef {{ window: NetworkWindow, limits: Pair, colours: Colours }} Seen limits: where the colours of values and of
 *   gradients end
 */

export class Lens {
  #grids = [say("lens.value"), say("lens.gradient")].map((words) => {
    const cells = Array.from({ length: SIDE * SIDE }, () => element("span"));
    return { cells, el: element("div", element("p", words), element("div.cv-network-grid", ...cells)) };
  });
  // It keeps its room while it is empty, or the maps would change their size.
  el = element("div.cv-network-lens.cv-empty", { "aria-hidden": "true" }, ...this.#grids.map(({ el }) => el));

  hide() {
    this.el.classList.add("cv-empty");
  }

  /** @param {Seen} seen */
  draw({ window: { values, gradients }, limits, colours }) {
    drawGrid(this.#grids[0].cells, values, colours.value, limits[0]);
    drawGrid(this.#grids[1].cells, gradients, colours.gradient, limits[1]);
    this.el.classList.remove("cv-empty");
  }
}

/** @param {HTMLElement[]} cells @param {number[][]} numbers @param {Shade} shade @param {number} limit */
function drawGrid(cells, numbers, shade, limit) {
  cells.forEach((cell, at) => {
    const value = numbers[Math.floor(at / SIDE)]?.[at % SIDE];
    const isThere = value !== undefined && !Number.isNaN(value);
    const color = isThere ? partsOf(shade(value / limit)) : null;
    setText(cell, isThere ? formatNumber(value) : "");
    setStyle(cell, "background-color", color ? cssColor(color) : "");
    cell.classList.toggle("cv-white", color !== null && needsWhiteInk(color));
  });
}
