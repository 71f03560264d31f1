// Numbers of a recording by the cell, and how exact they are.
import { formatNumber } from "../../web/base/format.js";
import { dimsOf, placeOf } from "./relations.js";
import { readPlanes, valueAt } from "./planes.js";
import { say } from "./sentences.js";

/** @typedef {{ value: number, rounding: number }} Read rounding: how far from the true number it may be */

/**
 * null: not recorded, or averaged over several cells.
 * @param {NetworkPacked | null | undefined} packed @param {number[]} shape @param {number[]} cell
 * @returns {Read | null}
 */
export function numberAt(packed, shape, cell) {
  if (!packed || !dimsOf(shape)) return null;
  const planes = readPlanes(packed);
  const [channel, row, column] = placeOf(cell);
  const plane = planes.channels.indexOf(channel);
  if (plane < 0 || planes.cells) return null;
  return { value: valueAt(planes, plane, row, column), rounding: planes.rounding };
}

/** As much as is known of it. @param {Read | null} read */
export function readText(read) {
  if (!read) return say("number.unknown");
  const { value, rounding } = read;
  if (!rounding) return formatNumber(value);
  if (Math.abs(value) <= rounding) return say("number.near_zero", { size: formatNumber(rounding) });
  return say("number.about", { number: formatNumber(value) });
}

/** 1, −1; 0: it is 0; NaN: too near to 0 to tell. @param {Read | null} read */
export function signOf(read) {
  if (!read || Number.isNaN(read.value)) return NaN;
  if (!read.rounding || Math.abs(read.value) > read.rounding) return Math.sign(read.value);
  return NaN;
}

/** Whether two numbers may be the same. @param {Read | null} a @param {Read | null} b */
export function mayEqual(a, b) {
  if (!a || !b) return false;
  const slack = a.rounding + b.rounding + 1e-5 * Math.max(Math.abs(a.value), Math.abs(b.value));
  return Math.abs(a.value - b.value) <= slack;
}
