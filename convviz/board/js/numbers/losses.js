// @ts-check
// The losses that start the backward pass, one entry each: its value, and grad_output. ops/losses.py has the same entries,
// facts/settings.json says which of them are given a target, or a grad set by hand.

/**
 * @import { Tensor } from "../rules/settings.js"
 * @typedef {{ value: (output: Tensor, other: Tensor) => number, gradient: (output: Tensor, other: Tensor) => Tensor }} Loss
 *   other: what the loss is given, of output's shape; a loss that is given nothing does not look at it
 */

/** @type {Record<string, Loss>} */
export const LOSSES = {
  half_squared_error: {
    value: (output, target) => 0.5 * sum(output, (value, index) => (value - target.data[index]) ** 2),
    gradient: (output, target) => each(output, (value, index) => value - target.data[index]),
  },
  sum: {
    value: (output) => sum(output, (value) => value),
    gradient: (output) => each(output, () => 1),
  },
  mean: {
    value: (output) => sum(output, (value) => value) / output.data.length,
    gradient: (output) => each(output, () => 1 / output.data.length),
  },
  weighted_sum: {
    value: (output, grad) => sum(output, (value, index) => grad.data[index] * value),
    gradient: (output, grad) => each(output, (_, index) => grad.data[index]),
  },
};

/** @param {Tensor} tensor @param {(value: number, index: number) => number} term */
function sum({ data }, term) {
  return data.reduce((total, value, index) => total + term(value, index), 0);
}

/** @param {Tensor} tensor @param {(value: number, index: number) => number} made @returns {Tensor} */
function each({ shape, data }, made) {
  return { shape, data: data.map(made) };
}
