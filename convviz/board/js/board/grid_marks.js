// @ts-check
// What lies over the cells of a grid: hatching for what is not data, frames for what is lit; and its words.
import WORDS from "../../../facts/words/board.json" with { type: "json" };
import { svgElement } from "../base/dom.js";
import { cellWords } from "../rules/names.js";
import { sentences } from "../base/words.js";

const say = sentences(WORDS);

export const CELL = 40;
export const BANDS = { p: "padding", i: "inserted", r: "remainder" };
// A transposed convolution says some of it in other words: spec.words.
const ROLE_WORDS = { padding: say("cell.padding"), inserted: say("cell.inserted"), ...cellWords(false) };

/** @typedef {import("./grid.js").GridSpec} GridSpec */

/**
 * What a cell is, in words; empty for data.
 * @param {GridSpec} spec @param {number} row @param {number} column
 */
export function roleOf(spec, row, column) {
  const words = [];
  const named = { ...ROLE_WORDS, ...spec.words };
  const letters = [spec.rows[row], spec.columns[column]];
  for (const letter of ["p", "r", "i"]) {
    if (letters.includes(letter)) {
      words.push(named[BANDS[letter]]);
      break;
    }
  }
  if (spec.unread_rows.includes(row) || spec.unread_columns.includes(column)) words.push(named.unread);
  return words.length > 1 ? say("cell.both", { one: words[0], other: words[1] }) : words.join("");
}

/**
 * One path a colour, not a shape a cell: a weight can light up every cell of two panels.
 * @param {{ row: number, column: number, color: string, real: boolean }[]} links
 */
export function frames(links) {
  const paths = new Map();
  for (const { row, column, color, real } of links) {
    const key = real ? color : "";
    const inset = 2;
    const [x, y, side] = [column * CELL + inset, row * CELL + inset, CELL - 2 * inset];
    paths.set(key, `${paths.get(key) ?? ""}M${x} ${y}h${side}v${side}h${-side}z`);
  }
  return [...paths].flatMap(([color, d]) =>
    color
      ? [svgElement("path", { d, class: "cv-halo" }), svgElement("path", { d, class: "cv-lit", style: `stroke: ${color}` })]
      : [svgElement("path", { d, class: "cv-covered" })],
  );
}

/**
 * The whole of a grid without some of its cells, as a path to be filled by the even-odd rule.
 * @param {GridSpec} spec @param {{ row: number, column: number }[]} cells
 */
export function holesIn(spec, cells) {
  const holes = new Set(cells.map(({ row, column }) => `M${column * CELL} ${row * CELL}h${CELL}v${CELL}h${-CELL}z`));
  return `M0 0h${spec.columns.length * CELL}v${spec.rows.length * CELL}h${-spec.columns.length * CELL}z${[...holes].join("")}`;
}

/** @param {string} uid */
export function patterns(uid) {
  const line = (name, side, ...shapes) =>
    svgElement("pattern", { id: `${uid}-${name}`, width: side, height: side, patternUnits: "userSpaceOnUse" }, ...shapes);
  const path = (d, name) => svgElement("path", { d, class: `cv-ink-${name}` });
  return svgElement(
    "defs",
    {},
    line("padding", 10, path("M2 2h1.6v1.6h-1.6zM7 7h1.6v1.6h-1.6z", "padding")),
    line("inserted", CELL, path("M0 0h9L0 9z", "inserted")), // a corner, no tint: tints are values
    line("remainder", 10, path("M2 2h1.6v1.6h-1.6zM7 7h1.6v1.6h-1.6z M0 10L10 0", "remainder")),
    line("unread", 10, path("M-2 2L2 -2M0 10L10 0M8 12L12 8", "unread")),
  );
}

/**
 * Bands over whole rows and columns, drawn once: padding first, then inserted zeros, then what is never read.
 * @param {GridSpec} spec @param {string} uid
 */
export function makeBands(spec, uid) {
  const [height, width] = [spec.rows.length, spec.columns.length];
  const row = (index, name) => band(0, index, width, 1, name, uid);
  const column = (index, name) => band(index, 0, 1, height, name, uid);
  const shapes = [];
  // Zeros are inserted between data only, so their bands end where the padding starts.
  const [top, bottom] = [spec.rows.indexOf("d"), spec.rows.lastIndexOf("d") + 1];
  const [left, right] = [spec.columns.indexOf("d"), spec.columns.lastIndexOf("d") + 1];
  [...spec.rows].forEach((own, index) => {
    if (own === "i" && left >= 0) shapes.push(band(left, index, right - left, 1, BANDS.i, uid));
  });
  [...spec.columns].forEach((own, index) => {
    if (own === "i" && top >= 0) shapes.push(band(index, top, 1, bottom - top, BANDS.i, uid));
  });
  for (const letter of ["p", "r"]) {
    [...spec.rows].forEach((own, index) => own === letter && shapes.push(row(index, BANDS[letter])));
    [...spec.columns].forEach((own, index) => own === letter && shapes.push(column(index, BANDS[letter])));
  }
  spec.unread_rows.forEach((index) => shapes.push(row(index, "unread")));
  spec.unread_columns.forEach((index) => shapes.push(column(index, "unread")));
  return shapes;
}

function band(column, row, width, height, name, uid) {
  return svgElement("rect", {
    class: `cv-band cv-band-${name}`,
    x: column * CELL,
    y: row * CELL,
    width: width * CELL,
    height: height * CELL,
    fill: `url(#${uid}-${name})`,
  });
}
