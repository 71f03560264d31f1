// A grid's cells for keys and screen readers: transparent, named by their numbers. A weight's is a slider within
// its cell: a cell of a grid has no value that a key changes.
import { setAttribute, svgElement } from "../../base/dom.js";
import { say } from "../../base/board_sentences.js";
import { boxOf } from "./grid_marks.js";
import { reachOf } from "./drag_number.js";

/** @param {number} row @param {number} column */
const placeOf = (row, column) => ({ ...boxOf(row, column), "data-cell": `${row},${column}` });

/** @param {number} row @param {number} column */
function cellAt(row, column) {
  const attributes = { role: "gridcell", tabindex: -1, ...placeOf(row, column), "aria-colindex": column + 1 };
  const box = svgElement("rect.cv-cell", attributes);
  return { box, cell: box };
}

/** @param {number} row @param {number} column */
function sliderAt(row, column) {
  const attributes = {
    role: "slider",
    "aria-orientation": "vertical",
    tabindex: -1,
    ...placeOf(row, column),
  };
  const box = svgElement("rect.cv-cell", {
    ...attributes,
    "aria-label": say("weight.range", { row, column }),
  });
  return { box, cell: svgElement("g", { role: "gridcell", "aria-colindex": column + 1 }, box) };
}

export class GridCells {
  el = svgElement("g.cv-cells", { role: "presentation" });
  /**
   * cells: what the row has, with the boxes in them; full: their numbers
   * @type {{ line: SVGElement, made: { box: SVGElement, cell: SVGElement }[], full: string[] }[]}
   */
  #rows = [];
  #slide = false;

  /** @param {number} row @param {number} column */
  at = (row, column) => this.#rows[row].made[column].box;

  /**
   * Cells that are there stay, and those that leave are kept: a slider comes back.
   * @param {number} height @param {number} width @param {boolean} slide they are sliders
   */
  fit(height, width, slide) {
    if (slide !== this.#slide) this.clear();
    this.#slide = slide;
    while (this.#rows.length < height) {
      const line = svgElement("g", { role: "row", "aria-rowindex": this.#rows.length + 1 });
      this.#rows.push({ line, made: [], full: [] });
    }
    this.#rows.forEach(({ line, made, full }, row) => {
      const wanted = row < height ? width : 0;
      full.splice(wanted);
      while (made.length < wanted) made.push((slide ? sliderAt : cellAt)(row, made.length));
      for (const { box, cell } of made.slice(wanted, line.childElementCount)) {
        setAttribute(box, "tabindex", "-1");
        cell.remove();
      }
      line.append(...made.slice(line.childElementCount, wanted).map(({ cell }) => cell));
      if (!wanted) line.remove();
      else if (!line.parentNode) this.el.append(line);
    });
  }

  /**
   * @param {number} row @param {number} column @param {string} full empty: to be predicted
   * @param {string} short
   */
  name(row, column, full, short) {
    const { made, full: labels } = this.#rows[row];
    if (labels[column] === full) return;
    labels[column] = full;
    const { box } = made[column];
    box.setAttribute("data-value", full);
    if (this.#slide) slideTo(box, Number(full), short);
    else box.setAttribute("aria-label", short);
    box.classList.toggle("cv-asked", full === "");
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
    const [{ line, made }] = this.#rows;
    const place = { "aria-colindex": column + 1, "data-value": full, "aria-label": short };
    for (const [name, value] of Object.entries({ ...placeOf(row, column), ...place }))
      made[0].box.setAttribute(name, String(value));
    line.setAttribute("aria-rowindex", String(row + 1));
  }
}

/** @param {SVGElement} box @param {number} value @param {string} text */
function slideTo(box, value, text) {
  const reach = reachOf(value);
  const values = { "aria-valuemin": -reach, "aria-valuemax": reach, "aria-valuenow": value };
  for (const [name, number] of Object.entries(values)) box.setAttribute(name, String(number));
  box.setAttribute("aria-valuetext", text);
}
