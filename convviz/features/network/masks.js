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
  masks?.forEach((mask, channel) =>
    mask?.forEach((on, at) => {
      if (!on || cells.length >= most) return;
      const place = [channel, Math.floor(at / width), at % width];
      cells.push(shape.length === 2 ? place.slice(1) : place.slice(0, shape.length));
    }),
  );
  return cells;
}

/** How many cells a field has there. @param {Masks | undefined} masks */
export function countOfField(masks) {
  /** @type {Map<Uint8Array, number>} */
  const counts = new Map();
  let count = 0;
  for (const mask of masks ?? []) {
    if (!mask) continue;
    if (!counts.has(mask))
      counts.set(
        mask,
        mask.reduce((sum, on) => sum + on, 0),
      );
    count += counts.get(mask) ?? 0;
  }
  return count;
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
  if (!more.some(Boolean)) return;
  const before = all.get(operation);
  const shared = new Shared();
  all.set(operation, before ? before.map((mask, at) => shared.pair(mask, more[at])) : more);
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
  return "rows" in relation
    ? spread(masks, here, there, relation, forth)
    : moved(masks, here, there, relation, forth);
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
  /** @type {Map<Uint8Array, Uint8Array | null>} */
  const made = new Map();
  const one = (/** @type {Uint8Array | null} */ mask) => {
    if (!mask) return null;
    if (!made.has(mask)) made.set(mask, spreadOne(mask, here, there, rows, columns));
    return made.get(mask) ?? null;
  };
  return throughChannels(masks, here[0], there[0], relation.channels, forth).map(one);
}

/** @param {Masks} masks @param {number} here @param {number} there @param {Channels} channels @param {boolean} forth */
function throughChannels(masks, here, there, channels, forth) {
  const shared = new Shared();
  if ("groups" in channels) {
    const [each, wide] = [here / channels.groups, there / channels.groups];
    const blocks = Array.from({ length: channels.groups }, (_, group) => {
      const parts = new Set(masks.slice(group * each, (group + 1) * each));
      return [...parts].reduce((union, part) => shared.pair(union, part), null);
    });
    return Array.from({ length: there }, (_, at) => blocks[Math.floor(at / wide)]);
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
  const across = new Uint8Array(height * wide);
  mask.forEach((on, at) => {
    const row = Math.floor(at / width);
    if (on) for (const to of columns[at % width]) across[row * wide + to] = 1;
  });
  const found = new Uint8Array(tall * wide);
  for (let row = 0; row < height; row++) {
    const line = across.subarray(row * wide, (row + 1) * wide);
    if (line.includes(1)) for (const to of rows[row]) unite(found.subarray(to * wide, (to + 1) * wide), line);
  }
  return found.includes(1) ? found : null;
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
 * Cell by cell.
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
