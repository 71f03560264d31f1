// Films over finished panels: the kernel turns, zeros open, the border grows, products fly into their sum.
import { element, svgElement } from "../../base/dom.js";
import { formatNumber } from "../../base/format.js";
import { LONGEST_MS, Motion } from "../../base/motion.js";
import { writeLike } from "../grid/digit_size.js";
import { CELL, box } from "../grid/grid_marks.js";
import { eachCell } from "../../rules/shapes_and_indices.js";

const MAX_CELLS = 150; // moved one by one
const MAX_PRODUCTS = 25;

/**
 * @import { Grid } from "../grid/grid_overlay.js"
 * @typedef {{ from: Place, to: Place, value: number }} Flight
 * @typedef {{ top: number, left: number, height: number, width: number }} Block of cells
 */

/** By how many cells each place would move without gaps between data. @param {string} letters */
function spread(letters) {
  const data = [...letters].flatMap((letter, at) => (letter === "d" ? [at] : []));
  const first = (data[0] + data[data.length - 1] - data.length + 1) / 2;
  return [...letters].map((_, at) => first + data.indexOf(at) - at);
}

/**
 * Creates a sheet that covers a block of cells.
 * @param {number} x @param {number} y @param {number} width @param {number} height
 */
const sheet = (x, y, width, height) =>
  svgElement("rect.cv-sheet", { x: x * CELL, y: y * CELL, width: width * CELL, height: height * CELL });

/** @param {Grid} grid */
function createLayer(grid) {
  const layer = svgElement("g.cv-film", { "aria-hidden": "true" });
  writeLike(layer, grid);
  return layer;
}

/** @param {string} from */
const moved = (from, to = "none") => [{ transform: from }, { transform: to }];

/** @param {Motion} motion @param {Panel} panel */
function turn(motion, { grid, spec }) {
  const [rows, columns] = [spec().rows.length, spec().columns.length];
  const block = svgElement("g.cv-turning", {}, ...eachCell(rows, columns, grid.copy));
  const whole = createLayer(grid);
  whole.append(sheet(0, 0, columns, rows), block);
  const letters = [...block.querySelectorAll("text")].map((node) => ({
    node,
    frames: moved("rotate(180deg)", "rotate(0deg)"),
  }));
  motion.play(grid.svg, whole, [
    { node: block, frames: moved("rotate(-180deg)", "rotate(0deg)") },
    ...letters,
  ]);
}

/** Zeros open, then the border grows. @param {Motion} motion @param {Panel} panel */
function open(motion, { grid, spec }) {
  const { rows, columns } = spec();
  const [top, left] = [rows.indexOf("d"), columns.indexOf("d")];
  const [height, width] = [rows.lastIndexOf("d") + 1 - top, columns.lastIndexOf("d") + 1 - left];
  if (top < 0 || left < 0) return;
  const whole = createLayer(grid);
  const data = { top, left, height, width };
  const opens = /d.*i/.test(rows) || /d.*i/.test(columns);
  const parts = opens ? openZeros(grid, spec(), whole, data) : [];
  if (height < rows.length || width < columns.length)
    parts.push(...growBorder(spec(), whole, data, opens ? LONGEST_MS : 0));
  if (parts.length) motion.play(grid.svg, whole, parts);
}

/** @param {Grid} grid @param {PanelSpec} spec @param {SVGElement} whole @param {Block} data */
function openZeros(grid, { rows, columns }, whole, { top, left, height, width }) {
  const [down, across] = [spread(rows), spread(columns)];
  const zeros = svgElement("g"); // as one group: faster
  whole.append(sheet(left, top, width, height), zeros);
  /** @type {Parameters<Motion["play"]>[2]} */
  const parts = [{ node: zeros, frames: [{ opacity: 0 }, { opacity: 0, offset: 0.4 }, { opacity: 1 }] }];
  for (let row = top; row < top + height; row++) {
    for (let column = left; column < left + width; column++) {
      const node = grid.copy(row, column);
      const isData = rows[row] === "d" && columns[column] === "d";
      (isData ? whole : zeros).append(node);
      const frames = moved(`translate(${across[column] * CELL}px, ${down[row] * CELL}px)`);
      if (isData) parts.push({ node, frames });
    }
  }
  return parts;
}

