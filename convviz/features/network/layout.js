// Which operations have a column of maps, and where the planes of a tensor lie in it.

const MANY = 16; // operations: with more of them, columns are those of layers with weights
const FIRST = 8; // planes shown at first where there are more than FEW
const FEW = 16;
const MAX_SCORES = 20;
const COLUMN = 92; // the least width of a column in pixels
const BETWEEN = 14; // pixels between columns, as in tab.css
const GAP = 3;
const CELL = 15; // of a vector, at most, where there is little room
const SCORE = 22;
const LABEL = 26;
const UNEVEN = 0.76; // a last row that is not full is worth that much less

/**
 * @typedef {{ count: number, width: number, height: number, tile: Pair, labelled: boolean, vector: boolean,
 *   at: (plane: number) => [number, number] }} Tiling tile: width and height of a plane; all in pixels
 */

const isMoved = (/** @type {NetworkOperation} */ { reads }) => reads.how === "reshape";

/**
 * @param {NetworkOperation[]} operations @param {{ all: boolean, more: Set<number> }} choice more: asked for one by one
 */
export function columnsOf(operations, { all, more }) {
  const last = operations.length - 1;
  const scores = scoresIndex(operations);
  const few = operations.length <= MANY;
  return operations
    .filter((operation) => {
      const { index, kind, weight } = operation;
      if (all || more.has(index) || index === last || index === scores || kind === "input") return true;
      return few ? !isMoved(operation) : (weight?.shape.length ?? 0) > 1; // none of a norm
    })
    .map(({ index }) => index);
}

/** @param {NetworkOperation[]} operations */
export const hasMore = (operations) => operations.length > MANY;

/** @param {number} count of planes @param {boolean} vector */
export const firstOf = (count, vector) => (vector || count <= FEW ? count : FIRST);

/**
 * Returns the operation that made the scores: only the loss follows it. Returns −1 where there is none.
 * @param {NetworkOperation[]} operations
 */
export function scoresIndex(operations) {
  const last = operations.findLastIndex(({ shape }) => shape.length > 0);
  return operations[last]?.shape.length === 1 && operations[last].kind !== "input" ? last : -1;
}

/** @param {NetworkOperation[]} operations @param {number} index */
export const areScores = (operations, index) =>
  index === scoresIndex(operations) && operations[index].shape[0] <= MAX_SCORES;

/**
 * The largest planes that fit.
 * @param {{ count: number, size: Pair, scores: boolean }} planes size: of a plane, in cells
 * @param {number} height of a column @param {number} budget its width, if possible
 * @returns {Tiling}
 */
export function tilingOf({ count, size, scores }, height, budget) {
  const vector = size[0] === 1 && size[1] === 1;
  const gap = vector ? 1 : GAP;
  if (scores) {
    const side = Math.min(SCORE, (height - (count - 1) * gap) / count);
    return tiled(count, [side, side], gap, count, true, vector);
  }
  const aspect = size[1] / size[0];
  let [rows, side, best] = [1, 0, 0];
  for (let each = 1; each <= count; each++) {
    const columns = Math.ceil(count / each);
    const tall = (height - (each - 1) * gap) / each;
    const wide = (budget - (columns - 1) * gap) / columns / aspect;
    const found = Math.min(tall, wide, vector ? Math.max(CELL, height / 14) : Infinity);
    const merit = found * (count % columns && !vector ? UNEVEN : 1);
    if (merit > best + 0.01) [rows, side, best] = [each, found, merit];
  }
  const least = vector ? 3 : 6;
  if (side < least)
    return tiled(count, [least * aspect, least], gap, Math.floor(height / (least + gap)) || 1, false, vector);
  return tiled(count, [side * aspect, side], gap, rows, false, vector);
}

/**
 * @param {number} count @param {Pair} tile @param {number} gap @param {number} rows @param {boolean} labelled
 * @param {boolean} vector
 * @returns {Tiling}
 */
function tiled(count, tile, gap, rows, labelled, vector) {
  const columns = Math.ceil(count / rows);
  const used = Math.ceil(count / columns);
  const [wide, tall] = tile;
  return {
    count,
    tile,
    labelled,
    vector,
    width: columns * (wide + gap) - gap + (labelled ? LABEL : 0),
    height: used * (tall + gap) - gap,
    // Row by row: neighbours of a vector stand side by side.
    at: (plane) => [(plane % columns) * (wide + gap), Math.floor(plane / columns) * (tall + gap)],
  };
}

/**
 * All columns, as large as the width allows; in a narrow page each alone.
 * @param {{ index: number, count: number, size: Pair, scores: boolean }[]} wanted @param {number} height
 * @param {number} width @param {boolean} narrow
 * @returns {Map<number, Tiling>} by operation
 */
export function fitted(wanted, height, width, narrow) {
  const tile = (/** @type {number} */ budget) =>
    new Map(wanted.map((planes) => [planes.index, tilingOf(planes, height, budget)]));
  if (narrow) return tile(width);
  const fits = (/** @type {Map<number, Tiling>} */ tilings) =>
    [...tilings.values()].reduce((sum, each) => sum + Math.max(COLUMN, each.width) + BETWEEN, -BETWEEN) <=
    width;
  const least = tile(COLUMN);
  if (!fits(least)) return least;
  let [low, high] = [COLUMN, Math.max(COLUMN, height)];
  for (let step = 0; step < 7; step++) {
    const middle = (low + high) / 2;
    if (fits(tile(middle))) low = middle;
    else high = middle;
  }
  return tile(low);
}

/**
 * Returns the plane and the cell at a point, or null between planes.
 * @param {Tiling} tiling @param {Pair} size @param {number} x @param {number} y
 */
export function cellAt(tiling, [height, width], x, y) {
  const [wide, tall] = tiling.tile;
  for (let plane = 0; plane < tiling.count; plane++) {
    const [left, top] = tiling.at(plane);
    const gap = tiling.vector ? 1 : 0; // no place between the cells of a vector that is none of them
    const reach = wide + (tiling.labelled ? LABEL : gap);
    if (x < left || y < top || x >= left + reach || y >= top + tall + gap) continue;
    const column = Math.min(width - 1, Math.floor(((x - left) / wide) * width));
    return { plane, row: Math.min(height - 1, Math.floor(((y - top) / tall) * height)), column };
  }
  return null;
}
