// The outline of a mask and its area as paths, in cells.

/** @typedef {{ box: [number, number, number, number] | null, fill: Path2D | null, lines: Path2D | null }} Outline box: x, y, width and height where the mask is a rectangle; else paths */

/** @type {WeakMap<Uint8Array, Outline>} */
const known = new WeakMap();

/**
 * @param {Uint8Array} mask @param {Pair} size @param {[number, number, number, number]} place x, y and the sides of a cell
 * @param {Path2D} fill gets the area @param {Path2D} lines get the outline
 */
export function drawOutline(mask, size, [x, y, across, down], fill, lines) {
  const outline = outlineOf(mask, size);
  if (outline.box) {
    const [left, top, width, height] = outline.box;
    for (const path of [fill, lines])
      path.rect(x + left * across, y + top * down, width * across, height * down);
    return;
  }
  const place = new DOMMatrix([across, 0, 0, down, x, y]);
  if (outline.fill) fill.addPath(outline.fill, place);
  if (outline.lines) lines.addPath(outline.lines, place);
}

/** @param {Uint8Array} mask @param {Pair} size @returns {Outline} */
function outlineOf(mask, size) {
  const found = known.get(mask) ?? made(mask, size);
  known.set(mask, found);
  return found;
}

/** @param {Uint8Array} mask @param {Pair} size */
function made(mask, [height, width]) {
  const runs = runsOf(mask, height, width);
  const box = boxOf(runs);
  if (box) return { box, fill: null, lines: null };
  const [fill, lines] = [new Path2D(), new Path2D()];
  for (const [row, from, to] of runs) fill.rect(from, row, to - from, 1);
  for (const [x1, y1, x2, y2] of edgesOf(mask, height, width)) {
    lines.moveTo(x1, y1);
    lines.lineTo(x2, y2);
  }
  return { box, fill, lines };
}

/** Of runs that lie below each other and are alike. @param {[number, number, number][]} runs @returns {Outline["box"]} */
function boxOf(runs) {
  const [top, from, to] = runs[0] ?? [0, 0, 0];
  const isBox = runs.every((run, at) => run[0] === top + at && run[1] === from && run[2] === to);
  return isBox ? [from, top, to - from, runs.length] : null;
}

/** Cells in a row that belong to a mask: row, from, to. @param {Uint8Array} mask @param {number} height @param {number} width */
export function runsOf(mask, height, width) {
  /** @type {[number, number, number][]} */
  const runs = [];
  for (let row = 0; row < height; row++)
    for (const [from, to] of spans(width, (at) => mask[row * width + at])) runs.push([row, from, to]);
  return runs;
}

/** Lines between cells inside and outside, as long as they go straight. @param {Uint8Array} mask @param {number} height @param {number} width */
export function edgesOf(mask, height, width) {
  const on = (/** @type {number} */ row, /** @type {number} */ column) =>
    row >= 0 && column >= 0 && row < height && column < width ? mask[row * width + column] : 0;
  /** @type {[number, number, number, number][]} */
  const edges = [];
  for (let y = 0; y <= height; y++)
    for (const [from, to] of spans(width, (at) => on(y, at) ^ on(y - 1, at))) edges.push([from, y, to, y]);
  for (let x = 0; x <= width; x++)
    for (const [from, to] of spans(height, (at) => on(at, x) ^ on(at, x - 1))) edges.push([x, from, x, to]);
  return edges;
}

/** @param {number} count @param {(at: number) => number} isOn @returns {Pair[]} */
function spans(count, isOn) {
  /** @type {Pair[]} */
  const found = [];
  let start = -1;
  for (let at = 0; at <= count; at++) {
    const on = at < count && isOn(at);
    if (on && start < 0) start = at;
    if (!on && start >= 0) {
      found.push([start, at]);
      start = -1;
    }
  }
  return found;
}
