// Numbers of one tensor as they are drawn: so many planes, their scale, and what a colour stands for.
import { colorOf } from "../../web/base/format.js";

const QUANTILE = 0.99; // of the numbers that are not 0: a few far out must not bleach the others
const BINS = 1024;
const MAX_COUNTED = 8191; // numbers of a tensor; odd, for rows are even
const NOT_FINITE = 128; // the byte of nan and inf; as in page_data.py
const SHADES = 255; // on each side of 0

/**
 * @typedef {{ count: number, height: number, width: number, channels: number[], cells: Pair | null, values:
 *   Float32Array, limit: number, exact: boolean, exactZeros: boolean, rounding: number }} Planes cells: the true size of a plane that
 *   was reduced; limit: where the colours end; rounding: how far a number may be from the true one
 */

/** @type {WeakMap<NetworkPacked, Planes>} */
const known = new WeakMap();

/** @param {NetworkPacked} packed @returns {Planes} */
export function readPlanes(packed) {
  const found = known.get(packed) ?? read(packed);
  known.set(packed, found);
  return found;
}

/** @param {NetworkPacked} packed @returns {Planes} */
function read(packed) {
  const { shape, channels, cells, scale = 0, data, values, zeros, parts } = packed;
  if (parts) return whole(parts.map(readPlanes));
  const exact = values !== undefined;
  const numbers = values ? Float32Array.from(values) : decoded(data ?? "", scale / 127);
  const [count, height = 1, width = 1] = shape.length === 2 ? [1, ...shape] : shape.length ? shape : [1];
  return {
    count,
    height,
    width,
    channels,
    cells: cells ? [cells[0], cells[1]] : null,
    values: numbers,
    limit: limitOf(numbers),
    exact,
    exactZeros: exact || zeros === "exact",
    rounding: exact ? 0 : scale / 254,
  };
}

/** Planes that came one after the other. @param {Planes[]} parts @returns {Planes} */
function whole(parts) {
  const values = Float32Array.from(parts.flatMap((part) => [...part.values]));
  return {
    ...parts[0],
    count: parts.reduce((sum, { count }) => sum + count, 0),
    channels: parts.flatMap(({ channels }) => channels),
    values,
    limit: limitOf(values),
    exact: parts.every(({ exact }) => exact),
    exactZeros: parts.every(({ exactZeros }) => exactZeros),
    rounding: Math.max(...parts.map(({ rounding }) => rounding)),
  };
}

/** @param {string} data @param {number} unit */
function decoded(data, unit) {
  const bytes = atob(data);
  const values = new Float32Array(bytes.length);
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes.charCodeAt(at);
    values[at] = byte === NOT_FINITE ? NaN : (byte > 127 ? byte - 256 : byte) * unit;
  }
  return values;
}

/** Of finite numbers that are not 0; 1: there are none. @param {Float32Array} values */
export function limitOf(values) {
  let largest = 0;
  for (const value of values) if (Number.isFinite(value)) largest = Math.max(largest, Math.abs(value));
  if (!largest) return 1;
  const bins = new Uint32Array(BINS);
  const step = Math.ceil(values.length / MAX_COUNTED);
  let count = 0;
  for (let at = 0; at < values.length; at += step) {
    const value = values[at];
    if (!value || !Number.isFinite(value)) continue;
    bins[Math.min(BINS - 1, Math.floor((Math.abs(value) / largest) * BINS))]++;
    count++;
  }
  if (!count) return largest;
  let below = 0;
  let at = 0;
  while (at < BINS - 1 && (below += bins[at]) < QUANTILE * count) at++;
  return (largest * (at + 1)) / BINS;
}

/** @param {Planes} planes @param {number} plane @param {number} row @param {number} column */
export const valueAt = ({ values, height, width }, plane, row, column) =>
  values[(plane * height + row) * width + column];

/** Colours of a scale by share of its end, as pixels; NaN has that of ink. @typedef {(share: number) => number} Shade */

/** @param {Scale} scale @param {number[]} none the colour of what is no number */
export function shades(scale, none) {
  const table = new Uint32Array(2 * SHADES + 1);
  for (let at = -SHADES; at <= SHADES; at++) table[at + SHADES] = pixel(colorOf(scale, at / SHADES, 1));
  // Of a number that is not 0 the weakest colour is another than that of 0.
  const missing = pixel(none);
  /** @type {Shade} */
  return (share) => {
    if (Number.isNaN(share)) return missing;
    if (share === 0) return table[SHADES];
    const size = Math.max(1, Math.min(SHADES, Math.round(Math.abs(share) * SHADES)));
    return table[SHADES + (share < 0 ? -size : size)];
  };
}

/** @param {number[]} color */
function pixel(color) {
  const [red, green, blue] = color.map(Math.round);
  return ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0;
}

/** Splits a pixel into its red, green and blue parts. @param {number} pixel */
export const partsOf = (pixel) => [pixel & 255, (pixel >> 8) & 255, (pixel >> 16) & 255];

/** All planes as pixels, one below the other. @param {Planes} planes @param {Shade} shade */
export function pixelsOf({ values, limit }, shade) {
  const pixels = new Uint32Array(values.length);
  for (let at = 0; at < values.length; at++) pixels[at] = shade(values[at] / limit);
  return new Uint8ClampedArray(pixels.buffer);
}
