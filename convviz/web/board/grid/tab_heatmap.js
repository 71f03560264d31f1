// A heatmap in a pane: the board's grid over a canvas; without plotly, so that it is there at once.
import { element, setText } from "../../base/dom.js";
import { paneDigitSize, setDigits } from "./digit_size.js";
import { Grid } from "./grid_overlay.js";
import { isGradient, quantityOf } from "../../picture/colour_scales.js";
import { createCanvasColours } from "./canvas_cell_colours.js";
import { say } from "../../base/board_sentences.js";

let made = 0;

/**
 * @typedef {{ values: number[][], label: string, shape?: string, limit?: number, dtype?: string, rows?:
 *   string, columns?: string, within?: [side: number, least: number, most: number], cell?: number, height?:
 *   number, numbers?: boolean, editable?: boolean, colors?: Scale, of?: string }} HeatmapData rows, columns:
 *   letters as in picture/cell_kinds.js; limit: end of the scale, else the largest; within: pixels of the
 *   longer side, least and most of a cell; cell: its side; height: if not square; numbers: whether to write
 *   them; of: a label of the tensor whose colours it has, if its own begins with none
 * @typedef {Omit<import("./grid_overlay.js").GridEvents, "onFocus"> & { onPoint?: AtCell, numbersUpTo?:
 *   number }} HeatmapEvents
 */

const ROOM_FOR_NUMBER = 22; // pixels

/** @param {string} text */
const firstName = (text) => text.match(/^\w+/)?.[0] ?? "";

export class Heatmap {
  grid;
  #pixels = createCanvasColours();
  #name = element("span.cv-name");
  #shape = element("span.cv-shape");
  #area;
  el;
  #pane;

  /** @param {{ uid: string, scale: ScaleOf }} pane @param {HeatmapEvents} [events] */
  constructor(pane, { onPoint: onFocus, numbersUpTo, ...others } = {}) {
    this.#pane = pane;
    this.grid = new Grid(`cv${pane.uid}-${made++}`, { onFocus, ...others }, numbersUpTo);
    this.#area = element("div.cv-area", this.#pixels.el, this.grid.svg);
    this.el = element("figure.cv-panel", element("figcaption", this.#name, this.#shape), this.#area);
  }

  /** @param {HeatmapData} data */
  #dress({ label, of = label, colors }) {
    const quantity = quantityOf(firstName(of)) ?? "";
    this.el.dataset.quantity = quantity;
    this.el.toggleAttribute("data-strong", isGradient(firstName(label)));
    return colors ?? this.#pane.scale(quantity || "other");
  }

  /** @param {HeatmapData} data */
  set(data) {
    const { values, label } = data;
    const [height, width] = [values.length, values[0].length];
    const sizes = values.flat().filter(Number.isFinite).map(Math.abs);
    const limit = data.limit || Math.max(...sizes, 0) || 1;
    const scale = this.#dress(data);
    setText(this.#name, label);
    setText(this.#shape, data.shape ?? `[${height}, ${width}]`);
    this.el.setAttribute(
      "aria-label",
      say("panel.shape", { name: label, shape: this.#shape.textContent ?? "" }),
    );
    const [most, smallest, largest] = data.within ?? [340, 6, 36];
    const fitted = Math.max(smallest, Math.min(largest, Math.floor(most / Math.max(height, width))));
    const cell = data.cell ?? fitted;
    const side = { width: cell, height: data.height ?? cell };
    Object.assign(this.#area.style, {
      width: `${side.width * width}px`,
      height: `${side.height * height}px`,
    });
    this.grid.setSpec({
      rows: data.rows ?? "d".repeat(height),
      columns: data.columns ?? "d".repeat(width),
      unread_rows: [],
      unread_columns: [],
      label,
      editable: data.editable ?? false,
      numbers: data.within ? cell >= ROOM_FOR_NUMBER : data.numbers,
    });
    this.grid.setValues(values.flat(), data.dtype ?? "float64", scale, limit);
    const letters = paneDigitSize(this.grid.widest(), side);
    this.grid.print(letters > 0);
    if (letters) setDigits(this.grid, letters, side);
    this.#pixels.paint(values.flat(), width, limit, scale);
  }

  /** @param {Point[]} cells */
  light = (cells) =>
    this.grid.light(cells.map((cell) => ({ ...cell, color: "var(--cv-accent)", real: true })));
}
