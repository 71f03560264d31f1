// The losses, as in ops/losses.py: value, and grad_output; facts/data/settings.json says what each is given.
import { upTo } from "../rules/shapes_and_indices.js";

/**
 * @typedef {{ value: (output: Tensor, other: Tensor) => number, gradient: (output: Tensor, other: Tensor)
 *   => Tensor }} Loss other: of output's shape, if given
 */

/** @type {Record<string, Loss>} */
export const LOSSES = {
  half_squared_error: {
    value: (output, target) => 0.5 * sum(output, (value, index) => (value - target.data[index]) ** 2),
    gradient: (output, target) => each(output, (value, index) => value - target.data[index]),
  },
  cross_entropy: {
    value: crossEntropy,
    gradient: softmaxMinusTarget,
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

/**
 * Mean over samples, as in torch; all cells of a sample are classes.
 * @param {Tensor} output @param {Tensor} target
 */
function crossEntropy(output, target) {
  const logs = logSoftmax(output);
  return sum(target, (share, index) => (share ? -share * logs[index] : 0)) / output.shape[0];
}

/**
 * Softmax minus target, over the batch; a target may not add up to 1.
 * @param {Tensor} output @param {Tensor} target
 */
function softmaxMinusTarget(output, target) {
  const logs = logSoftmax(output);
  const [batch] = output.shape;
  const totals = samplesOf(target).map((sample) => sample.reduce((total, share) => total + share, 0));
  const cells = logs.length / batch;
  return each(
    target,
    (share, index) => (Math.exp(logs[index]) * totals[Math.floor(index / cells)] - share) / batch,
  );
}

/** Without the largest first, exponentials overflow. @param {Tensor} output */
function logSoftmax(output) {
  const logs = { shape: output.shape, data: output.data.slice() };
  for (const sample of samplesOf(logs)) {
    const most = sample.reduce((largest, value) => Math.max(largest, value));
    const rest = Math.log(sample.reduce((total, value) => total + Math.exp(value - most), 0));
    sample.forEach((value, cell) => void (sample[cell] = value - most - rest));
  }
  return logs.data;
}

/** Returns a view of the data for each sample. @param {Tensor} tensor */
function samplesOf({ shape: [batch], data }) {
  const cells = data.length / batch;
  return upTo(batch).map((n) => data.subarray(n * cells, (n + 1) * cells));
}

/** @param {Tensor} tensor @param {(value: number, index: number) => number} term */
function sum({ data }, term) {
  return data.reduce((total, value, index) => total + term(value, index), 0);
}

/** @param {Tensor} tensor @param {(value: number, index: number) => number} made @returns {Tensor} */
function each({ shape, data }, made) {
  return { shape, data: data.map(made) };
}
