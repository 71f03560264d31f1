// Which cells of a source an output cell reads, from the arguments of its operation: geometry.py writes them down.
import { countOf, upTo } from "../../web/rules/shapes_and_indices.js";

/**
 * @typedef {[number, number, number]} Dims channels, rows, columns
 * @typedef {{ groups: number } | { from: Int32Array }} Channels groups: all of a group read all of it; from: each reads
 *   one, or none (−1)
 * @typedef {{ channels: Channels, rows: number[][], columns: number[][] }} ByAxis
 * @typedef {{ axis: number, lists: number[][] }} Axis of the source: the output's axis that it goes with (−1: none, one
 *   list for all), and which of its indices each index there reads
 * @typedef {ByAxis | { flat: Int32Array } | { axes: Axis[], out: number[], source: number[] }} Relation flat: the source's
 *   cell of each cell
 * @typedef {{ reads: any, out: number[], source: number[], position: number }} Pairing shapes
 */

const MAX_PAIRS = 5e6; // of cells, where they are counted one by one

/** Returns null for more axes than a picture has. @param {number[]} shape @returns {Dims | null} */
export function dimsOf(shape) {
  if (shape.length > 3) return null;
  if (shape.length === 2) return [1, shape[0], shape[1]];
  const [channels = 1, rows = 1, columns = 1] = shape;
  return [channels, rows, columns];
}

/** @param {number[]} cell as torch indexes it @returns {Dims} */
export function placeOf(cell) {
  if (cell.length === 2) return [0, cell[0], cell[1]];
  const [channel = 0, row = 0, column = 0] = cell;
  return [channel, row, column];
}

/**
 * @param {NetworkOperation} operation @param {number} position among its sources @param {number[]} source its shape
 * @returns {Relation | null} null: unknown, or too many pairs of cells
 */
export function relationOf({ reads, shape }, position, source) {
  if (!dimsOf(shape) || !dimsOf(source)) return null;
  const out = reads.taken ?? shape; // of a slice, before axes were left out or added
  if (reads.how === "reshape") return { flat: Int32Array.from(upTo(countOf(out))) };
  if (reads.how === "permute") return { flat: permuted(reads.order ?? [], out, source) };
  const axes = AXES[reads.how]?.({ reads, out, source, position });
  if (!axes) return null;
  if (String(out) !== String(shape)) return counted(axes, out, source);
  const groups = groupsOf(reads, source);
  return aligned(axes, out, source, groups) ?? counted(axes, out, source);
}

/** @type {Record<string, (pairing: Pairing) => Axis[] | null>} */
const AXES = {
  same: ({ out, source }) =>
    source.map((size, at) => {
      const axis = at + out.length - source.length;
      return { axis, lists: upTo(out[axis]).map((o) => [size === 1 ? 0 : o]) };
    }),
  concat: ({ reads, out, source, position }) =>
    along(out, source, (axis) => (o) => [axis === reads.axis ? o - reads.offsets[position] : o]),
  slice: ({ reads, out, source }) =>
    along(out, source, (axis) => (o) => [reads.start[axis] + o * reads.step[axis]]),
  all({ reads, out, source }) {
    const whole = reads.axes ?? upTo(source.length).slice(reads.per_channel ? 1 : 0);
    if (reads.groups > 1 && source.length !== 3) return null;
    if (whole.length === source.length && !reads.drop)
      return source.map((size) => ({ axis: -1, lists: [upTo(size)] }));
    const drop = reads.drop ?? (out.length < source.length ? whole : []);
    return dropping({ drop }, out, source, (axis) => (o, size) => (whole.includes(axis) ? upTo(size) : [o]));
  },
  adaptive: ({ out, source }) =>
    along(out, source, (axis) => (o, size) => {
      if (!axis) return [o];
      const start = Math.floor((o * size) / out[axis]);
      return upTo(Math.ceil(((o + 1) * size) / out[axis]) - start).map((step) => start + step);
    }),
  upsample: ({ reads, out, source }) => {
    const read = UPSAMPLE[reads.mode];
    if (!read) return null;
    return along(
      out,
      source,
      (axis) => (o, size) =>
        axis ? read(o, reads.scale[axis - 1], size, out[axis], reads.align_corners) : [o],
    );
  },
  window: ({ reads, out, source }) => {
    if (reads.kernel_size.length !== out.length - 1) return null;
    const windows = along(
      out,
      source,
      (axis) => (o, size) => (axis ? windowAt(reads, axis - 1, o, size) : [o]),
    );
    if (!reads.per_channel) windows[0].lists = grouped(reads.groups ?? 1, out[0], source[0]);
    return windows;
  },
};

/** @typedef {(o: number, size: number) => number[]} ReadAxis */

/** @param {number[]} list @param {number} size */
const inside = (list, size) => [...new Set(list.filter((at) => at >= 0 && at < size))];

/** @param {number[]} out @param {number[]} source @param {(axis: number) => ReadAxis} read @returns {Axis[]} */
const along = (out, source, read) => dropping({ drop: [] }, out, source, read);

/** @param {{ drop?: number[] }} reads @param {number[]} out @param {number[]} source @param {(axis: number) => ReadAxis} read */
function dropping({ drop = [] }, out, source, read) {
  let next = 0;
  return source.map((size, at) => {
    if (drop.includes(at)) return { axis: -1, lists: [inside(read(at)(0, size), size)] };
    const axis = next++;
    return { axis, lists: upTo(out[axis]).map((o) => inside(read(at)(o, size), size)) };
  });
}

