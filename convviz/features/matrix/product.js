// Three matrices as one product, left · top = result: in one row where the width allows it; else the result
// stands under the top one, so that their columns meet, and beside the left one where there is room.
import { element } from "../../web/base/dom.js";
import { Heatmap } from "../../web/board/grid/tab_heatmap.js";

/**
 * @import { MatrixMap, View } from "./views.js"
 * @typedef {{ onPoint: (map: MatrixMap, row: number, column: number) => void, onLeave: () => void }} Events
 */

const MAX_NUMBERED = 27; // rows or columns: three channels of a 3 × 3 kernel
const NUMBERED = [26, 32]; // pixels of a cell
const LEAST_IN_A_ROW = 18; // so that the pane shows all rows
const NAME = 48; // pixels, and around it
const COLOURED = [5, 16];
const SIGN = 40; // pixels with gaps
const LETTER = 7.7; // pixels
const SLOTS = /** @type {const} */ (["left", "top", "result", "extra0", "extra1", "extra2"]);

export class MatrixProduct {
  #slots;
  #signs = [0, 1].map(() => element("span.cv-symbol", { "aria-hidden": "true" }));
  #scroll;
  #product;
  #extras;
  els;

  /** @param {PaneTools} pane @param {Events} events */
  constructor(pane, events) {
    this.#slots = Object.fromEntries(SLOTS.map((name) => [name, new Slot(pane, name, events)]));
    const { left, top, result, extra0, extra1, extra2 } = this.#slots;
    this.#scroll = element("div.cv-scroll", top.el, this.#signs[1], result.el);
    this.#product = element(
      "div.cv-matrix-product",
      element("div.cv-matrix-left", element("div.cv-scroll", left.el), this.#signs[0]),
      element("div.cv-matrix-right", this.#scroll),
    );
    this.#extras = element("div.cv-flow", extra0.el, extra1.el, extra2.el);
    this.els = [this.#product, this.#extras];
  }

  /** @param {View} view @param {string} dtype @param {Room} room */
  set(view, dtype, room) {
    this.#product.hidden = !view.result;
    this.#extras.hidden = !view.extras.length;
    this.#signs[0].textContent = view.one ? "=" : "\u2022";
    this.#signs[1].textContent = view.one ? "\u2022" : "=";
    const row = layInARow(view, room);
    const { sizes, beside } = row ? { sizes: row, beside: true } : layOutProduct(view, room.width);
    addImages(sizes, view, room.width);
    this.#product.classList.toggle("cv-in-a-row", Boolean(row));
    this.#product.classList.toggle("cv-beside", beside);
    for (const name of SLOTS) {
      const map = name.startsWith("extra") ? view.extras[Number(name.slice(5))] : view[name];
      this.#slots[name].set(map ?? null, dtype, /** @type {Size} */ (map ? sizes.get(map) : undefined));
    }
  }

  /** @param {(map: MatrixMap) => Point[]} entries */
  light(entries) {
    for (const slot of Object.values(this.#slots)) slot.light(entries);
  }

  /** Unless one is in view. */
  reveal() {
    for (const name of ["result", "top"]) {
      const range = this.#slots[name].litRange();
      if (!range) continue;
      const [from, to] = [this.#scroll.scrollLeft, this.#scroll.scrollLeft + this.#scroll.clientWidth];
      if (range[1] < from || range[0] > to) this.#scroll.scrollLeft = range[0] - this.#scroll.clientWidth / 2;
      return;
    }
  }
}

class Slot {
  /** @type {MatrixMap | null} */
  #shown = null;
  #cell = 0;
  /** @type {number[]} */
  #columns = [];
  #heatmap;
  el;

  /** @param {PaneTools} pane @param {string} name @param {Events} events */
  constructor(pane, name, events) {
    this.#heatmap = new Heatmap(pane, {
      onPoint: (row, column) => this.#shown && events.onPoint(this.#shown, row, column),
      onLeave: events.onLeave,
    });
    this.#heatmap.el.dataset.slot = name;
    this.el = this.#heatmap.el;
  }

  /** @param {MatrixMap | null} map @param {string} dtype @param {Size} size */
  set(map, dtype, size) {
    this.#shown = map;
    this.#heatmap.el.hidden = !map;
    this.#heatmap.el.dataset.matrix = map?.name ?? "";
    if (!map) return;
    this.#cell = size.cell;
    this.#heatmap.set({
      values: map.values,
      label: map.name,
      shape: map.shape,
      dtype,
      ...size,
      rows: map.letters?.[0],
      columns: map.letters?.[1],
    });
  }

  /** @param {(map: MatrixMap) => Point[]} entries */
  light(entries) {
    const found = this.#shown ? entries(this.#shown) : [];
    this.#columns = found.map(({ column }) => column);
    this.#heatmap.light(found);
  }

  /** Returns the left and the right end of the lit columns in pixels, or null where none is lit. */
  litRange = () =>
    this.#columns.length
      ? [Math.min(...this.#columns) * this.#cell, (Math.max(...this.#columns) + 1) * this.#cell]
      : null;
}

/**
 * Lays three matrices in one row with their numbers. Returns null where there are fewer, or no room.
 * @typedef {{ cell: number, height: number, numbers: boolean }} Size
 * @typedef {{ width: number, height: number }} Room in sight
 * @param {View} view @param {Room} room @returns {Map<MatrixMap, Size> | null}
 */
function layInARow({ left, top, result, one }, { width, height }) {
  if (one || !left || !top || !result) return null;
  const maps = [left, top, result];
  if (Math.max(...maps.flatMap(({ size }) => size)) > MAX_NUMBERED) return null;
  const need = (/** @type {number} */ cell) =>
    maps.reduce((sum, { name, size }) => sum + Math.max(name.length * LETTER, size[1] * cell), 2 * SIGN);
  if (need(NUMBERED[0]) > width) return null;
  const rows = Math.max(...maps.map(({ size }) => size[0]));
  let cell = NUMBERED[1];
  while (cell > NUMBERED[0] && need(cell) > width) cell--;
  while (cell > LEAST_IN_A_ROW && rows * cell + NAME > height) cell--;
  return new Map(maps.map((map) => [map, { cell, height: cell, numbers: true }]));
}

/** @param {Map<MatrixMap, Size>} sizes @param {View} view @param {number} width */
function addImages(sizes, view, width) {
  for (const map of view.extras) {
    const result = /** @type {MatrixMap} */ (view.result);
    sizes.set(map, map.image ? imageSize(map, width) : /** @type {Size} */ (sizes.get(result)));
  }
}

/** @param {MatrixMap} map */
const fits = (map) => Math.max(...map.size) <= MAX_NUMBERED;

/**
 * Shared rows or columns have one size. `beside`: left stays beside the others.
 * @param {View} view @param {number} width
 * @returns {{ sizes: Map<MatrixMap, Size>, beside: boolean }}
 */
function layOutProduct({ left, top, result, one }, width) {
  if (!left || !top || !result) return { sizes: new Map(), beside: one };
  const large = fits(top) && fits(result) && (!one || fits(left));
  const need = Math.max(left.name.length * LETTER, left.size[1] * NUMBERED[0]) + SIGN;
  const beside = one || staysBeside(need, width, left, large ? result.size[1] * NUMBERED[0] : 0);
  const share = Math.floor((width - (beside ? need : 0) - 8) / result.size[1]);
  const cell = within(share, large ? NUMBERED : COLOURED);
  const side = large ? cell : NUMBERED[0];
  /** @param {MatrixMap} map */
  const heightOf = ({ size: [rows] }) =>
    large || rows <= 8 ? side : within(Math.floor(240 / rows), COLOURED);
  const numbers = beside ? large : fits(left);
  const leftShare = Math.floor((width - SIGN) / left.size[1]);
  const leftCell = left.size[1] <= 8 ? side : within(leftShare, numbers ? [NUMBERED[0], side] : COLOURED);
  const sizes = new Map([
    [left, { cell: leftCell, height: numbers ? side : heightOf(left), numbers }],
    [top, { cell, height: heightOf(top), numbers: large }],
    [result, { cell, height: heightOf(result), numbers: large }],
  ]);
  return { sizes, beside };
}

/**
 * Above them, a high one would push them out of sight.
 * @param {number} need @param {number} width @param {MatrixMap} left
 * @param {number} numbered pixels of the result with numbers, or 0
 */
const staysBeside = (need, width, left, numbered) =>
  need < 0.4 * width && (need + numbered <= width || left.size[0] > 12);

/** @param {MatrixMap} map @param {number} width @returns {Size} */
function imageSize(map, width) {
  const cells = Math.max(...map.size);
  const numbers = cells <= 12;
  const cell = numbers ? NUMBERED[0] : within(Math.floor(Math.min(width, 340) / cells), [3, COLOURED[1]]);
  return { cell, height: cell, numbers };
}

/** @param {number} value @param {number[]} range */
function within(value, [least, most]) {
  return Math.min(Math.max(value, least), most);
}
