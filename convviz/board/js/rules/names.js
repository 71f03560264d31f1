// @ts-check
// What the page calls each tensor and axis: a transposed convolution has its own words for the same panels.

/** @import { Axis } from "./plane.js" */

/** @type {Record<string, string>} */
const SHOWN = {
  input: "grad_output",
  padded_input: "padded_grad_output",
  output: "grad_input",
  grad_output: "input",
  dilated_grad_output: "dilated_input",
  padded_grad_output: "padded_input",
  grad_input: "output",
};
/** @type {Record<string, Axis>} */
const LETTERS = { o: "c", c: "o" };
const AXIS_WORDS = { n: "sample n", o: "output channel o", c: "input channel c" };
/** @type {Record<string, string>} */
const PRODUCTS = {
  output: "weight[k]·input[i]",
  grad_input: "grad_output[o]·weight[k]",
  grad_padded_input: "grad_output[o]·weight[k]",
  grad_weight: "grad_output[o]·input[i]",
};
/** @type {Record<string, string>} */
const PRODUCTS_TRANSPOSED = {
  grad_input: "input[i]·weight[k]",
  output: "weight[k]·grad_output[o]",
  grad_weight: "input[i]·grad_output[o]",
};

/** @param {string} name @param {boolean} transposed */
export const shownName = (name, transposed) => (transposed ? SHOWN[name] ?? name : name);

/** @param {Axis} axis @param {boolean} transposed */
const shownLetter = (axis, transposed) => (transposed ? LETTERS[axis] ?? axis : axis);

/** @param {Axis} axis @param {boolean} transposed */
export const axisWord = (axis, transposed) => AXIS_WORDS[shownLetter(axis, transposed)];

/** @param {string} name @param {boolean} transposed */
export const productsOf = (name, transposed) => (transposed ? PRODUCTS_TRANSPOSED : PRODUCTS)[name] ?? "";

/** What the page says about the cells that a stride leaves over. @param {boolean} transposed */
export function cellWords(transposed) {
  if (transposed) return { remainder: "padding for output_padding", unread: "never reached" };
  return { remainder: "padding for the remainder", unread: "never read" };
}

/** A formula of the convolution in the words of the transposed layer. @param {string} formula */
export function inLayersWords(formula) {
  const named = formula.replace(/[a-z]+(?:_[a-z]+)+|input|output/g, (name) => SHOWN[name] ?? name);
  return named.replace(/(?<=[[_ ])[oc](?=[\],\s]|ij\b|$)/g, (letter) => LETTERS[letter]);
}
