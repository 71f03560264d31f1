// Whether a number that was typed is the number meant: a person rounds.
import { formatNumber, parseNumber } from "../base/format.js";

const CLOSE = 1e-6; // tolerance, as rounding
const HALF_A_DIGIT = 0.005; // half a unit of the third digit, as a share of the number

/**
 * Within rounding. What is not whole also as it is printed, where three digits or all before the point are;
 * a smaller one with as many, or just as its cell has it.
 * @param {number} typed @param {number} number
 */
export function typedAgrees(typed, number) {
  const size = Math.abs(number);
  if (Math.abs(typed - number) <= CLOSE * Math.max(1, size)) return true;
  if (Number.isInteger(number)) return false;
  if (size >= 100) return typed.toFixed() === number.toFixed();
  if (size >= 1) return formatNumber(typed) === formatNumber(number);
  return Math.abs(typed - number) <= HALF_A_DIGIT * size || typed === parseNumber(formatNumber(number));
}