/** @param {PanelSpec} spec @param {SVGElement} whole @param {Block} data @param {number} delay */
function growBorder({ rows, columns }, whole, { top, left, height, width }, delay) {
  const [down, right] = [rows.length, columns.length];
  const d = box(0, 0, right, down) + box(left, top, width, height);
  const border = svgElement("path.cv-sheet", { "fill-rule": "evenodd", d });
  const edge = svgElement("rect.cv-edge", { width: right * CELL, height: down * CELL });
  const small = `translate(${left * CELL}px, ${top * CELL}px) scale(${width / right}, ${height / down})`;
  whole.append(border, edge);
  return [
    { node: border, delay, frames: [{ opacity: 1 }, { opacity: 0 }] },
    { node: edge, delay, frames: moved(small) },
  ];
}

/**
 * The colours of the cell that a number flies to, and so its sign.
 * @param {HTMLElement} node @param {ReturnType<Grid["dye"]>} dye
 */
export function wear(node, { fill, ink }) {
  Object.assign(node.style, { background: fill, color: ink });
}

export class Animations {
  #motion = new Motion();
  /** @param {string} name */
  #panelOf = (name) =>
    /** @type {Panel} */ ([...this.#panels.values()].find((panel) => panel.spec().name === name));
  finish = () => this.#motion.finish();
  /** @param {number} ms */
  may = this.#motion.may;
  #stage;
  #panels;

  /** @param {HTMLElement} stage @param {Map<string, Panel>} panels */
  constructor(stage, panels) {
    [this.#stage, this.#panels] = [stage, panels];
  }

  /** @param {DOMRect} frame @param {Place} place */
  #centreOf(frame, { panel, row, column }) {
    const { area, spec } = this.#panelOf(panel);
    const box = area.getBoundingClientRect();
    const [rows, columns] = [spec().rows.length, spec().columns.length];
    return {
      x: box.left - frame.left + ((column + 0.5) * box.width) / columns,
      y: box.top - frame.top + ((row + 0.5) * box.height) / rows,
      cell: box.width / columns,
    };
  }

  /** Animates how the panels were made. Returns false where nothing moves. */
  making() {
    this.#motion.finish();
    if (!this.#motion.may()) return false;
    for (const panel of this.#panels.values()) {
      const { name, rows, columns } = panel.spec();
      if (!panel.grid.numbered() || rows.length * columns.length > MAX_CELLS) continue;
      if (name === "rotated_weight") turn(this.#motion, panel);
      else if (/[^d]/.test(rows + columns)) open(this.#motion, panel);
    }
    return this.#stage.querySelector(".cv-film") !== null;
  }

  /** @param {Flight[]} flights @param {number} ms */
  fly(flights, ms) {
    if (!this.#motion.may(ms) || !flights.length || flights.length > MAX_PRODUCTS) return;
    const frame = this.#stage.getBoundingClientRect();
    if (!frame.width) return;
    const ways = flights.map(({ from, to }) => [this.#centreOf(frame, from), this.#centreOf(frame, to)]);
    const whole = element("div.cv-flights", {
      "aria-hidden": "true",
      style: `font-size: ${Math.max(11, ways[0][1].cell * 0.4)}px`,
    });
    const parts = flights.map(({ value }, index) => {
      const [from, to] = ways[index].map(({ x, y }) => `translate(${x}px, ${y}px) translate(-50%, -50%)`);
      const node = element("span", formatNumber(value));
      wear(node, this.#panelOf(flights[index].to.panel).grid.dye(value));
      whole.append(node);
      return {
        node,
        ms,
        frames: [
          { transform: from, opacity: 0 },
          { transform: from, opacity: 1, offset: 0.2 },
          { transform: to, opacity: 1, offset: 0.85 },
          { transform: to, opacity: 0 },
        ],
      };
    });
    this.#motion.play(this.#stage, whole, parts);
  }

  /**
   * @param {string} name @param {{ row: number, column: number, rows: number, columns: number }} span
   * @param {number} ms
   */
  fill(name, { row, column, rows, columns }, ms) {
    if (!this.#motion.may(ms)) return;
    const { grid } = this.#panelOf(name);
    const whole = createLayer(grid);
    const node = sheet(column, row, columns, rows);
    whole.append(node);
    this.#motion.play(grid.svg, whole, [
      { node, ms, frames: [{ opacity: 1 }, { opacity: 1, offset: 0.6 }, { opacity: 0 }] },
    ]);
  }
}
