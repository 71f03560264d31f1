// What pasted numbers are if they are no mistake of the catalogue: the right ones turned, moved, scaled, cropped,
// rounded. Only what all of them fit is said.
import { turnedFrom, turnedSize } from "../../web/rules/recipe_steps.js";
import { countOf, eachCell, indicesAt, upTo } from "../../web/rules/shapes_and_indices.js";
import { isMerged, isSame, isTensor, placesIn, readingsAs } from "./same_numbers.js";

/**
 * @import { Pasted } from "./read_numbers.js"
 * @import { Reading } from "./same_numbers.js"
 * @typedef {{ kind: string, values: Record<string, string | number> }} Near kind: a sentence, near.<kind>
 */

const TURNS = /** @type {const} */ ({
  "rotated 180°": "rotated_180",
  "rotated 90°": "rotated_90",
  "rotated 270°": "rotated_270",
  "flipped left to right": "flipped_across",
  "flipped top to bottom": "flipped_down",
  transposed: "transposed",
  "transposed and rotated": "antitransposed",
});
const MAX_SHIFT = 3; // rows or columns
const ORDERS = permutations([0, 1, 2, 3]).slice(1);

/** @param {number[]} all @returns {number[][]} */
function permutations(all) {
  if (!all.length) return [[]];
  return all.flatMap((one) => permutations(all.filter((each) => each !== one)).map((rest) => [one, ...rest]));
}

/** @param {string} kind @param {Near["values"]} [values] @returns {Near} */
const near = (kind, values = {}) => ({ kind, values });

/**
 * Every kind that fits all cells, and says something.
 * @param {Pasted} pasted @param {Tensor} right @param {[string, Tensor][]} others the tensors of the picture
 *   by name @param {string[]} letters of its axes @param {number} close @returns {Near[]}
 */
export function nearestOf(pasted, right, others, letters, close) {
  if (!pasted.data.length) return [];
  if (pasted.data.every((value) => value === 0)) return [near("zeros")];
  const named = others.find(([, tensor]) => isTensor(pasted, tensor, close));
  const found = named ? [near("other", { tensor: named[0] })] : [];
  const image = right.shape.length === 4;
  if (image) found.push(...turned(pasted, right, close), ...reordered(pasted, right, letters, close));
  const [reading] = readingsAs(pasted, right.shape);
  if (reading) {
    found.push(...scaled(reading, right, close), ...rounded(reading, right));
  }
  if (image && !found.length) found.push(...windowed(pasted, right, close));
  if (image && !found.length) found.push(...withoutLine(pasted, right, close));
  return found;
}

/** @param {Pasted} pasted @param {Tensor} right @param {number} close */
function turned(pasted, { shape, data }, close) {
  const [height, width] = shape.slice(2);
  const names = /** @type {(keyof typeof TURNS)[]} */ (Object.keys(TURNS));
  return names.flatMap((name) => {
    const [rows, columns] = turnedSize(name, [height, width]);
    const from = turnedFrom(name, [height, width]);
    const made = upTo(shape[0] * shape[1]).flatMap((plane) =>
      eachCell(rows, columns, (row, column) => {
        const [y, x] = from(row, column);
        return data[(plane * height + y) * width + x];
      }),
    );
    const tensor = { shape: [shape[0], shape[1], rows, columns], data: Float64Array.from(made) };
    return isTensor(pasted, tensor, close) ? [near(TURNS[name])] : [];
  });
}

/**
 * Once: with axes of one cell, many orders are the same.
 * @param {Pasted} pasted @param {Tensor} right @param {string[]} letters @param {number} close
 */
function reordered(pasted, { shape, data }, letters, close) {
  for (const axes of ORDERS) {
    const long = axes.filter((axis) => shape[axis] > 1);
    const isTurned = axes[0] === 0 && axes[1] === 1;
    if (long.every((axis, place) => !place || axis > long[place - 1])) continue;
    const places = placesIn(shape, axes);
    const made = Float64Array.from(places, (place) => data[place]);
    if (!isSame(pasted, made, close)) continue;
    const kept = isMerged(
      pasted.shape,
      axes.map((axis) => shape[axis]),
    );
    if (kept && isTurned && pasted.shape.length > 1) continue; // `turned` reports this one, as transposed
    return [near(kept ? "layout" : "reshaped", { axes: axes.map((axis) => letters[axis]).join(", ") })];
  }
  return [];
}