/** @param {number} groups @param {number} out @param {number} source */
function grouped(groups, out, source) {
  const each = source / groups;
  const lists = upTo(groups).map((group) => upTo(each).map((at) => group * each + at));
  return upTo(out).map((o) => lists[Math.floor((o * groups) / out)]);
}

/** @param {any} reads @param {number} axis @param {number} o @param {number} size */
function windowAt(reads, axis, o, size) {
  const [kernel, stride, dilation] = [reads.kernel_size, reads.stride, reads.dilation].map((of) => of[axis]);
  const [before] = reads.padding[axis];
  return upTo(kernel).map((k) =>
    reads.transposed
      ? backTo(o + before - k * dilation, stride)
      : bordered(o * stride - before + k * dilation, size, reads.mode),
  );
}

/** Returns −1 where the place falls between two cells. @param {number} at @param {number} stride */
const backTo = (at, stride) => (at % stride === 0 ? at / stride : -1);

/** Which cell a place of the border repeats. @param {number} at @param {number} size @param {string} [mode] */
function bordered(at, size, mode = "zeros") {
  if ((at >= 0 && at < size) || mode === "zeros") return at;
  if (mode === "replicate") return Math.min(size - 1, Math.max(0, at));
  if (mode === "circular") return ((at % size) + size) % size;
  return at < 0 ? -at : 2 * (size - 1) - at;
}

/** @param {number} o @param {number} scale @param {number} size @param {number} count @param {boolean} [corners] */
function linearly(o, scale, size, count, corners) {
  const at = corners
    ? count > 1
      ? (o * (size - 1)) / (count - 1)
      : 0
    : Math.max(0, (o + 0.5) / scale - 0.5);
  const low = Math.min(size - 1, Math.floor(at));
  return at > low ? [low, Math.min(size - 1, low + 1)] : [low];
}

/** @type {Record<string, (o: number, scale: number, size: number, count: number, corners?: boolean) => number[]>} */
const UPSAMPLE = {
  nearest: (o, scale, size) => [Math.min(size - 1, Math.floor(o / scale))],
  "nearest-exact": (o, scale, size) => [Math.min(size - 1, Math.floor((o + 0.5) / scale))],
  linear: linearly,
  bilinear: linearly,
};

/** @param {any} reads @param {number[]} source */
const groupsOf = (reads, source) =>
  reads.how === "window" && !reads.per_channel
    ? (reads.groups ?? 1)
    : reads.how === "all" && source.length === 3
      ? reads.groups
      : undefined;

/** Where an axis stands among channels, rows, columns. @param {number} rank @param {number} axis */
const placeOfAxis = (rank, axis) => (rank === 2 ? axis + 1 : axis);

/**
 * As lists of rows, columns and channels, where each axis goes with that of its place; else null.
 * @param {Axis[]} axes @param {number[]} out @param {number[]} source @param {number} [groups]
 * @returns {ByAxis | null}
 */
function aligned(axes, out, source, groups) {
  const [outs, sizes] = [dimsOf(out), dimsOf(source)];
  if (!outs || !sizes) return null;
  /** @type {number[][][]} */
  const by = outs.map((count) => upTo(count).map(() => [0]));
  for (const [at, { axis, lists }] of axes.entries()) {
    const place = placeOfAxis(source.length, at);
    if (axis >= 0 && placeOfAxis(out.length, axis) !== place) return null;
    by[place] = axis < 0 ? upTo(outs[place]).map(() => lists[0]) : lists;
  }
  const [channels, rows, columns] = by;
  if (groups && source.length === 3) return { channels: { groups }, rows, columns };
  if (channels.every((list) => list.length <= 1))
    return { channels: { from: Int32Array.from(channels, (list) => list[0] ?? -1) }, rows, columns };
  return channels.every((list) => list.length === sizes[0])
    ? { channels: { groups: 1 }, rows, columns }
    : null;
}

/**
 * Keeps the lists of each axis. Returns null where these could make more than MAX_PAIRS pairs.
 * @param {Axis[]} axes @param {number[]} out @param {number[]} source @returns {Relation | null}
 */
function counted(axes, out, source) {
  const each = axes.reduce(
    (product, { lists }) => product * Math.max(1, ...lists.map(({ length }) => length)),
    1,
  );
  return countOf(out) * each > MAX_PAIRS ? null : { axes, out, source };
}

/** Calls with each cell and each cell of the source that it reads. @param {{ axes: Axis[], out: number[], source: number[] }} relation @param {(out: number, source: number) => void} act */
export function eachPair({ axes, out, source }, act) {
  const count = countOf(out);
  for (let cell = 0; cell < count; cell++) {
    const at = indicesOf(cell, out);
    let places = [0];
    for (const [index, { axis, lists }] of axes.entries()) {
      const list = lists[axis < 0 ? 0 : at[axis]];
      places = places.flatMap((place) => list.map((each) => place * source[index] + each));
    }
    for (const place of places) act(cell, place);
  }
}

/** @param {number} cell @param {number[]} shape */
function indicesOf(cell, shape) {
  const at = Array(shape.length);
  let rest = cell;
  for (let axis = shape.length - 1; axis >= 0; axis--) {
    at[axis] = rest % shape[axis];
    rest = Math.floor(rest / shape[axis]);
  }
  return at;
}

/** @param {number[]} order @param {number[]} out @param {number[]} source */
function permuted(order, out, source) {
  const steps = source.map((_, axis) => countOf(source.slice(axis + 1)));
  return Int32Array.from({ length: countOf(out) }, (_, cell) =>
    indicesOf(cell, out).reduce((place, index, axis) => place + index * steps[order[axis]], 0),
  );
}
