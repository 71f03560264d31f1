// A grid's numbers and their letters; unreadable ones are not drawn: they cost as much.
import { setAttribute, svgElement } from "../../base/dom.js";
import { colorOf, formatNumber, inked, needsWhiteInk } from "../../base/format.js";
import { samePoint } from "../../base/cell_place.js";
import { widestOf } from "./digit_size.js";
import { CELL, boxOf, isMarked, isUnread } from "./grid_marks.js";
import { equal } from "./canvas_cell_colours.js";
import { PrintedZeros } from "./printed_zeros.js";

/**
 * @import { GridCells } from "./accessible_cells.js"
 * @import { GridSpec } from "./grid_overlay.js"
 * @typedef {{ text: SVGElement, short: string, look: string }} Printed look: classes
 * @typedef {{ values: ArrayLike<number>, dtype: string, scale: Scale, limit: number }} Shown
 */

const ASKED = "?"; // stands for a number that is to be predicted

/**
 * @param {{ rows: string, columns: string }} spec
 * @param {(row: number, column: number, index: number) => void} task
 */
export function eachCell({ rows, columns }, task) {
  for (let row = 0, index = 0; row < rows.length; row++)
    for (let column = 0; column < columns.length; column++) task(row, column, index++);
}

export class GridNumbers {
  el = svgElement("g.cv-printed", { "aria-hidden": "true" });
  /** @type {Shown | null} */
  shown = null;
  /** The cell that the visitor has to predict. @type {Point | null} */
  asked = null;
  crossed = false; // a number where nothing is read
  /** Asking the page would cost a third of a frame; those that left stay. @type {Printed[][]} */
  #printed = [];
  #areRead = true; // cells are large enough
  #zeros = ["cv-zero", "cv-zero cv-marked"].map((look) => new PrintedZeros(look));
  #narrowed = 1; // letters, where cells are wider than high
  #spec = { rows: "", columns: "" }; // none in a large grid
  #columns = 0;
  /** @type {boolean[]} */
  #marked = [];
  /** @type {boolean[]} */
  #unread = [];
  /** The numbers as printed; replaced whole. @type {readonly string[]} */
  #shorts = [];
  /** @type {number[]} */
  #formatted = [];

  /** @param {GridSpec} spec @param {boolean} numbered */
  layOut(spec, numbered) {
    this.shown = null; // or old numbers would stand elsewhere
    this.#spec = numbered ? spec : { rows: "", columns: "" };
    this.#columns = spec.columns.length;
    [this.#marked, this.#unread] = [[], []];
    eachCell(this.#spec, (row, column) => {
      this.#marked.push(isMarked(spec, row, column));
      this.#unread.push(isUnread(spec, row, column));
    });
    this.#fit(this.#spec.rows.length, this.#spec.columns.length);
  }

  /** Letters leave with their cells, and are kept. @param {number} height @param {number} width */
  #fit(height, width) {
    while (this.#printed.length < height) this.#printed.push([]);
    this.#printed.forEach((line, row) =>
      line.forEach((printed, column) => {
        if (row >= height || column >= width) printed.text.remove();
      }),
    );
    for (const { el } of this.#zeros) el.remove();
  }

