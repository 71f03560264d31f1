// A step of gradient descent, as torch.optim.SGD takes it, and how the loss falls.
import SETTINGS from "../../facts/data/settings.json" with { type: "json" };
import { say } from "../rules/sentences.js";
import { MAX_NUMBER, replaced, shapeOfOutput, sourceWith, tensorsOf } from "../rules/settings_and_tensors.js";
import { EPS, unsigned } from "./compare_with_torch.js";
import { largestOf } from "../rules/shapes_and_indices.js";
import { computeStages } from "./compute.js";

/**
 * @import { Given } from "../rules/settings_and_tensors.js"
 * @typedef {{ lowest: number | null, safe: number, rounding: number, fall: number }} Slope lowest, safe:
 *   rates; rounding: of the loss
 */

/** After the word for "closed". */
export const RATES = /** @type {number[]} */ (SETTINGS.fields.lr.words.slice(1));
const ROUNDINGS = 4; // of its terms that a loss may be off by; torch needs 1

/** @param {Tensor} tensor @param {Tensor} gradient @param {number} lr @returns {Tensor} */
const stepped = ({ shape, data }, gradient, lr) => ({
  shape,
  data: data.map((value, at) => value - lr * gradient.data[at]),
});

/**
 * w ← w − lr · grad_weight, and the bias, if any.
 * @param {Settings} settings @param {Stages} stages @param {number} lr @returns {Changed}
 */
export function gradientStep(settings, stages, lr) {
  const made = { weight: stepped(stages.weight, stages.grad_weight, lr) };
  const bias = stages.bias && stages.grad_bias ? stepped(stages.bias, stages.grad_bias, lr) : null;
  if ([...made.weight.data, ...(bias?.data ?? [])].some((value) => !(Math.abs(value) < MAX_NUMBER))) {
    throw new Error(say("refused.learn", { most: MAX_NUMBER, lr }));
  }
  return [
    replaced(settings, { weight: sourceWith(made.weight), ...(bias ? { bias: sourceWith(bias) } : {}) }),
    [],
  ];
}

/** @param {Settings} settings */
export const hasLowestPoint = ({ loss }) => SETTINGS.losses_with_a_lowest_point.includes(loss);

/**
 * With a loss that has a lowest point: ½ Σ (output − target)² and, unless chosen, a single 1 as target, where
 * one was sent back or in the middle.
 * @param {Settings} settings
 */
export function withLowestPoint(settings) {
  const { target, grad } = settings;
  const middle = shapeOfOutput(settings).map((size, axis) => (axis < 2 ? 0 : Math.floor(size / 2)));
  const one = { kind: "one_hot", values: (grad.kind === "one_hot" && grad.values) || middle };
  const loss = SETTINGS.losses_of_a_difference[0];
  return replaced(settings, { loss, target: target.kind === "zeros" ? one : target });
}

/** @param {Settings} settings @param {Given} given */
function outputOf({ spec, transposed }, given) {
  const { output, grad_input } = computeStages(spec, "sum", given, transposed);
  return transposed ? grad_input : output;
}

/** @param {Stages} stages */
const gradientOf = ({ grad_weight, grad_bias }) => [...grad_weight.data, ...(grad_bias?.data ?? [])];

/** @param {Stages} stages */
export const isFlat = (stages) => gradientOf(stages).every((value) => value === 0);

/** @param {ArrayLike<number>} values */
const sumOfSquares = (values) => Array.from(values).reduce((sum, value) => sum + value * value, 0);

/**
 * How far the loss may be off because its dtype rounds: an output by a share of its terms, and the loss by
 * its slope along that output.
 * @param {Settings} settings @param {Stages} stages
 */
function lossRounding(settings, stages) {
  const { input, weight, bias } = tensorsOf(settings);
  const sizes = { input: unsigned(input), weight: unsigned(weight), bias: bias && unsigned(bias) };
  const terms = outputOf(settings, { ...sizes, target: null, grad: null }).data;
  const slopes = (settings.transposed ? stages.input : stages.grad_output).data;
  const share = ROUNDINGS * EPS[settings.dtype];
  const spread = terms.reduce(
    (sum, size, at) => sum + share * (Math.abs(slopes[at]) + share * size) * size,
    0,
  );
  const logs = SETTINGS.losses_of_a_difference.includes(settings.loss) ? 0 : 1; // of sums, near 1
  return share * (Math.abs(stages.loss) + logs) + spread;
}

/**
 * Returns the largest rate that cannot raise the loss, or null where even the smallest may.
 * @param {Settings} settings
 */
export const safeChoice = (settings) => RATES.findLast((rate) => rate <= safeRate(settings)) ?? null;

/**
 * No step rises at 2 / trace(H): H of ½ Σ (output − target)² adds up squares of what a weight meets, and no
 * curvature exceeds their sum. Other losses are flatter.
 * @param {Settings} settings
 */
export function safeRate(settings) {
  const given = tensorsOf(settings);
  const squares = { ...given.input, data: given.input.data.map((value) => value * value) };
  const ones = (/** @type {Tensor | null} */ tensor) =>
    tensor && { ...tensor, data: tensor.data.map(() => 1) };
  const along = {
    ...given,
    input: squares,
    weight: /** @type {Tensor} */ (ones(given.weight)),
    bias: ones(given.bias),
  };
  const { shape, data } = outputOf(settings, along);
  const traces = Array(shape[1]).fill(0); // each output channel has weights of its own
  data.forEach((value, at) => (traces[Math.floor(at / (shape[2] * shape[3])) % shape[1]] += value));
  return 2 / Math.max(...traces, Number.MIN_VALUE);
}

/**
 * Returns the rate with which one step reaches the minimum along the gradient. The output moves by lr · (input ⊛
 * grad_weight), so the loss is a parabola in lr; this returns null where it is none.
 * @param {Settings} settings @param {Stages} stages
 */
export function lowestAlong(settings, stages) {
  if (!SETTINGS.losses_of_a_difference.includes(settings.loss)) return null;
  const largest = largestOf(gradientOf(stages)); // scaled to 1: squares of the largest would overflow
  const scaled = (/** @type {Tensor} */ { shape, data }) => ({
    shape,
    data: data.map((each) => each / largest),
  });
  const [weight, bias] = [scaled(stages.grad_weight), stages.grad_bias && scaled(stages.grad_bias)];
  const moved = outputOf(settings, { ...tensorsOf(settings), weight, bias });
  const curvature = sumOfSquares(moved.data);
  return curvature > 0 ? sumOfSquares([...weight.data, ...(bias?.data ?? [])]) / curvature : null;
}

/**
 * All that a verdict on a step needs. No step of an offered rate lowers the loss by more than `fall`, because
 * losses are convex, and a parabola falls to its lowest point.
 * @param {Settings} settings @param {Stages} stages @returns {Slope}
 */
export function slopeAt(settings, stages) {
  const lowest = lowestAlong(settings, stages);
  return {
    lowest,
    safe: safeRate(settings),
    rounding: lossRounding(settings, stages),
    fall: sumOfSquares(gradientOf(stages)) * (lowest === null ? RATES[RATES.length - 1] : lowest / 2),
  };
}
