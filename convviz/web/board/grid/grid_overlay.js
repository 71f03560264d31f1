// The layer over a heatmap: numbers, hatching, focus, accessible grid. Cells have a fixed size in its units,
// so that resizing costs nothing.
import { samePoint } from "../../base/cell_place.js";
import { focusOf, setAttribute, svgElement } from "../../base/dom.js";
import { formatNumber, fullNumber } from "../../base/format.js";
import { CellSliders } from "./cell_sliders.js";
import { GridCells } from "./accessible_cells.js";
import { GridInput } from "./grid_keys_and_pointer.js";
import {
  CELL,
  corners,
  drawFrames,
  gapsBetween,
  holesIn,
  makeBands,
  patterns,
  roleOf,
} from "./grid_marks.js";
import { GridNumbers } from "./grid_numbers.js";
import { isBeyond } from "../../picture/colour_scales.js";
import { NUMBERED_UP_TO } from "../layout/screen_layout.js";
import { say } from "../../base/board_sentences.js";

/**
 * @typedef {import("../../picture/cell_kinds.js").Roles & { label: string, editable: boolean, words?:
 *   Record<string, string>, numbers?: boolean, slides?: boolean }} GridSpec numbers: whether they have room, if
 *   not by count; slides: each is a slider
 * @typedef {{ onFocus?: AtCell, onSelect?: AtCell, onMenu?: () => void, onLeave?: () => void, onEdit?: (row:
 *   number, column: number, typed: string) => void, onRelease?: () => boolean, onArrow?: (event:
 *   KeyboardEvent, row: number, column: number) => boolean }} GridEvents onArrow: asked first; true: handled
 */

export class Grid {
  svg;
  focus = { row: 0, column: 0 };
  #uid;
  #numbersUpTo;
  #bands = svgElement("g", { "aria-hidden": "true" });
  #cells = new GridCells();
  #numbers = new GridNumbers();
  sliders = new CellSliders();
  value = this.#numbers.value;
  widest = this.#numbers.widest;
  print = this.#numbers.print;
  letters = this.#numbers.el;
  narrow = this.#numbers.narrow;
  narrowed = this.#numbers.narrowed;
  copy = this.#numbers.copy;
  dye = this.#numbers.dye;
  isAsked = this.#numbers.isAsked;
  #ring = svgElement("rect.cv-ring", { width: CELL, height: CELL, visibility: "hidden" });
  #gaps = svgElement("path.cv-gaps", { "aria-hidden": "true" });
  #lights = svgElement("g.cv-lights", { "aria-hidden": "true" });
  #beyond = svgElement("path.cv-beyond", { "aria-hidden": "true" });
  #dim = svgElement("path.cv-dim", { "fill-rule": "evenodd" });
  /** @type {GridSpec} */
  #spec = { rows: "", columns: "", unread_rows: [], unread_columns: [], label: "", editable: false };
  #built = ""; // key of the spec that is drawn
  #anyBeyond = false;
  #wasNumbered = false;
  #events;

