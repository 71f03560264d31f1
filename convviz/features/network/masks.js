// Masks of cells by channel: unions, what they span, and the way from one operation to the next.
import { dimsOf, eachPair } from "./relations.js";

/**
 * @import { ByAxis, Channels, Dims, Relation } from "./relations.js"
 * @typedef {(Uint8Array | null)[]} Masks by channel, shared by channels that are alike; null: no cell of it
 */

/** Its cells as torch indexes them, the first `most`. @param {Masks | null} masks @param {number[]} shape @param {number} [most] */
export function cellsOf(masks, shape, most = Infinity) {
  const [, , width] = dimsOf(shape) ?? [0, 0, 1];
  /** @type {number[][]} */
  const cells = [];
  for (const [channel, mask] of masks?.entries() ?? [])
    for (let at = mask?.indexOf(1) ?? -1; mask && at >= 0; at = mask.indexOf(1, at + 1)) {
      if (cells.length >= most) return cells;
      const place = [channel, Math.floor(at / width), at % width];
      cells.push(shape.length === 2 ? place.slice(1) : place.slice(0, shape.length));
    }
  return cells;
}

/** How many cells a field has there. @param {Masks | undefined} masks */
export function countOfField(masks) {
  const countOf = alike((mask) => mask.reduce((sum, on) => sum + on, 0), 0);
  return (masks ?? []).reduce((count, mask) => count + countOf(mask), 0);
}

/**
 * What a field spans of the planes of an operation: rows, columns, and the cells of one plane that it has.
 * @param {Masks | undefined} masks @param {number} width of a plane
 */
export function spanOf(masks, width) {
  const parts = /** @type {Uint8Array[]} */ ([...new Set(masks ?? [])].filter(Boolean));
  if (!parts.length) return null;
  const mask = joined(parts);
  let [top, bottom, left, right, count] = [Infinity, -1, Infinity, -1, 0];
  mask.forEach((on, at) => {
    if (!on) return;
    const [row, column] = [Math.floor(at / width), at % width];
    [top, bottom] = [Math.min(top, row), Math.max(bottom, row)];
    [left, right] = [Math.min(left, column), Math.max(right, column)];
    count++;
  });
  return { rows: bottom - top + 1, columns: right - left + 1, count };
}

/** @param {Map<number, Masks>} all @param {number} operation @param {Masks} more */
export function join(all, operation, more) {
  const before = all.get(operation);
  if (before === more || !more.some(Boolean)) return;
  const shared = new Shared();
  all.set(operation, before ? before.map((mask, at) => shared.pair(mask, more[at])) : more);
}

/**
 * Channels in a row are mostly alike: what was made of a mask is not made again.
 * @template Made @param {(mask: Uint8Array) => Made} make @param {Made} none of no mask
 */
function alike(make, none) {
  /** @type {Map<Uint8Array, Made>} */
  const made = new Map();
  /** @type {Uint8Array | null} */
  let last = null;
  let found = none;
  return (/** @type {Uint8Array | null} */ mask) => {
    if (!mask) return none;
    if (mask === last) return found;
    last = mask;
    found = made.get(mask) ?? make(mask);
    made.set(mask, found);
    return found;
  };
}

/** Unions of the same masks are one mask. */
class Shared {
  /** @type {Map<Uint8Array, Map<Uint8Array, Uint8Array>>} */
  #made = new Map();

  /** @param {Uint8Array | null} a @param {Uint8Array | null} b */
  pair(a, b) {
    if (!a || !b || a === b) return a ?? b;
    let known = this.#made.get(a);
    if (!known) this.#made.set(a, (known = new Map()));
    let union = known.get(b);
    if (!union) known.set(b, (union = joined([a, b])));
    return union;
  }
}

/** @param {Uint8Array[]} parts at least one */
function joined(parts) {
  if (parts.length < 2) return parts[0];
  const union = Uint8Array.from(parts[0]);
  for (const part of parts.slice(1)) unite(union, part);
  return union;
}

/**
 * @param {Masks} masks @param {Dims} here @param {Dims} there @param {Relation} relation
 * @param {boolean} forth from the source to what reads it
 */
export function through(masks, here, there, relation, forth) {
  if (isSame(here, there, relation)) return masks;
  return "rows" in relation
    ? spread(masks, here, there, relation, forth)
    : moved(masks, here, there, relation, forth);
}

/** @type {WeakMap<Relation, boolean>} */
const SAME = new WeakMap();

