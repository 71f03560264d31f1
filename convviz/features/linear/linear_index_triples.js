// The rules of a linear layer as index triples: output[n, o] += input[n, i] * weight[o, i], and what follows.
import { upTo } from "../../web/rules/shapes_and_indices.js";

/**
 * A vector has the row 0.
 * @typedef {{ tensor: string, row: number, column: number }} LinearCell
 * @typedef {{ batch: number, in_features: number, out_features: number }} LinearSizes
 */

// How each tensor is indexed: the names of its two axes, of one where it is a vector.
/** @type {Record<string, string[]>} */
const AXES_OF = {
  input: ["n", "i"],
  weight: ["o", "i"],
  bias: ["", "o"],
  output: ["n", "o"],
  grad_output: ["n", "o"],
  grad_input: ["n", "i"],
  grad_weight: ["o", "i"],
  grad_bias: ["", "o"],
};

/**
 * Factors of its products, and the axis summed over.
 * @type {Record<string, { factors: string[], over: "n" | "o" | "i" }>}
 */
export const LINEAR_RULES = {
  output: { factors: ["input", "weight"], over: "i" },
  grad_input: { factors: ["grad_output", "weight"], over: "o" },
  grad_weight: { factors: ["grad_output", "input"], over: "n" },
  grad_bias: { factors: ["grad_output"], over: "n" },
};

/** @param {LinearSizes} sizes */
function lengths({ batch, in_features, out_features }) {
  return { n: batch, i: in_features, o: out_features, "": 1 };
}

/** @param {string} tensor @param {Record<string, number>} at @returns {LinearCell} */
function cellIn(tensor, at) {
  const [row, column] = AXES_OF[tensor];
  return { tensor, row: at[row] ?? 0, column: at[column] };
}

/** @param {LinearCell} cell */
function fixedBy({ tensor, row, column }) {
  const [first, second] = AXES_OF[tensor];
  return first ? { [first]: row, [second]: column } : { [second]: column };
}

/** @param {LinearCell} cell */
export function linearName({ tensor, row, column }) {
  return AXES_OF[tensor][0] ? `${tensor}[${row}, ${column}]` : `${tensor}[${column}]`;
}

/**
 * Lists the factors of each product that a cell sums; the list is empty for a cell that is no sum.
 * @param {LinearSizes} sizes @param {LinearCell} cell @returns {LinearCell[][]}
 */
export function linearTerms(sizes, cell) {
  const rule = LINEAR_RULES[cell.tensor];
  if (!rule) return [];
  const at = fixedBy(cell);
  return upTo(lengths(sizes)[rule.over]).map((index) =>
    rule.factors.map((factor) => cellIn(factor, { ...at, [rule.over]: index })),
  );
}

/**
 * Finds what a cell is computed from, and what is computed from it together with the other factors.
 * @param {LinearSizes} sizes @param {LinearCell} cell @returns {LinearCell[]}
 */
export function linearLinks(sizes, cell) {
  const found = new Map();
  const add = (other) => found.set(linearName(other), other);
  for (const term of linearTerms(sizes, cell)) term.forEach(add);
  const at = fixedBy(cell);
  for (const [result, { factors }] of Object.entries(LINEAR_RULES)) {
    if (!factors.includes(cell.tensor)) continue;
    for (const place of everyPlace(lengths(sizes), at))
      [result, ...factors].forEach((name) => add(cellIn(name, place)));
  }
  if (cell.tensor === "output") add(cellIn("bias", at));
  if (cell.tensor === "bias")
    for (const place of everyPlace(lengths(sizes), at)) add(cellIn("output", place));
  found.delete(linearName(cell));
  return [...found.values()];
}

/** That agrees with what is fixed. @param {Record<string, number>} most @param {Record<string, number>} at */
function everyPlace(most, at) {
  const values = (axis) => (axis in at ? [at[axis]] : upTo(most[axis]));
  return values("n").flatMap((n) => values("o").flatMap((o) => values("i").map((i) => ({ n, o, i }))));
}
