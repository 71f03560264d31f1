// @ts-check
// A heatmap in a pane: the board's grid of numbers over colours on a canvas. Plotly stays with the board: what a tab
// shows is small, and must be there at once.
import WORDS from "../../../facts/words/board.json" with { type: "json" };
import { element, setText } from "../base/dom.js";
import { paneDigitSize, setDigits } from "./digits.js";
import { Grid } from "./grid.js";
import { isGradient, quantityOf } from "../picture/scales.js";
import { createPixels } from "./pixels.js";
import { sentences } from "../base/words.js";

const say = sentences(WORDS);
const NOTHING = () => {};
let made = 0;

/**
 * `rows` and `columns` hold a letter each, as in the board: d data, p padding, i inserted zero, r remainder.
 * @typedef {{ values: number[][], label: string, shape?: string, limit?: number, dtype?: string, rows?: string,
 *   columns?: string, cell?: number, height?: number, numbers?: boolean, editable?: boolean,
 *   colors?: [number, string][] }} HeatmapData
 *   `limit`: the value at the end of the scale, else the largest; `cell`: the side of a cell in pixels, `height`: where
 *   it is not as high as wide; `numbers`: whether to write them, where the count of cells does not tell it
 * @typedef {{ onPoint?: (row: number, column: number) => void, onLeave?: () => void,
 *   onSelect?: (row: number, column: number) => void, onEdit?: (row: number, column: number, typed: string) => void,
 *   numbersUpTo?: number }} HeatmapEvents
 */

/** @param {{ uid: string, scale: () => [number, string][] }} pane @param {HeatmapEvents} [events] */
export function createHeatmap(pane, events = {}) {
  const grid = new Grid(
    `cv${pane.uid}-${made++}`,
    {
      onFocus: events.onPoint ?? NOTHING,
      onLeave: events.onLeave ?? NOTHING,
      onSelect: events.onSelect ?? NOTHING,
      onEdit: events.onEdit ?? NOTHING,
      onMenu: NOTHING,
      onRelease: NOTHING,
    },
    events.numbersUpTo,
  );
  const pixels = createPixels();
  const name = element("span", { class: "cv-name" });
  const shape = element("span", { class: "cv-shape" });
  const area = element("div", { class: "cv-area" }, pixels.el, grid.svg);
  const el = element("figure", { class: "cv-panel" }, element("figcaption", {}, name, shape), area);

  return {
    el,
    grid,
    /** @param {HeatmapData} data */
    set(data) {
      const { values, label } = data;
      const [height, width] = [values.length, values[0].length];
      const sizes = values.flat().filter(Number.isFinite).map(Math.abs);
      const limit = data.limit || Math.max(...sizes, 0) || 1;
      const scale = data.colors ?? pane.scale();
      setText(name, label);
      const called = label.match(/^\w+/)?.[0] ?? "";
      el.dataset.quantity = quantityOf(called) ?? "";
      el.toggleAttribute("data-strong", isGradient(called));
      setText(shape, data.shape ?? `[${height}, ${width}]`);
      el.setAttribute("aria-label", say("panel.shape", { name: label, shape: shape.textContent ?? "" }));
      const cell = data.cell ?? Math.max(6, Math.min(36, Math.floor(340 / Math.max(height, width))));
      const side = { width: cell, height: data.height ?? cell };
      Object.assign(area.style, { width: `${side.width * width}px`, height: `${side.height * height}px` });
      grid.setSpec({
        rows: data.rows ?? "d".repeat(height),
        columns: data.columns ?? "d".repeat(width),
        unread_rows: [],
        unread_columns: [],
        label,
        editable: data.editable ?? false,
        numbers: data.numbers,
      });
      grid.setValues(values.flat(), data.dtype ?? "float32", scale, limit);
      const letters = paneDigitSize(grid.widest(), side);
      grid.print(letters > 0);
      if (letters) setDigits(area, letters, side);
      pixels.paint(values.flat(), width, limit, scale);
    },
    /** Light cells up. @param {{ row: number, column: number }[]} cells */
    light: (cells) => grid.light(cells.map((cell) => ({ ...cell, color: "var(--cv-accent)", real: true }))),
  };
}
