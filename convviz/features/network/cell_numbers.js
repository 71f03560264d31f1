// Numbers of a recording by the cell, and how exact they are.
import { formatNumber } from "../../web/base/format.js";
import { dimsOf, placeOf } from "./relations.js";
import { readPlanes, valueAt } from "./planes.js";
import { say } from "./sentences.js";

/**
 * @typedef {{ value: number, rounding: number, sign?: number }} Read rounding: how far from the true number it may be;
 *   sign: that is known even so
 */

/** What Python sent later, by cell. @type {WeakMap<NetworkPacked, Map<string, number>>} */
const exactValues = new WeakMap();

/** @param {NetworkPacked} packed @param {number[]} cell @param {number} value */
export function remember(packed, cell, value) {
  const known = exactValues.get(packed) ?? new Map();
  exactValues.set(packed, known.set(String(cell), value));
}

/**
 * Returns null where the number was not recorded, or was averaged over several cells.
 * @param {NetworkPacked | null | undefined} packed @param {number[]} shape @param {number[]} cell
 * @returns {Read | null}
 */
export function numberAt(packed, shape, cell) {
  if (!packed || !dimsOf(shape)) return null;
  const exact = exactValues.get(packed)?.get(String(cell));
  if (exact !== undefined) return { value: exact, rounding: 0 };
  const planes = readPlanes(packed);
  const [channel, row, column] = placeOf(cell);
  const plane = planes.channels.indexOf(channel);
  if (plane < 0 || planes.cells) return null;
  const value = valueAt(planes, plane, row, column);
  if (Number.isNaN(value) && !planes.exact) return { value, rounding: Infinity };
  if (!planes.exactZeros) return { value, rounding: planes.rounding };
  // The smallest step is written for all that is smaller, too.
  const isSmallest = Math.abs(value) < 3 * planes.rounding;
  return { value, rounding: isSmallest ? 1.5 * Math.abs(value) : planes.rounding, sign: Math.sign(value) };
}

/** Also of a plane that was averaged. @param {NetworkPacked | null | undefined} packed @param {number[]} shape @param {number[]} cell */
export function numberText(packed, shape, cell) {
  const read = numberAt(packed, shape, cell);
  const planes = packed && !read ? readPlanes(packed) : null;
  if (!planes?.cells) return readText(read);
  const [channel, ...at] = placeOf(cell);
  const plane = planes.channels.indexOf(channel);
  if (plane < 0) return readText(null);
  const size = planes.cells;
  const [row, column] = [planes.height, planes.width].map((count, axis) =>
    Math.floor((at[axis] * count) / size[axis]),
  );
  return say("number.mean", { number: formatNumber(valueAt(planes, plane, row, column)) });
}

/** As much as is known of it. @param {Read | null} read */
export function readText(read) {
  if (!read) return say("number.unknown");
  const { value, rounding } = read;
  if (!rounding) return formatNumber(value);
  if (Number.isNaN(value)) return say("number.not_finite");
  if (Math.abs(value) <= rounding) return say("number.near_zero", { size: formatNumber(rounding) });
  return say("number.about", { number: formatNumber(value) });
}

/** Returns the sign of a number, or NaN where it is unknown or too near to 0. @param {Read | null} read */
export function signOf(read) {
  if (!read || Number.isNaN(read.value)) return NaN;
  if (read.sign !== undefined) return read.sign;
  if (!read.rounding || Math.abs(read.value) > read.rounding) return Math.sign(read.value);
  return NaN;
}

/** Whether two numbers may be the same. @param {Read | null} a @param {Read | null} b */
export function mayEqual(a, b) {
  if (!a || !b) return false;
  const slack = a.rounding + b.rounding + 1e-5 * Math.max(Math.abs(a.value), Math.abs(b.value));
  return Math.abs(a.value - b.value) <= slack;
}