  /** @param {Shown} next @returns {boolean} whether they differ */
  set(next) {
    const { values, dtype, scale, limit } = next;
    const before = this.shown;
    this.shown = next;
    const isSame = before?.dtype === dtype && before.scale === scale && before.limit === limit;
    if (isSame && equal(before.values, values)) return false;
    this.crossed = false;
    const count = this.#spec.rows ? values.length : 0;
    const shorts = [];
    for (let index = 0; index < count; index++) {
      const isShown = Object.is(values[index], this.#formatted[index]);
      shorts.push(isShown ? this.#shorts[index] : formatNumber(values[index]));
      this.crossed ||= values[index] !== 0 && this.#unread[index];
    }
    this.#shorts = shorts;
    this.#formatted = count ? Array.from(values) : [];
    if (this.#areRead || this.asked) this.#write();
    return true;
  }

  /** @param {number} row @param {number} column */
  value = (row, column) => (this.shown ? this.shown.values[row * this.#columns + column] : NaN);

  /** @param {number} row @param {number} column */
  isAsked = (row, column) => samePoint(this.asked, { row, column });

  /** Of each cell all digits, and as printed. @param {GridCells} cells */
  nameIn(cells) {
    const [{ values }, asked] = [/** @type {Shown} */ (this.shown), this.#indexAsked()];
    eachCell(this.#spec, (row, column, index) => {
      if (index === asked) cells.name(row, column, "", ASKED);
      else cells.name(row, column, String(values[index]), this.#shorts[index]);
    });
  }

  /** Returns the index of the cell to be predicted, or -1 where the grid has none. */
  #indexAsked() {
    const { row, column } = this.asked ?? { row: -1, column: 0 };
    return column < this.#columns ? row * this.#columns + column : -1;
  }

  /** In units of the letters' size. */
  widest = () => widestOf(this.#shorts);

  /** @param {boolean} are */
  print = (are) => {
    if (are === this.#areRead) return;
    this.#areRead = are;
    this.#write();
  };

  /** @param {Point | null} cell */
  hide(cell) {
    this.asked = cell;
    if (this.shown) this.#write();
  }

  /** A copy that an animation may move. @param {number} row @param {number} column */
  copy = (row, column) => {
    const style = `fill: ${this.dye(this.value(row, column)).fill}`;
    const box = svgElement("rect", { ...boxOf(row, column), style });
    const isZero = this.value(row, column) === 0 && !this.isAsked(row, column);
    const text = isZero
      ? this.#zeros[this.#marked[row * this.#columns + column] ? 1 : 0].el
      : this.#printed[row]?.[column]?.text;
    if (!text?.parentNode) return svgElement("g", box);
    const letters = /** @type {SVGElement} */ (text.cloneNode(true));
    if (isZero) letters.textContent = "0";
    for (const [axis, place] of Object.entries({ x: column, y: row }))
      letters.setAttribute(axis, String((place + 0.5) * CELL));
    return svgElement("g", box, letters);
  };

  /** A number's fill and ink here. @param {number} value */
  dye = (value) => inked(this.#colorOf(value));

  /** @param {number} value */
  #colorOf(value) {
    const { scale, limit } = /** @type {Shown} */ (this.shown);
    return colorOf(scale, Number.isFinite(value) ? value : 0, limit);
  }

  narrowed = () => this.#narrowed;

  /** All at once: with a transform each, each would be painted on its own. @param {number} share */
  narrow = (share) => {
    if (share === this.#narrowed) return;
    this.#narrowed = share;
    if (share === 1) this.el.removeAttribute("transform");
    else this.el.setAttribute("transform", `scale(${share} 1)`);
    for (const line of this.#printed)
      line.forEach(({ text }, column) => text.parentNode && text.setAttribute("x", this.#middleOf(column)));
    for (const zeros of this.#zeros) zeros.place(this.#middleOf);
  };

  /** @param {number} column */
  #middleOf = (column) => String(Number((((column + 0.5) * CELL) / this.#narrowed).toFixed(3)));

  #write() {
    const asked = this.#indexAsked();
    const values = this.#areRead ? this.shown?.values : null;
    /** @type {[Point[], Point[]]} */
    const zeros = [[], []]; // those of data, and those that are marked
    eachCell(this.#spec, (row, column, index) => {
      if (index === asked) this.#print(row, column, ASKED, "cv-asked");
      else if (!values) this.#print(row, column, "", "");
      else if (values[index] === 0) {
        this.#print(row, column, "", "");
        zeros[Number(this.#marked[index])].push({ row, column });
      } else {
        const white = needsWhiteInk(this.#colorOf(values[index]));
        this.#print(row, column, this.#shorts[index], white ? "cv-white" : "");
      }
    });
    this.#zeros.forEach((each, kind) => {
      if (!zeros[kind].length) each.el.remove();
      else if (!each.el.parentNode) this.el.append(each.el);
      each.write(zeros[kind], this.#middleOf);
    });
  }

  /** @param {number} row @param {number} column @param {string} short @param {string} look */
  #print(row, column, short, look) {
    let printed = this.#printed[row][column];
    if (!short) return printed?.text.remove();
    if (!printed) {
      const at = { x: this.#middleOf(column), y: (row + 0.5) * CELL };
      printed = this.#printed[row][column] = {
        text: svgElement("text", { ...at, class: look }, short),
        short,
        look,
      };
    }
    const { text } = printed;
    if (printed.short !== short) /** @type {Text} */ (text.firstChild).data = short;
    if (printed.look !== look) text.setAttribute("class", look);
    Object.assign(printed, { short, look });
    if (text.parentNode) return;
    setAttribute(text, "x", this.#middleOf(column));
    this.el.append(text);
  }
}