  /**
   * @param {string} uid in the page @param {GridEvents} events @param {number} [numbersUpTo] rows or
   *   columns
   */
  constructor(uid, events, numbersUpTo = NUMBERED_UP_TO) {
    [this.#uid, this.#events, this.#numbersUpTo] = [uid, events, numbersUpTo];
    this.svg = svgElement(
      "svg.cv-grid",
      // Chromium makes an svg with focus listeners a tab stop: only a cell is one.
      { role: "grid", tabindex: -1, preserveAspectRatio: "none" },
      patterns(uid),
      this.#bands,
      this.#lights,
      this.#gaps,
      this.#cells.el,
      this.sliders.el,
      this.#numbers.el,
      this.#dim,
      this.#beyond,
      this.#ring, // no frame lies over a number
    );
    new GridInput(this, events);
  }

  numbered() {
    const { rows, columns, numbers } = this.#spec;
    return numbers ?? Math.max(rows.length, columns.length) <= this.#numbersUpTo;
  }

  editable() {
    return this.#spec.editable;
  }

  /** @param {GridSpec} next */
  setSpec(next) {
    this.#spec = next;
    setAttribute(this.svg, "aria-label", next.label);
    const { rows, columns, unread_rows, unread_columns, editable, words, numbers: own, slides } = next;
    const drawn = JSON.stringify([rows, columns, unread_rows, unread_columns, editable, words, own, slides]);
    if (drawn !== this.#built) this.#build();
    this.#built = drawn;
  }

  #build() {
    const [height, width] = [this.#spec.rows.length, this.#spec.columns.length];
    const numbered = this.numbered();
    this.svg.setAttribute("viewBox", `0 0 ${width * CELL} ${height * CELL}`);
    this.svg.setAttribute("aria-rowcount", String(height));
    this.svg.setAttribute("aria-colcount", String(width));
    this.svg.classList.toggle("cv-numbered", numbered);
    this.#gaps.setAttribute("d", numbered ? gapsBetween(height, width) : "");
    this.#bands.replaceChildren(...makeBands(this.#spec, this.#uid));
    this.#numbers.layOut(this.#spec, numbered);
    const held = this.#cells.el.contains(focusOf(this.#cells.el));
    // that one stood for all
    if (numbered !== this.#wasNumbered) this.#cells.clear();
    this.#wasNumbered = numbered;
    this.#cells.fit(numbered ? height : 1, numbered ? width : 1, numbered && Boolean(this.#spec.slides));
    const { row, column } = this.focus;
    this.focus = { row: Math.min(row, height - 1), column: Math.min(column, width - 1) };
    this.#moveCursor();
    const cell = this.#focusedCell();
    setAttribute(cell, "tabindex", "0");
    // or keys go nowhere
    if (held && focusOf(this.#cells.el) !== cell) cell.focus({ preventScroll: true });
  }

  /** @param {ArrayLike<number>} values @param {string} dtype @param {Scale} scale @param {number} limit */
  setValues(values, dtype, scale, limit) {
    if (!this.#numbers.set({ values, dtype, scale, limit })) return false; // most panels, at most moves
    this.#markBeyond(values, limit);
    if (this.numbered()) this.#numbers.nameIn(this.#cells);
    else this.#moveCursor();
    if (this.#spec.slides) this.sliders.set(values, this.#spec.columns.length);
    this.svg.toggleAttribute("data-crossed", this.#numbers.crossed);
    return true;
  }

  /** @param {ArrayLike<number>} values @param {number} limit */
  #markBeyond(values, limit) {
    const found = [];
    for (let index = 0; index < values.length; index++) if (isBeyond(values[index], limit)) found.push(index);
    this.#anyBeyond = found.length > 0;
    const d = corners(found, this.#spec.columns.length, this.numbered() ? 12 : 24);
    setAttribute(this.#beyond, "d", d);
  }

  /** Returns true where some number lies beyond the colour scale. */
  anyBeyond() {
    return this.#anyBeyond;
  }

  /** In a large grid one cell follows the focus. */
  #moveCursor() {
    if (this.numbered()) return;
    const { row, column } = this.focus;
    const value = this.#numbers.shown ? this.value(row, column) : 0;
    this.#cells.move(row, column, String(value), formatNumber(value));
  }

  #focusedCell() {
    return this.numbered() ? this.#cells.at(this.focus.row, this.focus.column) : this.#cells.at(0, 0);
  }

  /**
   * @param {number} row @param {number} column @param {boolean} [take] focus it
   * @param {boolean} [seen] do not scroll
   */
  focusCell(row, column, take = true, seen = false) {
    this.#focusedCell().setAttribute("tabindex", "-1");
    this.focus = this.#clamped(row, column);
    this.#moveCursor();
    const cell = this.#focusedCell();
    cell.setAttribute("tabindex", "0");
    if (take) cell.focus({ preventScroll: seen });
    this.#events.onFocus?.(this.focus.row, this.focus.column);
  }

  /** @param {number} row @param {number} column */
  #clamped(row, column) {
    return { row: clamp(row, this.#spec.rows.length), column: clamp(column, this.#spec.columns.length) };
  }

  /** Returns the cell under the pointer, or the nearest one. @param {MouseEvent} event @returns {[number, number]} */
  place = ({ clientX, clientY }) => {
    const box = this.svg.getBoundingClientRect();
    const down = ((clientY - box.top) / box.height) * this.#spec.rows.length;
    const right = ((clientX - box.left) / box.width) * this.#spec.columns.length;
    const { row, column } = this.#clamped(Math.floor(down), Math.floor(right));
    return [row, column];
  };

  /** Hides the number of a cell until it is predicted; null shows all numbers. @param {Point | null} cell */
  hide(cell) {
    if (samePoint(cell, this.#numbers.asked)) return;
    this.svg.toggleAttribute("data-asked", Boolean(cell));
    this.#numbers.hide(cell);
    if (this.#numbers.shown && this.numbered()) this.#numbers.nameIn(this.#cells);
  }

  /**
   * Frame cells in colours, dashed where a factor is zero by construction; all but `clear` fades.
   * @param {(Point & { color: string, real: boolean })[]} links @param {Point[] | null} [clear]
   */
  light(links, clear = null) {
    const holes = clear ? holesIn(this.#spec, [...links, ...clear]) : "";
    setAttribute(this.#dim, "d", holes);
    const inside = links.filter((link) => this.#isInside(link));
    if (!inside.length && !this.#lights.childElementCount) return;
    drawFrames(this.#lights, inside);
    const names = (real) =>
      inside
        .filter((link) => link.real === real)
        .map(({ row, column }) => `${row},${column}`)
        .join(" ");
    setAttribute(this.#lights, "data-lit", names(true));
    setAttribute(this.#lights, "data-zero", names(false));
  }

  /** @param {Point} cell */
  #isInside({ row, column }) {
    return row < this.#spec.rows.length && column < this.#spec.columns.length;
  }

  /** @param {Point | null} cell */
  mark(cell) {
    const inside = cell && this.#isInside(cell);
    setAttribute(this.#ring, "visibility", inside ? "visible" : "hidden");
    if (!cell || !inside) return;
    setAttribute(this.#ring, "x", String(cell.column * CELL));
    setAttribute(this.#ring, "y", String(cell.row * CELL));
  }

  /** @param {number} row @param {number} column */
  describe(row, column) {
    const { shown } = this.#numbers;
    if (!shown) return "";
    const name = this.#spec.label;
    if (this.isAsked(row, column)) return say("cell.asked", { name, row, column });
    const number = this.value(row, column);
    const far = isBeyond(number, shown.limit) ? say("cell.beyond", { end: formatNumber(shown.limit) }) : "";
    const roles = [roleOf(this.#spec, row, column), far].filter(Boolean);
    const role = roles.length > 1 ? say("cell.both", { one: roles[0], other: far }) : roles.join("");
    const value = fullNumber(number, shown.dtype);
    return say(role ? "cell.read_role" : "cell.read", { name, row, column, value, role });
  }
}

/** @param {number} index @param {number} count */
function clamp(index, count) {
  return Math.min(Math.max(index, 0), count - 1);
}
