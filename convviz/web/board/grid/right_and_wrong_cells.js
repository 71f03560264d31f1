// Broken results over a heatmap: wrong cells are split, right above the diagonal, wrong bold below. Another
// shape keeps its shape; a plane made with the mistake replaces the right one.
import { svgElement } from "../../base/dom.js";
import { colorOf, formatNumber, inked } from "../../base/format.js";
import { sayBreakIt } from "../../rules/break_it_sentences.js";
import { CELL } from "./grid_marks.js";
import { eachCell } from "../../rules/shapes_and_indices.js";

const NONE = "–"; // no number

/**
 * @import { Numbers } from "../../base/format.js"
 * @typedef {{ values: Numbers, rows: number, columns: number, limit: number, scale: Scale }} RightPlane
 * @typedef {{ row: number, column: number, right: number | null, wrong: number | null }} SplitCell null: no
 *   such cell
 */

/**
 * Wrong or missing cells; where drawn smaller, all.
 * @param {RightPlane} right @param {WrongPlane} wrong @returns {SplitCell[]}
 */
export function splitCells(right, wrong) {
  const { isLarger, top, left, rows, columns } = extentOf(right, wrong);
  const [down, across] = wrong.from ?? [0, 0];
  return eachCell(rows, columns, (below, beside) => {
    const [row, column] = [top + below, left + beside];
    const [belongs, comes] = [placeIn(right, row, column), placeIn(wrong, row - down, column - across)];
    return { row, column, belongs, comes, isWrong: comes < 0 || wrong.wrong[comes] };
  })
    .filter(({ belongs, comes, isWrong }) => (isWrong || isLarger) && Math.max(belongs, comes) >= 0)
    .map(({ row, column, belongs, comes }) => ({
      row,
      column,
      right: belongs < 0 ? null : right.values[belongs],
      wrong: comes < 0 ? null : wrong.values[comes],
    }));
}

/**
 * Returns -1 where the plane has no such cell.
 * @param {{ rows: number, columns: number }} plane @param {number} row @param {number} column
 */
const placeIn = ({ rows, columns }, row, column) =>
  row >= 0 && column >= 0 && row < rows && column < columns ? row * columns + column : -1;

/** The box around both planes. @param {{ rows: number, columns: number }} right @param {WrongPlane} wrong */
function extentOf(right, { rows, columns, from: [down, across] = [0, 0] }) {
  const [top, left] = [Math.min(0, down), Math.min(0, across)];
  const all = {
    rows: Math.max(right.rows, down + rows) - top,
    columns: Math.max(right.columns, across + columns) - left,
  };
  return { ...all, top, left, isLarger: all.rows > right.rows || all.columns > right.columns };
}

/** @param {SplitCell} cell */
const isRight = ({ right, wrong }) =>
  right !== null && wrong !== null && formatNumber(right) === formatNumber(wrong);

/** @param {SplitCell} cell */
function cellWords({ right, wrong }) {
  const printed = right === null ? NONE : formatNumber(right);
  return wrong === null
    ? sayBreakIt("cell.missing", { right: printed })
    : sayBreakIt("cell.wrong", { right: printed, wrong: formatNumber(wrong) });
}

export class Splits {
  el = svgElement("g.cv-splits", { "aria-hidden": "true" });
  /** @type {Map<string, SplitCell>} by "row,column" */
  #cells = new Map();
  #drawn = "";
  #svg;

  /** @param {SVGElement} svg */
  constructor(svg) {
    this.#svg = svg;
  }

