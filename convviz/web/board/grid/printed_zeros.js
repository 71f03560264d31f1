// A plane's zeros are one element, with a place for each: most numbers are zeros, and an element for each would be
// styled and laid out on its own.
import { setAttribute, svgElement } from "../../base/dom.js";
import { CELL } from "./grid_marks.js";

export class PrintedZeros {
  el;
  /** @type {Point[]} */
  #cells = [];

  /** @param {string} look classes */
  constructor(look) {
    this.el = svgElement("text", { class: look }, "");
  }

  /** Replaces the zeros of before. @param {Point[]} cells @param {(column: number) => string} middleOf */
  write(cells, middleOf) {
    this.#cells = cells;
    const zeros = /** @type {Text} */ (this.el.firstChild);
    if (zeros.length !== cells.length) zeros.data = "0".repeat(cells.length);
    setAttribute(this.el, "y", cells.map(({ row }) => (row + 0.5) * CELL).join(" "));
    this.place(middleOf);
  }

  /** @param {(column: number) => string} middleOf */
  place(middleOf) {
    setAttribute(this.el, "x", this.#cells.map(({ column }) => middleOf(column)).join(" "));
  }
}
