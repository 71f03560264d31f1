// The outline of a mask and its area, in cells.

/** @typedef {{ areas: number[][], edges: number[][] | null }} Outline areas: left, top, width, height; edges: x and y of
 * both ends, null: those of the area */

/** @type {WeakMap<Uint8Array, Outline>} */
const known = new WeakMap();

/** @param {Uint8Array} mask @param {Pair} size @returns {Outline} */
export function outlineOf(mask, size) {
  const found = known.get(mask) ?? made(mask, size);
  known.set(mask, found);
  return found;
}

/** @param {Uint8Array} mask @param {Pair} size @returns {Outline} */
function made(mask, [height, width]) {
  const [first, last] = [mask.indexOf(1), mask.lastIndexOf(1)];
  const [left, top] = [first % width, Math.floor(first / width)];
  const [wide, tall] = [(last % width) + 1 - left, Math.floor(last / width) + 1 - top];
  if (isBox(mask, width, [left, top, wide, tall])) return { areas: [[left, top, wide, tall]], edges: null };
  const runs = runsOf(mask, height, width);
  const areas = runs.map(([row, from, to]) => [from, row, to - from, 1]);
  return { areas, edges: edgesOf(mask, height, width) };
}

/** Whether it has all cells of a box, and no others. @param {Uint8Array} mask @param {number} width @param {number[]} box */
function isBox(mask, width, [left, top, wide, tall]) {
  let [all, inside] = [0, 0];
  for (let at = 0; at < mask.length; at++) all += mask[at];
  for (let row = top; row < top + tall; row++)
    for (let column = left; column < left + wide; column++) inside += mask[row * width + column];
  return all === inside && inside === wide * tall;
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