  /** For screen readers; a cell to be predicted keeps its name. */
  #nameCells() {
    for (const box of this.#svg.querySelectorAll(".cv-cell:not(.cv-asked)")) {
      const cell = this.#cells.get(box.getAttribute("data-cell") ?? "");
      if (cell) box.setAttribute("aria-label", cellWords(cell));
      else if (box.hasAttribute("data-split"))
        box.setAttribute("aria-label", formatNumber(Number(box.getAttribute("data-value"))));
      box.toggleAttribute("data-split", Boolean(cell));
    }
  }

  /**
   * Describes a wrong or missing cell. Returns an empty text for a right one, and while a number is to be predicted.
   * @param {string} name @param {number} row @param {number} column
   */
  describe(name, row, column) {
    const cell = this.#cells.get(`${row},${column}`);
    return cell && !this.#svg.querySelector(".cv-asked")
      ? sayBreakIt("cell", { name, row, column, split: cellWords(cell) })
      : "";
  }

  /**
   * Returns the words that follow a right sum; they are empty where the cell is right.
   * @param {number} row @param {number} column
   */
  after(row, column) {
    const cell = this.#cells.get(`${row},${column}`);
    if (!cell) return "";
    return cell.wrong === null
      ? sayBreakIt("sum.missing")
      : sayBreakIt("sum.wrong", { wrong: formatNumber(cell.wrong) });
  }

  /** @param {RightPlane} right @param {WrongPlane | null} wrong */
  show(right, wrong) {
    if (!wrong && !this.#cells.size) return;
    const { rows, columns } = right;
    const list = wrong ? splitCells(right, wrong) : [];
    this.#cells = new Map(
      list.filter((cell) => !isRight(cell)).map((cell) => [`${cell.row},${cell.column}`, cell]),
    );
    this.#nameCells();
    raiseLights(this.#svg, list.length > 0);
    const key = JSON.stringify([list, right.limit, right.scale, rows, columns]);
    if (key === this.#drawn) return;
    this.#drawn = key;
    if (wrong) draw(this.el, list, right, wrong);
    else this.el.replaceChildren();
  }
}

/** @param {SVGElement} el @param {SplitCell[]} list @param {RightPlane} right @param {WrongPlane} wrong */
function draw(el, list, right, wrong) {
  const { rows, columns, top, left, isLarger } = extentOf(right, wrong);
  const size = Math.min(right.rows / rows, right.columns / columns);
  el.setAttribute("transform", `scale(${size}) translate(${-left * CELL} ${-top * CELL})`);
  const ground = svgElement("rect.cv-split-ground", {
    x: left * CELL,
    y: top * CELL,
    width: (right.columns * CELL) / size,
    height: (right.rows * CELL) / size,
  });
  const isWhole = Boolean(wrong.from);
  const cells = isWhole ? list.filter((cell) => cell.wrong !== null) : list;
  el.replaceChildren(
    ...(isLarger || isWhole ? [ground] : []),
    ...cells.map((cell) => createSplit(cell, right, isWhole)),
  );
}

/**
 * Frames of linked cells lie over splits, else under numbers.
 * @param {SVGElement} svg @param {boolean} over
 */
function raiseLights(svg, over) {
  const [lights, next] = [".cv-lights", over ? ".cv-dim" : ".cv-gaps"].map((name) => svg.querySelector(name));
  if (lights && next && lights.nextElementSibling !== next) next.before(lights);
}

/** @param {number | null} value null: no such cell @param {RightPlane} plane */
function inkOf(value, { scale, limit }) {
  if (value === null) return { fill: "var(--cv-paper)", ink: "var(--cv-ink)" };
  return inked(colorOf(scale, Number.isFinite(value) ? value : 0, limit));
}

/**
 * @param {string} kind @param {number} x @param {number} y
 * @param {number | null} value @param {string} ink
 */
function writtenAt(kind, x, y, value, ink) {
  const printed = value === null ? NONE : formatNumber(value);
  const long = printed.length > 3 ? ".cv-split-long" : "";
  return svgElement(`text.cv-split-${kind}${long}`, { x, y, style: `fill: ${ink}` }, printed);
}

/** @param {SplitCell} cell @param {RightPlane} plane @param {boolean} isAlone */
function createSplit(cell, plane, isAlone) {
  const { row, column, right, wrong } = cell;
  const [above, below] = [inkOf(right, plane), inkOf(wrong, plane)];
  const side = svgElement("rect", { width: CELL, height: CELL, style: `fill: ${below.fill}` });
  const parts =
    isAlone || isRight(cell)
      ? [writtenAt("alone.cv-split-right", CELL / 2, CELL / 2, wrong, below.ink)]
      : [
          svgElement("path", { d: `M0 0H${CELL}L0 ${CELL}z`, style: `fill: ${above.fill}` }),
          svgElement("path.cv-split-cut", { d: `M${CELL} 0L0 ${CELL}` }),
          writtenAt("right", 3, 11, right, above.ink),
          writtenAt("wrong", CELL - 3, CELL - 11, wrong, below.ink),
        ];
  return svgElement("g.cv-split", { transform: `translate(${column * CELL} ${row * CELL})` }, side, ...parts);
}
