// A step of gradient descent, as torch.optim.SGD takes it, and how the loss falls.
import SETTINGS from "../../facts/settings.json" with { type: "json" };
import { say } from "../rules/sentences.js";
import {
  MOST_NUMBER,
  replaced,
  shapeOfOutput,
  sourceWith,
  tensorsOf,
} from "../rules/settings_and_tensors.js";
import { computeStages } from "./compute.js";

/** @import { Given } from "../rules/settings_and_tensors.js" */

/** After the word for "closed". */
export const RATES = /** @type {number[]} */ (SETTINGS.fields.lr.words.slice(1));

/** @param {Tensor} tensor @param {Tensor} gradient @param {number} lr @returns {Tensor} */
const stepped = ({ shape, data }, gradient, lr) => ({
  shape,
  data: data.map((value, at) => value - lr * gradient.data[at]),
});

/**
 * w ← w − lr · grad_weight, and the bias, if any.
 * @param {Settings} settings @param {Stages} stages @param {number} lr @returns {Changed}
 */
export function learned(settings, stages, lr) {
  const made = { weight: stepped(stages.weight, stages.grad_weight, lr) };
  const bias = stages.bias && stages.grad_bias ? stepped(stages.bias, stages.grad_bias, lr) : null;
  if ([...made.weight.data, ...(bias?.data ?? [])].some((value) => !(Math.abs(value) < MOST_NUMBER))) {
    throw new Error(say("refused.learn", { most: MOST_NUMBER, lr }));
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

/** Σ g² over weight and bias: the fall of a step, over its small lr. @param {Stages} stages */
export const steepness = ({ grad_weight, grad_bias }) =>
  [...grad_weight.data, ...(grad_bias?.data ?? [])].reduce((sum, value) => sum + value * value, 0);

/** null: even the smallest may rise. @param {Settings} settings */
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
 * One step reaches the minimum along it; null: no parabola. The output moves by lr · (input ⊛ grad_weight),
 * so the loss is a parabola in lr.
 * @param {Settings} settings @param {Stages} stages
 */
export function lowestAlong(settings, stages) {
  if (!SETTINGS.losses_of_a_difference.includes(settings.loss)) return null;
  const along = { ...tensorsOf(settings), weight: stages.grad_weight, bias: stages.grad_bias };
  const curvature = outputOf(settings, along).data.reduce((sum, value) => sum + value * value, 0);
  return curvature > 0 ? steepness(stages) / curvature : null;
}
