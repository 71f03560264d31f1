// @ts-check
// What lies over the cells of a grid: grey for what is not data, frames for what is lit; and its words.
import WORDS from "../../../facts/words/board.json" with { type: "json" };
import { svgElement } from "../base/dom.js";
import { cellWords } from "../rules/names.js";
import { sentences } from "../base/words.js";

const say = sentences(WORDS);

export const CELL = 40;
export const BANDS = { p: "padding", c: "copy", i: "inserted", r: "remainder" };
// A transposed convolution says some of it in other words: spec.words.
const ROLE_WORDS = { padding: say("cell.padding"), copy: say("cell.copy"), inserted: say("cell.inserted"), ...cellWords(false) };

/** @typedef {import("./grid.js").GridSpec} GridSpec */

/**
 * What a cell is, in words; empty for data.
 * @param {GridSpec} spec @param {number} row @param {number} column
 */
export function roleOf(spec, row, column) {
  const words = [];
  const named = { ...ROLE_WORDS, ...spec.words };
  const letters = [spec.rows[row], spec.columns[column]];
  for (const letter of ["p", "c", "r", "i"]) {
    if (letters.includes(letter)) {
      words.push(named[BANDS[letter]]);
      break;
    }
  }
  if (isUnread(spec, row, column)) words.push(named.unread);
  return words.length > 1 ? say("cell.both", { one: words[0], other: words[1] }) : words.join("");
}

/** @param {GridSpec} spec @param {number} row @param {number} column */
export const isUnread = (spec, row, column) => spec.unread_rows.includes(row) || spec.unread_columns.includes(column);

/** Whether a mark says what a cell is, so that its 0 need not be printed. @param {GridSpec} spec @param {number} row @param {number} column */
export const isMarked = (spec, row, column) => /[pir]/.test(spec.rows[row] + spec.columns[column]) || isUnread(spec, row, column);

/** A corner of each of these cells, as one path. @param {number[]} cells by their places in reading order @param {number} width of the grid @param {number} side */
export const corners = (cells, width, side) =>
  cells.map((index) => `M${(index % width) * CELL + 1} ${Math.floor(index / width) * CELL + 1}h${side}l${-side} ${side}z`).join("");

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

/** One cell of each mark. Over a number the line of what is never read is drawn in the corners alone. @param {string} uid */
export function patterns(uid) {
  const mark = (name, ...shapes) =>
    svgElement("pattern", { id: `${uid}-${name}`, width: CELL, height: CELL, patternUnits: "userSpaceOnUse" }, ...shapes);
  const path = (d, name) => svgElement("path", { d, class: name });
  const line = () => ["cv-ink-halo", "cv-ink-line"].flatMap((ink) => [path("M0 40L12 28M28 12L40 0", ink), path("M12 28L28 12", `${ink} cv-ink-centre`)]);
  const ground = () => path("M0 0h40v40h-40z", "cv-ink-padding");
  return svgElement(
    "defs",
    {},
    mark("padding", ground()),
    mark("copy", path("M0 0h40v40h-40zM6 6v28h28v-28z", "cv-ink-padding")), // a frame: a copy has a number and its colour
    mark("inserted", svgElement("circle", { cx: CELL / 2, cy: CELL / 2, class: "cv-ink-dot" })),
    mark("remainder", ground(), ...line()),
    mark("unread", ...line()),
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
  for (const letter of ["p", "c", "r"]) {
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
