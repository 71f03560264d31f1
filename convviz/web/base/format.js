// Numbers as text and colour, as facts/format_numbers.py and views/theme.py write them; a test compares.

const MINUS = "\u2212";

/** Below it, float32 loses digits, and the last numbers before 0 are noise. */
const LEAST = 2 ** -126;
/** In powers of ten, short and long: a number has one form wherever it stands. @param {number} size */
const isTinyOrHuge = (size) => size < 0.00095 || size >= 999_999.5;

/** Short, as in a cell. @param {number} value */
export function formatNumber(value) {
  if (Number.isNaN(value)) return "nan";
  const sign = value < 0 ? MINUS : "";
  const size = Math.abs(value);
  if (size === Infinity) return `${sign}\u221e`;
  if (size < LEAST) return "0";
  if (isTinyOrHuge(size)) {
    const [mantissa, exponent] = size.toExponential(1).split("e");
    return sign + withPower(mantissa.replace(".0", ""), exponent);
  }
  const digits = size >= 99.95 ? 0 : size >= 9.995 ? 1 : size >= 0.0995 ? 2 : 3;
  return sign + String(Number(size.toFixed(digits)));
}

/** With six significant digits at most. @param {number} value */
export const formatLong = (value) => significant(value, 6);

/** @param {number} value @param {number} most digits */
function significant(value, most) {
  const size = Math.abs(value);
  if (!Number.isFinite(value) || size < LEAST) return formatNumber(value);
  const sign = value < 0 ? MINUS : "";
  const [mantissa, exponent] = size.toExponential(most - 1).split("e");
  if (isTinyOrHuge(size)) return sign + withPower(Number(mantissa), exponent);
  return sign + String(Number(`${mantissa}e${exponent}`));
}

/** @param {string | number} mantissa @param {string} exponent */
const withPower = (mantissa, exponent) => `${mantissa}e${exponent.replace("+", "").replace("-", MINUS)}`;

/** With as many digits as tell different numbers apart. @param {number[]} values */
export function formatApart(...values) {
  const count = new Set(values).size;
  const longer = [2, 3, 4, 5].map((most) => values.map((value) => significant(value, most)));
  const texts = [values.map(formatNumber), ...longer].find((each) => new Set(each).size === count);
  return texts ?? values.map(formatLong);
}

/** With all digits that its format has. @param {number} value @param {string} dtype */
export function fullNumber(value, dtype) {
  if (!Number.isFinite(value)) return formatNumber(value);
  let text = String(value);
  // The shortest text that reads back as the same float32: 0.1 instead of 0.10000000149011612.
  for (let digits = 6; dtype !== "float64" && digits <= 9; digits++) {
    text = String(Number(value.toPrecision(digits)));
    if (Math.fround(Number(text)) === value) break;
  }
  return text.replaceAll("-", MINUS);
}

/**
 * Accepts a decimal comma and a true minus, too. Returns null where the text is no finite number.
 * @param {string} text
 */
export function parseNumber(text) {
  const plain = text.trim().replaceAll(MINUS, "-").replace(",", ".");
  if (!/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(plain)) return null;
  const value = Number(plain);
  return Number.isFinite(value) ? value : null;
}

/** @typedef {{ at: number, rgb: number[] }} Stop */
/** Caches the parsed stops of each scale, because a scale never changes. @type {WeakMap<Scale, Stop[]>} */
const stops = new WeakMap();

/** @param {Scale} scale @returns {Stop[]} */
function readStops(scale) {
  const read = scale.map(([at, hex]) => ({
    at,
    rgb: [1, 3, 5].map((start) => parseInt(hex.slice(start, start + 2), 16)),
  }));
  stops.set(scale, read);
  return read;
}

/**
 * RGB on a diverging scale that ends at `limit`.
 * @param {Scale} scale @param {number} value @param {number} limit @returns {number[]}
 */
export function colorOf(scale, value, limit) {
  const position = Math.min(1, Math.max(0, (value / limit + 1) / 2));
  const all = stops.get(scale) ?? readStops(scale);
  for (let i = 1; i < all.length; i++) {
    const [start, end] = [all[i - 1], all[i]];
    if (position <= end.at) {
      const share = (position - start.at) / (end.at - start.at);
      const [[r, g, b], to] = [start.rgb, end.rgb];
      return [r + share * (to[0] - r), g + share * (to[1] - g), b + share * (to[2] - b)];
    }
  }
  return all[all.length - 1].rgb;
}

/** @param {number[]} color */
export const cssColor = (color) => `rgb(${color.map(Math.round).join(", ")})`;

/** Returns true where white ink has more contrast than black (WCAG 2). @param {number[]} color */
export function needsWhiteInk(color) {
  const [r, g, b] = color.map((part) => {
    const share = part / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b < 0.179;
}

/** @param {number[]} color */
export const inked = (color) => ({ fill: cssColor(color), ink: needsWhiteInk(color) ? "#fff" : "#000" });

/**
 * @typedef {number[] | Float32Array | Float64Array} Numbers of one plane, in reading order
 * @typedef {[number, string][]} Scale colours by share, from 0 to 1
 */

/**
 * A DataView from a kernel, else an array.
 * @param {ArrayBufferView<ArrayBuffer> | ArrayBuffer | number[]} wire @param {string} dtype
 * @returns {Numbers}
 */
export function decode(wire, dtype) {
  if (Array.isArray(wire)) return wire;
  const Kind = dtype === "float64" ? Float64Array : Float32Array;
  if (wire instanceof ArrayBuffer) return new Kind(wire);
  // Copied: a view into a message need not be aligned.
  return new Kind(wire.buffer.slice(wire.byteOffset, wire.byteOffset + wire.byteLength));
}
