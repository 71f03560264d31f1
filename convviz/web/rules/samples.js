// Named inputs and kernels, as in samples/; planes in reading order.
import DIGITS from "../../facts/data/digits.json" with { type: "json" };
import SETTINGS from "../../facts/data/settings.json" with { type: "json" };
import { countOf, eachCell, flatIndex, indicesAt, upTo } from "./shapes_and_indices.js";

/** Sums of outer products, the column first. @type {Record<string, string[][]>} */
const KERNELS = SETTINGS.kernels;
export const PRESETS = Object.keys(KERNELS);

/** @param {number[]} numbers */
const sum = (numbers) => numbers.reduce((total, value) => total + value, 0);

/** @type {Record<string, number[][]>} of 1 cell, of 2, … */
const ROWS = SETTINGS.kernel_rows;

/** @param {string} name @param {number[]} size */
export function sampleKernel(name, [rows, columns]) {
  if (name === "counting") return eachCell(rows, columns, (r, c) => r * columns + c + 1);
  const kernel = eachCell(rows, columns, (r, c) =>
    sum(KERNELS[name].map(([down, across]) => ROWS[down][rows - 1][r] * ROWS[across][columns - 1][c])),
  );
  const total = SETTINGS.kernels_that_average.includes(name) ? sum(kernel) : 1;
  return kernel.map((value) => value / total);
}

/** Limits random weights to −3 … 3, as settings/tensors.py does. @param {number[]} numbers */
export const clamped = (numbers) => numbers.map((value) => Math.min(3, Math.max(-3, value)));

/**
 * @param {string} kind @param {number} plane each has an image of its own @param {number[]} size
 * @param {number} digit
 */
export function samplePlane(kind, plane, [rows, columns], digit) {
  if (kind === "delta") {
    const [row, column] = [
      (Math.floor(rows / 2) + plane) % rows,
      (Math.floor(columns / 2) + plane) % columns,
    ];
    return eachCell(rows, columns, (r, c) => Number(r === row && c === column));
  }
  if (kind === "ramp") {
    // Odd planes count down: channels differ in more than an offset.
    return eachCell(rows, columns, (r, c) => ((plane % 2 ? c * rows + r : r * columns + c) + plane) / 10);
  }
  if (kind === "whole") return eachCell(rows, columns, (r, c) => (r * r + c * c + r * c + c + plane) % 5);
  if (kind === "checkerboard") return eachCell(rows, columns, (r, c) => Number((r + c + plane) % 2 === 0));
  const picture = DIGITS.digits[(digit + plane) % 10]; // ink, 0 to 16
  const ink = picture.flat().map((value) => value / 16);
  return resizePlane(ink, [picture.length, picture[0].length], [rows, columns]);
}

/**
 * Averages cells where no side grows, and interpolates between them otherwise.
 * @param {number[]} plane @param {number[]} from @param {number[]} to
 */
export function resizePlane(plane, from, to) {
  const larger = from[0] < to[0] || from[1] < to[1];
  const [down, across] = [0, 1].map((axis) => sharesOf(from[axis], to[axis], larger));
  return eachCell(to[0], to[1], (r, c) => {
    const terms = down[r].map(
      ([row, share]) => share * sum(across[c].map(([column, part]) => part * plane[row * from[1] + column])),
    );
    return sum(terms);
  });
}

/**
 * Which cells it averages, and their shares.
 * @param {number} from @param {number} to @param {boolean} larger
 */
function sharesOf(from, to, larger) {
  return upTo(to).map((index) => {
    if (larger) {
      const at = Math.min(Math.max(((index + 0.5) * from) / to - 0.5, 0), from - 1);
      const low = Math.floor(at);
      return [
        [low, 1 - (at - low)],
        [Math.min(low + 1, from - 1), at - low],
      ];
    }
    const [start, end] = [Math.floor((index * from) / to), Math.ceil(((index + 1) * from) / to)];
    return upTo(end - start).map((cell) => [start + cell, 1 / (end - start)]);
  });
}

/** Crop, or extend with zeros. @param {number[]} values @param {number[]} from @param {number[]} to */
export function fitTensor(values, from, to) {
  return upTo(countOf(to)).map((index) => {
    const places = indicesAt(to, index);
    return places.every((place, axis) => place < from[axis]) ? values[flatIndex(from, places)] : 0;
  });
}
