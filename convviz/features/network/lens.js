// The lens: 5 × 5 numbers around a cell, value and gradient. It stands where neither field of the cell is drawn.
import { element } from "../../web/base/dom.js";
import { formatNumber, needsWhiteInk } from "../../web/base/format.js";
import { partsOf } from "./planes.js";
import { say } from "./sentences.js";

const SIDE = 5;
const CELL = /** @type {Pair} */ ([42, 25]);
const HEAD = 20;
const GAP = 14;
const PAD = 10;
const GRID = /** @type {Pair} */ ([SIDE * CELL[0], HEAD + SIDE * CELL[1]]);
/** Side by side, or in a narrow page one below the other. */
const SIZES = /** @type {Record<string, Pair>} */ ({
  wide: [2 * GRID[0] + GAP + 2 * PAD, GRID[1] + 2 * PAD],
  narrow: [GRID[0] + 2 * PAD, 2 * GRID[1] + GAP + 2 * PAD],
});
const FAR = 12; // pixels from the column

/**
 * @import { Colours } from "./column.js"
 * @typedef {{ window: NetworkWindow, limits: Pair, colours: Colours }} Seen limits: where the colours of values and of
 *   gradients end
 */

export class Lens {
  #canvas = element("canvas");
  #size = SIZES.wide;
  el = element("div.cv-network-lens", { "aria-hidden": "true", hidden: "" }, this.#canvas);

  hide() {
    this.el.hidden = true;
  }

  /** @param {Seen} seen @param {boolean} narrow */
  draw({ window: { values, gradients }, limits, colours }, narrow) {
    this.#size = narrow ? SIZES.narrow : SIZES.wide;
    const ratio = window.devicePixelRatio || 1;
    const context = /** @type {CanvasRenderingContext2D} */ (this.#canvas.getContext("2d"));
    if (this.#canvas.width !== Math.ceil(this.#size[0] * ratio)) {
      [this.#canvas.width, this.#canvas.height] = this.#size.map((size) => Math.ceil(size * ratio));
      [this.#canvas.style.width, this.#canvas.style.height] = this.#size.map((size) => `${size}px`);
    }
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, ...this.#size);
    const grids = [
      { numbers: values, shade: colours.value, words: say("lens.value") },
      { numbers: gradients, shade: colours.gradient, words: say("lens.gradient") },
    ];
    grids.forEach(({ numbers, shade, words }, index) => {
      const [left, top] = [
        PAD + (narrow ? 0 : index * (GRID[0] + GAP)),
        PAD + (narrow ? index * (GRID[1] + GAP) : 0),
      ];
      context.fillStyle = colours.muted;
      context.font = `600 12px ${colours.face}`;
      [context.textAlign, context.textBaseline] = ["left", "alphabetic"];
      context.fillText(words, left, top + 10);
      drawGrid(context, numbers, [left, top + HEAD], (value) => shade(value / limits[index]), colours);
    });
    this.el.hidden = false;
  }

  /**
   * Right of the column in the upper row, where no receptive field is; else left of it in the lower row, where no
   * projective field is.
   * @param {DOMRect} column @param {DOMRect} above its map @param {DOMRect} below its other map @param {HTMLElement} root
   */
  place(column, above, below, root) {
    const size = this.#size;
    if (size === SIZES.narrow) return this.el.style.removeProperty("transform");
    const box = root.getBoundingClientRect();
    const [from, to] = [Math.max(0, box.left), Math.min(window.innerWidth, box.right)];
    const isRight = column.right + FAR + size[0] <= to || to - column.right >= column.left - from;
    const x = isRight
      ? Math.min(column.right + FAR, to - size[0])
      : Math.max(from, column.left - FAR - size[0]);
    const y = isRight ? above.top - 8 : below.bottom + 8 - size[1];
    const top = Math.min(Math.max(y, 4, box.top), Math.min(window.innerHeight, box.bottom) - size[1] - 4);
    this.el.style.transform = `translate(${Math.round(x - box.left)}px, ${Math.round(top - box.top)}px)`;
  }
}

/**
 * @param {CanvasRenderingContext2D} context @param {number[][]} numbers @param {Pair} corner
 * @param {(value: number) => number} shade @param {Colours} colours
 */
function drawGrid(context, numbers, [left, top], shade, colours) {
  context.font = `500 11px ${colours.face}`;
  [context.textAlign, context.textBaseline] = ["center", "middle"];
  numbers.forEach((row, r) =>
    row.forEach((value, q) => {
      if (value === undefined || Number.isNaN(value)) return;
      const [x, y] = [left + q * CELL[0], top + r * CELL[1]];
      const color = partsOf(shade(value));
      context.fillStyle = `rgb(${color.join(",")})`;
      context.fillRect(x, y, CELL[0] - 1, CELL[1] - 1);
      context.fillStyle = needsWhiteInk(color) ? "#fff" : "#000";
      context.fillText(formatNumber(value), x + CELL[0] / 2, y + CELL[1] / 2, CELL[0] - 4);
    }),
  );
  const middle = (SIDE - 1) / 2;
  context.lineWidth = 2;
  context.strokeStyle = colours.ink;
  context.strokeRect(left + middle * CELL[0] - 0.5, top + middle * CELL[1] - 0.5, CELL[0], CELL[1]);
}
