// Marks over cells: grey where not data, frames where lit; and their words.
import { setAttribute, svgElement } from "../../base/dom.js";
import { cellWords } from "../../rules/tensor_display_names.js";
import { say } from "../../base/board_sentences.js";
import { eachCell } from "../../rules/shapes_and_indices.js";

export const CELL = 40;
export const BANDS = { p: "padding", c: "copy", i: "inserted", r: "remainder" };
// spec.words overrides these.
const ROLE_WORDS = {
  padding: say("cell.padding"),
  copy: say("cell.copy"),
  inserted: say("cell.inserted"),
  ...cellWords(false),
};

/** @typedef {import("./grid_overlay.js").GridSpec} GridSpec */

/** @param {number} row @param {number} column */
export const boxOf = (row, column) => ({ x: column * CELL, y: row * CELL, width: CELL, height: CELL });

/** @param {GridSpec} spec @param {number} row @param {number} column */
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
export const isUnread = (spec, row, column) =>
  spec.unread_rows.includes(row) || spec.unread_columns.includes(column);

/** Its mark stands for the 0. @param {GridSpec} spec @param {number} row @param {number} column */
export const isMarked = (spec, row, column) =>
  /[pir]/.test(spec.rows[row] + spec.columns[column]) || isUnread(spec, row, column);

/** @param {number[]} cells @param {number} width @param {number} side */
export const corners = (cells, width, side) =>
  cells
    .map(
      (index) =>
        `M${(index % width) * CELL + 1} ${Math.floor(index / width) * CELL + 1}h${side}l${-side} ${side}z`,
    )
    .join("");

const WITHIN = 1.5; // a frame and its cells' edge: the panel's own would cut it
// gap at 30 pixels a cell; radius of corners
const [GAP, ROUND] = [1.4, 3.5];
const turn = (/** @type {number} */ x, /** @type {number} */ y) =>
  `a${ROUND} ${ROUND} 0 0 1 ${x * ROUND} ${y * ROUND}`;

/** @param {number} width @param {number} height */
function rounded(width, height) {
  const [across, down] = [width - 2 * ROUND, height - 2 * ROUND].map((side) => side.toFixed(1));
  return `h${across}${turn(1, 1)}v${down}${turn(-1, 1)}h-${across}${turn(-1, -1)}v-${down}${turn(1, -1)}z`;
}

/** A gap takes the right and lower sides only, to be crisp: of inner cells, of the last column, row, and cell. */
const [INNER, LAST_COLUMN, LAST_ROW, LAST] = [CELL - GAP, CELL].flatMap((down) =>
  [CELL - GAP, CELL].map((across) => rounded(across, down)),
);

/** One even-odd path between all cells. @param {number} height @param {number} width */
export function gapsBetween(height, width) {
  const cells = eachCell(height, width, (row, column) => {
    const [inner, last] = row < height - 1 ? [INNER, LAST_COLUMN] : [LAST_ROW, LAST];
    return `M${column * CELL + ROUND} ${row * CELL}${column < width - 1 ? inner : last}`;
  });
  return box(0, 0, width, height) + cells.join("");
}

/**
 * One path a colour over one dark edge; nodes are reused: a weight lights every cell of two panels.
 * @param {SVGElement} lights @param {{ row: number, column: number, color: string, real: boolean }[]} links
 */
export function drawFrames(lights, links) {
  const paths = new Map();
  for (const { row, column, color, real } of links) {
    const key = real ? color : "";
    const inset = 2;
    const [x, y, side] = [column * CELL + inset, row * CELL + inset, CELL - 2 * inset];
    paths.set(key, `${paths.get(key) ?? ""}M${x} ${y}h${side}v${side}h${-side}z`);
  }
  const covered = paths.get("");
  paths.delete("");
  const wanted = [
    ...(paths.size ? [["cv-halo", "", [...paths.values()].join("")]] : []),
    ...[...paths].map(([color, d]) => ["cv-lit", color, d]),
    ...(covered ? [["cv-covered", "", covered]] : []),
  ];
  while (lights.childElementCount > wanted.length) lights.lastElementChild?.remove();
  while (lights.childElementCount < wanted.length) lights.append(svgElement("path"));
  wanted.forEach(([name, stroke, d], index) => {
    const path = /** @type {SVGPathElement} */ (lights.children[index]);
    setAttribute(path, "class", name);
    if (path.style.stroke !== stroke) path.style.stroke = stroke;
    setAttribute(path, "d", d);
  });
}

/**
 * Around rows × columns, within their edges; neighbours have one frame.
 * @param {number[]} rows @param {number[]} columns
 */
