// A grid's cells for keys and screen readers: transparent, named by their numbers.
import { setAttribute, svgElement } from "../base/dom.js";
import { boxOf } from "./grid_marks.js";

/** @param {number} row @param {number} column */
const placeOf = (row, column) => ({
  ...boxOf(row, column),
  "data-cell": `${row},${column}`,
  "aria-colindex": column + 1,
});

export class GridCells {
  el = svgElement("g.cv-cells", { role: "presentation" });
  /** @type {{ line: SVGElement, boxes: SVGElement[], full: string[] }[]} full: their numbers */
  #rows = [];

  /** @param {number} row @param {number} column */
  at = (row, column) => this.#rows[row].boxes[column];

  /**
   * Cells that are there stay, and those that leave are kept: a slider comes back.
   * @param {number} height @param {number} width
   */
  fit(height, width) {
    while (this.#rows.length < height) {
      const line = svgElement("g", { role: "row", "aria-rowindex": this.#rows.length + 1 });
      this.#rows.push({ line, boxes: [], full: [] });
    }
    this.#rows.forEach(({ line, boxes, full }, row) => {
      const wanted = row < height ? width : 0;
      full.splice(wanted);
      while (boxes.length < wanted)
        boxes.push(
          svgElement("rect.cv-cell", { role: "gridcell", tabindex: -1, ...placeOf(row, boxes.length) }),
        );
      for (const box of boxes.slice(wanted, line.childElementCount)) {
        setAttribute(box, "tabindex", "-1");
        box.remove();
      }
      line.append(...boxes.slice(line.childElementCount, wanted));
      if (!wanted) line.remove();
      else if (!line.parentNode) this.el.append(line);
    });
  }

  /**
   * @param {number} row @param {number} column @param {string} full empty: to be predicted
   * @param {string} short
   */
  name(row, column, full, short) {
    const { boxes, full: told } = this.#rows[row];
    if (told[column] === full) return;
    told[column] = full;
    boxes[column].setAttribute("data-value", full);
    boxes[column].setAttribute("aria-label", short);
    boxes[column].classList.toggle("cv-asked", full === "");
  }

  clear() {
    this.#rows = [];
    this.el.replaceChildren();
  }

  /**
   * One cell stands for all.
   * @param {number} row @param {number} column @param {string} full @param {string} short
   */
  move(row, column, full, short) {
    const [{ line, boxes }] = this.#rows;
    const place = { ...placeOf(row, column), "data-value": full, "aria-label": short };
    for (const [name, value] of Object.entries(place)) boxes[0].setAttribute(name, String(value));
    line.setAttribute("aria-rowindex", String(row + 1));
  }
}
