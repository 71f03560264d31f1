// Recipes, as in mistakes/recipe_steps.py: facts/data/recipes.json has the right choices, facts/data/mistakes/
// those that differ.
import RECIPES from "../../facts/data/recipes.json" with { type: "json" };
import { bothAxes, outputSize, remainderOf } from "./conv_geometry.js";
import { upTo } from "./shapes_and_indices.js";

/**
 * @typedef {"grad_input" | "grad_weight" | "grad_bias"} Gradient
 * @typedef {Gradient | "output"} Result
 * @typedef {Record<string, string>} Recipe step → choice
 * @typedef {{ result: number, slot: number, at: number }} Met kernel cell `slot` meets cell `at`
 * @typedef {Record<string, number>} Line numbers by their names in recipes; p_after and 2 * p know an
 *   uneven padding
 */

/** The checker in Python knows more. @type {Record<string, string[]>} */
const KNOWN = {
  axes: ["own", "exchanged"],
  groups: ["own", "ignored", "reversed"],
  shape: ["as it comes", "[1]"],
};

/** @param {Recipe} way */
export const isKnown = (way) =>
  Object.entries(way).every(([step, choice]) => !(step in KNOWN) || KNOWN[step].includes(choice));

/** @param {Result} of @param {Recipe} recipe @returns {Recipe} */
export const completeRecipe = (of, recipe) => ({ ...RECIPES[of], ...recipe });

/** @param {Spec} spec @param {number} axis @returns {Line} */
function lineOf(spec, axis) {
  const { input_size, kernel_size, stride, dilation, padding } = spec;
  const [N, K, s, d] = [input_size, kernel_size, stride, dilation].map((pair) => pair[axis]);
  const [[p, after], r] = [padding[axis], remainderOf(spec, axis)];
  return {
    0: 0,
    1: 1,
    N,
    K,
    "K - 1": K - 1,
    s,
    "s - 1": s - 1,
    p,
    p_after: after,
    "2 * p": p + after,
    d,
    "d - 1": d - 1,
    "d * (K - 1)": d * (K - 1),
    r,
    "s if s > 1": s > 1 ? s : 0,
    "-1": -1,
    "1 if p": p ? 1 : 0,
  };
}

/** Behind the input, padding may differ. @param {Line} line @param {string} choice */
export const behind = (line, choice) => line[choice === "p" ? "p_after" : choice];

/**
 * Exchanged: rows have those of columns.
 * @param {Recipe} chosen @param {Spec} spec @returns {[Line, Line]}
 */
export function linesOf(chosen, spec) {
  const [rows, columns] = bothAxes((axis) => lineOf(spec, axis));
  return chosen.axes === "own" ? [rows, columns] : [columns, rows];
}

/** @param {Recipe} chosen @param {Spec} spec */
export function samplesOf(chosen, { batch }) {
  const all = upTo(batch);
  if (chosen.batch === "first") return all.slice(0, 1);
  return chosen.batch === "last" ? all.slice(-1) : all;
}

/** @param {Recipe} chosen @param {Spec} spec */
export function factorOf(chosen, spec) {
  const area = outputSize(spec, 0) * outputSize(spec, 1);
  return (
    {
      "-1": -1,
      2: 2,
      "1/2": 0.5,
      "1/N": 1 / spec.batch,
      "1/(H W)": 1 / area,
      "1/(N H W)": 1 / (spec.batch * area),
    }[chosen.times] ?? 1
  );
}

/**
 * The place before turning; H, W: last row and column.
 * @type {Record<string, (row: number, column: number, H: number, W: number) => Pair>}
 */
const ORIENTATIONS = {
  "as it is": (a, b) => [a, b],
  "rotated 90°": (a, b, H, W) => [b, W - a],
  "rotated 180°": (a, b, H, W) => [H - a, W - b],
  "rotated 270°": (a, b, H) => [H - b, a],
  "flipped left to right": (a, b, H, W) => [a, W - b],
  "flipped top to bottom": (a, b, H) => [H - a, b],
  transposed: (a, b) => [b, a],
  "transposed and rotated": (a, b, H, W) => [H - b, W - a],
};
const EXCHANGE = ["rotated 90°", "rotated 270°", "transposed", "transposed and rotated"];

/** @param {string} name @param {Pair} size @returns {Pair} */
export const turnedSize = (name, [height, width]) =>
  EXCHANGE.includes(name) ? [width, height] : [height, width];

/** @param {string} name @param {Pair} size */
export const turnedFrom =
  (name, [height, width]) =>
  (/** @type {number} */ row, /** @type {number} */ column) =>
    ORIENTATIONS[name](row, column, height - 1, width - 1);

/**
 * Slide a kernel along an axis.
 * @param {{ step: number, spacing: number, cells: number, length: number, first?: number }} way cells: of the
 *   kernel; length: of the result
 * @param {(position: number) => number | null} cellAt what is met there @returns {Met[]}
 */
export function slide({ step, spacing, cells, length, first = 0 }, cellAt) {
  const met = [];
  for (let result = 0; result < length; result++) {
    for (let slot = 0; slot < cells; slot++) {
      const at = cellAt((first + result) * step + slot * spacing);
      if (at !== null) met.push({ result, slot, at });
    }
  }
  return met;
}

/**
 * Of cells that stand apart, which one a position has.
 * @param {{ pitch: number, first: number }} apart @param {number} position @param {number} count
 */
export function cellApart({ pitch, first }, position, count) {
  const cell = (position - first) / pitch;
  return Number.isInteger(cell) && cell >= 0 && cell < count ? cell : null;
}