/** @param {Reading} reading @param {Tensor} right @param {number} close */
function scaled(reading, { shape, data }, close) {
  const { data: pasted } = reading;
  const most = data.reduce(
    (best, value, index) => (Math.abs(value) > Math.abs(data[best]) ? index : best),
    0,
  );
  const found = [];
  const factor = pasted[most] / data[most];
  const several = data.filter((value) => Math.abs(value) > close).length > 1;
  const isFactor = several && Number.isFinite(factor) && factor !== 0;
  if (
    isFactor &&
    isSame(
      reading,
      data.map((value) => value * factor),
      close * Math.max(1, Math.abs(factor)),
    )
  )
    found.push(near("factor", { factor }));
  const offset = pasted[most] - data[most];
  if (
    data.length > 1 &&
    isSame(
      reading,
      data.map((value) => value + offset),
      close,
    )
  )
    found.push(near("offset", { offset }));
  else if (shape.length === 4 && shape[1] > 1 && countOf(shape) > shape[1]) {
    const channels = data.map((_, index) => indicesAt(shape, index)[1]);
    const first = upTo(shape[1]).map((channel) => channels.indexOf(channel));
    const made = data.map(
      (value, index) => value + pasted[first[channels[index]]] - data[first[channels[index]]],
    );
    if (isSame(reading, made, close)) found.push(near("offset_by_channel"));
  }
  return found;
}

/** @param {number} value to bits of the mantissa, least power */
const toBits = (value, /** @type {number} */ bits, /** @type {number} */ least) => {
  const power = Math.max(Math.floor(Math.log2(Math.abs(value))), least);
  const unit = 2 ** (power - bits);
  const parts = value / unit;
  const floor = Math.floor(parts);
  const even = parts - floor === 0.5 ? floor + (floor % 2) : Math.round(parts);
  return value ? even * unit : 0;
};

/** @type {Record<string, (value: number) => number>} */
const ROUND = {
  cut: Math.trunc,
  rounded_0: Math.round,
  float16: (value) => toBits(value, 10, -14),
  bfloat16: (value) => toBits(value, 7, -126),
};

/** @param {Reading} reading @param {Tensor} right */
function rounded(reading, { data }) {
  const exact = Float64Array.from(data, (value) => Number(value.toPrecision(12)));
  const kind = Object.keys(ROUND).find((name) => isSame(reading, exact.map(ROUND[name]), 1e-9));
  return kind ? [near(kind)] : [];
}

/** Where a window may begin. @param {number} size @param {number} whole */
function starts(size, whole) {
  const [least, most] =
    size === whole ? [-MAX_SHIFT, MAX_SHIFT] : [Math.min(0, whole - size), Math.max(0, whole - size)];
  return upTo(most - least + 1).map((step) => least + step);
}

/** @param {Tensor} tensor @param {number} rows @param {number} columns @param {number} top @param {number} left */
function windowOf({ shape: [samples, channels, height, width], data }, rows, columns, top, left) {
  return upTo(samples * channels).flatMap((plane) =>
    eachCell(rows, columns, (y, x) => {
      const [row, column] = [y + top, x + left];
      const inside = row >= 0 && row < height && column >= 0 && column < width;
      return inside ? data[(plane * height + row) * width + column] : 0;
    }),
  );
}

/**
 * A window of the right planes: cropped, with zeros around, or moved.
 * @param {Pasted} pasted @param {Tensor} right @param {number} close @returns {Near[]}
 */
function windowed(pasted, right, close) {
  const [samples, channels, height, width] = right.shape;
  const [rows, columns] = [pasted.shape.at(-2) ?? 1, pasted.shape.at(-1) ?? 1];
  const [reading] = readingsAs(pasted, [samples, channels, rows, columns]);
  if (!reading) return [];
  const isPart = rows <= height && columns <= width;
  const kind = rows === height && columns === width ? "shifted" : isPart ? "cropped" : "bordered";
  for (const top of starts(rows, height))
    for (const left of starts(columns, width)) {
      const made = windowOf(right, rows, columns, top, left);
      if (made.some((value) => value !== 0) && isSame(reading, made, close))
        return [near(kind, { rows, columns, top, left, above: -top, before: -left })];
    }
  return [];
}

/** Without one row or column. @param {Pasted} pasted @param {Tensor} right @param {number} close @returns {Near[]} */
function withoutLine(pasted, { shape, data }, close) {
  for (const [axis, kind] of /** @type {const} */ ([
    [2, "missing_row"],
    [3, "missing_column"],
  ])) {
    const size = shape.with(axis, shape[axis] - 1);
    const line = upTo(shape[axis]).find((each) => {
      const left = data.filter((_, index) => indicesAt(shape, index)[axis] !== each);
      return isTensor(pasted, { shape: size, data: left }, close);
    });
    if (line !== undefined && pasted.data.length) return [near(kind, { line })];
  }
  return [];
}
