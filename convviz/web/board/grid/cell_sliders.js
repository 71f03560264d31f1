// Each given weight is a slider in its cell: a track at the left edge, filled from zero, and a handle. Four paths
// draw those of a panel; the role and the value are the cells' (accessible_cells.js), the hand is drag_number.js.
import { setAttribute, svgElement } from "../../base/dom.js";
import { CELL } from "./grid_marks.js";
import { weightReach } from "../../rules/edit_cells.js";

/** In a cell of CELL. @typedef {{ left: number, wide: number, top: number, tall: number, knob: Pair, lies?: boolean }} Look lies: along the lower edge */
/** @type {Record<"beside" | "edge", Look>} */
export const LOOKS = {
  beside: { left: 3.2, wide: 2, top: 5, tall: 30, knob: [4, 4] },
  // The number has the cell; at its left the mark would be read as its sign, at its right as the next one's.
  edge: { left: 35.8, wide: 2.8, top: 0, tall: 38.6, knob: [2.8, 5], lies: true },
};

/** What a slider takes of a cell's width, at each side: the number stays in the middle. */
export const SLIDER_SHARE = (LOOKS.beside.left + (LOOKS.beside.wide + LOOKS.beside.knob[0]) / 2) / CELL;

/** @param {number} x @param {number} y @param {number} width @param {number} height */
const bar = (x, y, width, height) =>
  `M${short(x)} ${short(y)}h${short(width)}v${short(height)}h${short(-width)}z`;
/** @param {number} value */
const short = (value) => Number(value.toFixed(2));

/**
 * Paths of the tracks, fills, zeros and knobs. One scale for all: zero is at the bottom, or in the middle where a
 * weight is negative.
 * @param {number[]} values @param {number} columns @param {Look} look
 */
export function pathsOf(values, columns, { left, wide, top, tall, knob, lies }) {
  const reach = weightReach(values);
  const least = values.some((value) => value < 0) ? -reach : 0;
  const paths = ["", "", "", ""];
  values.forEach((value, index) => {
    const [column, row] = [(index % columns) * CELL, Math.floor(index / columns) * CELL];
    const [x, y] = [column + left, row + top];
    /** @type {typeof bar} */
    const part = (across, down, width, height) =>
      lies
        ? bar(column + row + tall - down - height, row - column + across, height, width)
        : bar(across, down, width, height);
    /** @param {number} number */
    const down = (number) => y + (1 - (number - least) / (reach - least)) * tall;
    paths[0] += part(x, y, wide, tall);
    if (least < 0) paths[2] += part(x - 0.9, down(0) - 0.5, wide + 1.8, 1);
    if (!Number.isFinite(value)) return; // it overflowed: nowhere on the track
    const [upper, lower] = [down(Math.max(value, 0)), down(Math.min(value, 0))];
    paths[1] += part(x, upper, wide, lower - upper);
    const at = Math.min(Math.max(down(value) - knob[1] / 2, y), y + tall - knob[1]);
    paths[3] += part(x + (wide - knob[0]) / 2, at, ...knob);
  });
  return paths;
}

export class CellSliders {
  #paths = ["track", "fill", "zero", "knob"].map((part) => svgElement(`path.cv-slide-${part}`));
  el = svgElement("g.cv-slides", { "aria-hidden": "true" }, ...this.#paths);
  /** @type {Look | undefined} */
  #look;
  /** @type {number[]} */
  #values = [];
  #columns = 1;

  /** Beside the numbers, at the edge of their cells, or not at all. @param {"beside" | "edge" | ""} where */
  show(where) {
    const look = where ? LOOKS[where] : undefined;
    if (look === this.#look) return;
    this.#look = look;
    this.#draw();
  }

  /** @param {ArrayLike<number>} values @param {number} columns */
  set(values, columns) {
    [this.#values, this.#columns] = [Array.from(values), columns];
    this.#draw();
  }

  #draw() {
    const drawn = this.#look ? pathsOf(this.#values, this.#columns, this.#look) : [];
    this.#paths.forEach((path, part) => setAttribute(path, "d", drawn[part] ?? ""));
  }
}
