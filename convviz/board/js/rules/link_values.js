// @ts-check
// How one value stands in a link: the same forms as settings/link_values.py. A reader throws for every other form.

/** @import { Source } from "./settings.js" */

const WHOLE = /^[0-9]{1,10}$/;
const DECIMAL = /^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,4})?$/;

/** @param {unknown} holds @returns {asserts holds} */
function need(holds) {
  if (!holds) throw new Error("of another form");
}

/** @param {string} text */
export const isWhole = (text) => WHOLE.test(text);

/** @param {number} value */
const writeNumber = (value) => String(value === 0 ? 0 : value).replace("e+", "e");

/** @param {string} text */
function readNumber(text) {
  const value = Number(text);
  need(DECIMAL.test(text) && Math.abs(value) < 1e300);
  return value;
}

/** @param {string} text @param {number} low @param {number} high */
export function readWhole(text, low, high) {
  need(WHOLE.test(text) && Number(text) >= low && Number(text) <= high);
  return Number(text);
}

/** `8`, or `8x6` for height and width. @param {number[]} pair */
export const writePair = ([height, width]) => (height === width ? `${height}` : `${height}x${width}`);

/** @param {string} text @param {number} low @param {number} high */
export function readPair(text, low, high) {
  const parts = text.split("x").map((part) => readWhole(part, low, high));
  need(parts.length <= 2);
  return [parts[0], parts[parts.length - 1]];
}

/** A padding: `1`, `1x2`, or `1,2x0,1` for top, bottom, left and right. @param {number[][]} sides */
export function writeSides(sides) {
  const [height, width] = sides.map(([before, after]) => (before === after ? `${before}` : `${before},${after}`));
  return height === width ? height : `${height}x${width}`;
}

/** @param {string} text @param {number} low @param {number} high */
export function readSides(text, low, high) {
  const axes = text.split("x").map((axis) => {
    const cells = axis.split(",").map((part) => readWhole(part, low, high));
    need(cells.length <= 2);
    return [cells[0], cells[cells.length - 1]];
  });
  need(axes.length <= 2);
  return [[...axes[0]], [...axes[axes.length - 1]]];
}

/** A name, or a name with the shape and the numbers: `values:1x1x1x2:0.5,-1`. @param {Source} source */
export function writeSource({ kind, values = [], shape = [] }) {
  const numbers = values.map(writeNumber).join();
  if (kind === "values" || kind === "image") return `${kind}:${shape.join("x")}:${numbers}`;
  return kind === "one_hot" && values.length ? `${kind}:${numbers}` : kind;
}

/** @param {string} text @param {string[]} kinds @returns {Source} */
export function readSource(text, kinds) {
  const [kind, ...parts] = text.split(":");
  need(kinds.includes(kind));
  if (kind === "values" || kind === "image") {
    need(parts.length === 2);
    const shape = parts[0].split("x").map((size) => readWhole(size, 1, 10 ** 10));
    const values = readNumbers(parts[1]);
    need(shape.length === (kind === "image" ? 2 : 4) && shape.reduce((product, size) => product * size) === values.length);
    return { kind, values, shape };
  }
  if (kind === "one_hot" && parts.length === 1) {
    const values = readNumbers(parts[0]);
    need(values.length === 4 && values.every((value) => value >= 0 && value % 1 === 0));
    return { kind, values };
  }
  need(!parts.length);
  return { kind };
}

/** A bias as its numbers alone. @param {Source | null} source */
export const writeBias = (source) => (source?.values ?? []).map(writeNumber).join();

/** @param {string} text @returns {Required<Source>} */
export function readBias(text) {
  const values = readNumbers(text);
  return { kind: "values", values, shape: [values.length] };
}

/** @param {string} text @param {string[]} words */
export function readWord(text, words) {
  need(words.includes(text));
  return text;
}

/** @param {string} text */
export function readPlane(text) {
  const indices = text.split(",").map((part) => readWhole(part, 0, 1e9));
  need(indices.length === 3);
  return { sample: indices[0], out_channel: indices[1], in_channel: indices[2] };
}

/** @param {string} text */
const readNumbers = (text) => text.split(",").map(readNumber);