export function framesAround(rows, columns) {
  const [down, across] = [rows, columns].map(runsOf);
  return down
    .flatMap(([row, height]) =>
      across.map(([column, width]) => {
        const [high, wide] = [height, width].map((cells) => cells * CELL - 2 * WITHIN);
        return `M${column * CELL + WITHIN} ${row * CELL + WITHIN}h${wide}v${high}h${-wide}z`;
      }),
    )
    .join("");
}

/** Groups adjacent lines into runs: the start and the length of each. @param {number[]} lines */
function runsOf(lines) {
  /** @type {[number, number][]} */
  const runs = [];
  for (const line of [...lines].sort((a, b) => a - b)) {
    const last = runs.at(-1);
    if (last && line === last[0] + last[1]) last[1] += 1;
    else runs.push([line, 1]);
  }
  return runs;
}

/** All but some cells, as an even-odd path. @param {GridSpec} spec @param {Point[]} cells */
export function holesIn(spec, cells) {
  const holes = new Set(cells.map(({ row, column }) => box(column, row, 1, 1)));
  return box(0, 0, spec.columns.length, spec.rows.length) + [...holes].join("");
}

/** One cell a mark. "Unread" is drawn in the corners, beside the number. @param {string} uid */
export function patterns(uid) {
  const mark = (name, ...shapes) =>
    svgElement(
      "pattern",
      { id: `${uid}-${name}`, width: CELL, height: CELL, patternUnits: "userSpaceOnUse" },
      ...shapes,
    );
  const path = (d, name) => svgElement("path", { d, class: name });
  const line = () =>
    ["cv-ink-halo", "cv-ink-line"].flatMap((ink) => [
      path("M0 40L12 28M28 12L40 0", ink),
      path("M12 28L28 12", `${ink} cv-ink-centre`),
    ]);
  const ground = () => path("M0 0h40v40h-40z", "cv-ink-padding");
  return svgElement(
    "defs",
    mark("padding", ground()),
    // a frame: a copy has a number and its colour
    mark("copy", path("M0 0h40v40h-40zM6 6v28h28v-28z", "cv-ink-padding")),
    mark("inserted", svgElement("circle.cv-ink-dot", { cx: CELL / 2, cy: CELL / 2 })),
    mark("remainder", ground(), ...line()),
    mark("unread", ...line()),
  );
}

/** A path a mark: padding, inserted zeros, unread last. @param {GridSpec} spec @param {string} uid */
export function makeBands(spec, uid) {
  const [height, width] = [spec.rows.length, spec.columns.length];
  // Inserted zeros end where padding starts.
  const [top, bottom] = [spec.rows.indexOf("d"), spec.rows.lastIndexOf("d") + 1];
  const [left, right] = [spec.columns.indexOf("d"), spec.columns.lastIndexOf("d") + 1];
  const places = (letters, letter) => {
    const found = [];
    for (let at = letters.indexOf(letter); at >= 0; at = letters.indexOf(letter, at + 1)) found.push(at);
    return found;
  };
  const row = (index, from = 0, to = width) => box(from, index, to - from, 1);
  const column = (index, from = 0, to = height) => box(index, from, 1, to - from);
  const inserted =
    left < 0 || top < 0
      ? []
      : [
          ...places(spec.rows, "i").map((index) => row(index, left, right)),
          ...places(spec.columns, "i").map((index) => column(index, top, bottom)),
        ];
  const whole = (letter) => [
    ...places(spec.rows, letter).map((index) => row(index)),
    ...places(spec.columns, letter).map((index) => column(index)),
  ];
  const unread = [
    ...spec.unread_rows.map((index) => row(index)),
    ...spec.unread_columns.map((index) => column(index)),
  ];
  /** @type {[string, string[]][]} */
  const marks = [
    [BANDS.i, inserted],
    ...["p", "c", "r"].map((letter) => /** @type {[string, string[]]} */ ([BANDS[letter], whole(letter)])),
    ["unread", unread],
  ];
  return marks
    .filter(([, boxes]) => boxes.length)
    .map(([name, boxes]) => {
      const [d, fill] = [boxes.join(""), `url(#${uid}-${name})`];
      return svgElement(`path.cv-band.cv-band-${name}`, { d, fill });
    });
}

/**
 * As part of a path.
 * @param {number} column @param {number} row @param {number} width @param {number} height
 */
export const box = (column, row, width, height) =>
  `M${column * CELL} ${row * CELL}h${width * CELL}v${height * CELL}h${-width * CELL}z`;
