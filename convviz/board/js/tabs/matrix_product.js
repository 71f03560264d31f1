// @ts-check
// Three matrices as one product, left · top = result: the result stands under the top one, so that their columns meet,
// and beside the left one where there is room. Made once and updated in place.
import { element } from "../base/dom.js";
import { createHeatmap } from "../board/heatmap.js";

/** @typedef {import("./matrix_views.js").MatrixMap} MatrixMap */

const MOST_NUMBERED = 27; // rows or columns: three channels of a 3 × 3 kernel
const NUMBERED = [26, 32]; // least and most pixels of a cell with a number
const COLOURED = [5, 16];
const SIGN = 40; // pixels for the sign between two matrices, with its gaps
const LETTER = 7.7; // pixels of a letter in a matrix's name
const SLOTS = /** @type {const} */ (["left", "top", "result", "extra0", "extra1", "extra2"]);

/**
 * Make the maps of a view.
 * @param {import("./pane.js").PaneTools} pane
 * @param {{ onPoint: (map: MatrixMap, row: number, column: number) => void, onLeave: () => void }} events
 */
export function createProduct(pane, events) {
  const slots = Object.fromEntries(SLOTS.map((name) => [name, createSlot(pane, name, events)]));
  const signs = [0, 1].map(() => element("span", { class: "cv-symbol", "aria-hidden": "true" }));
  const left = element(
    "div",
    { class: "cv-matrix-left" },
    element("div", { class: "cv-scroll" }, slots.left.el),
    signs[0],
  );
  const scroll = element("div", { class: "cv-scroll" }, slots.top.el, signs[1], slots.result.el);
  const product = element(
    "div",
    { class: "cv-matrix-product" },
    left,
    element("div", { class: "cv-matrix-right" }, scroll),
  );
  const extras = element("div", { class: "cv-flow" }, slots.extra0.el, slots.extra1.el, slots.extra2.el);

  return {
    els: [product, extras],

    /** @param {import("./matrix_views.js").View} view @param {string} dtype @param {number} width of the pane's inside */
    set(view, dtype, width) {
      product.hidden = !view.result;
      extras.hidden = !view.extras.length;
      signs[0].textContent = view.one ? "=" : "\u2022";
      signs[1].textContent = view.one ? "\u2022" : "=";
      const { sizes, beside } = layOutProduct(view, width);
      product.classList.toggle("cv-beside", beside);
      for (const name of SLOTS) {
        const map = name.startsWith("extra") ? view.extras[Number(name.slice(5))] : view[name];
        slots[name].set(map ?? null, dtype, map ? sizes.get(map) : undefined);
      }
    },

    /** Light up the entries that belong together. @param {(map: MatrixMap) => { row: number, column: number }[]} entries */
    light(entries) {
      for (const slot of Object.values(slots)) slot.light(entries);
    },

    /** Bring a lit column into view, when none of them is. */
    reveal() {
      for (const name of ["result", "top"]) {
        const range = slots[name].litRange();
        if (!range) continue;
        const [from, to] = [scroll.scrollLeft, scroll.scrollLeft + scroll.clientWidth];
        if (range[1] < from || range[0] > to) scroll.scrollLeft = range[0] - scroll.clientWidth / 2;
        return;
      }
    },
  };
}

/** One heatmap, and the map that it shows now. */
function createSlot(pane, name, events) {
  /** @type {MatrixMap | null} */
  let shown = null;
  let cell = 0;
  /** @type {number[]} */
  let columns = [];
  const heatmap = createHeatmap(pane, {
    onPoint: (row, column) => shown && events.onPoint(shown, row, column),
    onLeave: events.onLeave,
  });
  heatmap.el.dataset.slot = name;
  return {
    el: heatmap.el,
    /** @param {MatrixMap | null} map @param {string} dtype @param {any} size */
    set(map, dtype, size) {
      shown = map;
      heatmap.el.hidden = !map;
      heatmap.el.dataset.matrix = map?.name ?? "";
      if (!map) return;
      cell = size.cell;
      heatmap.set({
        values: map.values,
        label: map.name,
        shape: map.shape,
        dtype,
        ...size,
        rows: map.letters?.[0],
        columns: map.letters?.[1],
      });
    },
    /** @param {(map: MatrixMap) => { row: number, column: number }[]} entries */
    light(entries) {
      const found = shown ? entries(shown) : [];
      columns = found.map(({ column }) => column);
      heatmap.light(found);
    },
    /** Where the lit columns stand, in pixels; null when nothing is lit. */
    litRange: () =>
      columns.length ? [Math.min(...columns) * cell, (Math.max(...columns) + 1) * cell] : null,
  };
}

/**
 * How large the cells are, and whether they have numbers. Matrices that share their rows or columns share their size.
 * `beside`: whether the left matrix stays beside the others, however wide these are.
 * @typedef {{ cell: number, height: number, numbers: boolean }} Size
 * @param {import("./matrix_views.js").View} view @param {number} width
 */
function layOutProduct(view, width) {
  const { left, top, result } = view;
  const fits = (map) => Math.max(...map.size) <= MOST_NUMBERED;
  /** @type {Map<MatrixMap, Size>} */
  const sizes = new Map();
  let beside = view.one;
  if (left && top && result) {
    const large = fits(top) && fits(result) && (!view.one || fits(left));
    const need = Math.max(left.name.length * LETTER, left.size[1] * NUMBERED[0]) + SIGN;
    // A high and narrow matrix above the others would push them out of sight.
    beside ||=
      need < 0.4 * width && (!large || need + result.size[1] * NUMBERED[0] <= width || left.size[0] > 12);
    const share = Math.floor((width - (beside ? need : 0) - 8) / result.size[1]);
    const cell = within(share, large ? NUMBERED : COLOURED);
    const side = large ? cell : NUMBERED[0]; // of a cell with a number
    const heightOf = (map) =>
      large || map.size[0] <= 8 ? side : within(Math.floor(240 / map.size[0]), COLOURED);
    const numbers = beside ? large : fits(left);
    const leftShare = Math.floor((width - SIGN) / left.size[1]);
    const leftCell = left.size[1] <= 8 ? side : within(leftShare, numbers ? [NUMBERED[0], side] : COLOURED);
    sizes.set(left, { cell: leftCell, height: numbers ? side : heightOf(left), numbers });
    sizes.set(top, { cell, height: heightOf(top), numbers: large });
    sizes.set(result, { cell, height: heightOf(result), numbers: large });
  }
  for (const map of view.extras) {
    const result = /** @type {MatrixMap} */ (view.result);
    sizes.set(map, map.image ? imageSize(map, width) : /** @type {Size} */ (sizes.get(result)));
  }
  return { sizes, beside };
}

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