/** Whether each cell reads that of its own place. @param {Dims} here @param {Dims} there @param {Relation} relation */
function isSame(here, there, relation) {
  const known = SAME.get(relation);
  if (known !== undefined) return known;
  const own = (/** @type {number[]} */ list, /** @type {number} */ at) => list.length === 1 && list[0] === at;
  const found =
    here.every((size, axis) => size === there[axis]) &&
    ("flat" in relation
      ? relation.flat.every((source, at) => source === at)
      : "rows" in relation &&
        "from" in relation.channels &&
        relation.channels.from.every((source, at) => source === at) &&
        relation.rows.every(own) &&
        relation.columns.every(own));
  SAME.set(relation, found);
  return found;
}

/**
 * Through lists of rows and columns: a window is the product of both, so one axis follows the other.
 * @param {Masks} masks @param {Dims} here @param {Dims} there @param {ByAxis} relation
 * @param {boolean} forth
 * @returns {Masks}
 */
function spread(masks, here, there, relation, forth) {
  const [rows, columns] = forth
    ? [turned(relation.rows, here[1]), turned(relation.columns, here[2])]
    : [relation.rows, relation.columns];
  const one = alike((mask) => spreadOne(mask, here, there, rows, columns), null);
  return throughChannels(masks, here[0], there[0], relation.channels, forth).map(one);
}

/** @param {Masks} masks @param {number} here @param {number} there @param {Channels} channels @param {boolean} forth */
function throughChannels(masks, here, there, channels, forth) {
  const shared = new Shared();
  if ("groups" in channels) {
    const [each, wide] = [here / channels.groups, there / channels.groups];
    const found = /** @type {Masks} */ (Array(there).fill(null));
    for (let group = 0; group < channels.groups; group++) {
      let block = masks[group * each];
      for (let at = group * each + 1; at < (group + 1) * each; at++) block = shared.pair(block, masks[at]);
      found.fill(block, group * wide, (group + 1) * wide);
    }
    return found;
  }
  if (forth) return Array.from(channels.from, (source) => masks[source] ?? null);
  const found = /** @type {Masks} */ (Array(there).fill(null));
  channels.from.forEach((source, at) => {
    if (source >= 0 && masks[at]) found[source] = shared.pair(found[source], masks[at]);
  });
  return found;
}

/**
 * @param {Uint8Array} mask @param {Dims} here @param {Dims} there @param {number[][]} rows @param {number[][]} columns
 */
function spreadOne(mask, [, height, width], [, tall, wide], rows, columns) {
  const found = new Uint8Array(tall * wide);
  /** @type {Uint8Array | null} */
  let line = null;
  for (let row = 0; row < height; row++) {
    // Rows of a field are mostly alike, too.
    if (!row || !isLikeBefore(mask, row * width, width))
      line = across(mask.subarray(row * width, (row + 1) * width), wide, columns);
    if (line) for (const to of rows[row]) unite(found.subarray(to * wide, (to + 1) * wide), line);
  }
  return found.includes(1) ? found : null;
}

/** @param {Uint8Array} mask @param {number} start of a row @param {number} width */
function isLikeBefore(mask, start, width) {
  for (let at = start; at < start + width; at++) if (mask[at] !== mask[at - width]) return false;
  return true;
}

/** @param {Uint8Array} row @param {number} wide @param {number[][]} columns */
function across(row, wide, columns) {
  if (!row.includes(1)) return null;
  const line = new Uint8Array(wide);
  for (let at = 0; at < row.length; at++) if (row[at]) for (const to of columns[at]) line[to] = 1;
  return line;
}

/** @param {Uint8Array} all @param {Uint8Array} more */
function unite(all, more) {
  for (let at = 0; at < more.length; at++) all[at] |= more[at];
}

/** Who reads each: lists the other way. @type {WeakMap<number[][], number[][]>} */
const TURNED = new WeakMap();

/** @param {number[][]} lists @param {number} size */
function turned(lists, size) {
  const known = TURNED.get(lists);
  if (known) return known;
  /** @type {number[][]} */
  const found = Array.from({ length: size }, () => []);
  lists.forEach((list, at) => list.forEach((to) => found[to].push(at)));
  TURNED.set(lists, found);
  return found;
}

/**
 * Follows a relation cell by cell where it cannot be split into channels, rows and columns.
 * @param {Masks} masks @param {Dims} here @param {Dims} there @param {Exclude<Relation, ByAxis>} relation
 * @param {boolean} forth
 */
function moved(masks, here, there, relation, forth) {
  const [area, size] = [here[1] * here[2], there[1] * there[2]];
  const found = /** @type {Masks} */ (Array(there[0]).fill(null));
  const pair = (/** @type {number} */ out, /** @type {number} */ source) => {
    const [from, to] = forth ? [source, out] : [out, source];
    if (!masks[Math.floor(from / area)]?.[from % area]) return;
    const channel = Math.floor(to / size);
    found[channel] ??= new Uint8Array(size);
    found[channel][to % size] = 1;
  };
  if ("flat" in relation) relation.flat.forEach((source, out) => pair(out, source));
  else eachPair(relation, pair);
  return found;
}
