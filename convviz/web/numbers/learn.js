// @ts-check
// One step of gradient descent, as torch.optim.SGD without momentum takes it, and how far the
// loss goes down along it.
import SETTINGS from "../../facts/settings.json" with { type: "json" };
import { say } from "../rules/say.js";
import { MOST_NUMBER, replaced, shapeOfOutput, sourceWith, tensorsOf } from "../rules/settings.js";
import { computeStages } from "./compute.js";

/**
 * @import { Changed } from "../rules/change.js"
 * @import { Given, Settings, Stages, Tensor } from "../rules/settings.js"
 */

/** The learning rates to choose from; the word before them means that Learn is closed. */
export const RATES = /** @type {number[]} */ (SETTINGS.fields.lr.words.slice(1));

/** @param {Tensor} tensor @param {Tensor} gradient @param {number} lr @returns {Tensor} */
const stepped = ({ shape, data }, gradient, lr) => ({
  shape,
  data: data.map((value, at) => value - lr * gradient.data[at]),
});

/**
 * The settings after one step: w ← w − lr · grad_weight, and the bias as well where there is one.
 * @param {Settings} settings @param {Stages} stages the numbers that follow from them
 * @param {number} lr the learning rate
 * @returns {Changed}
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

/**
 * Settings with something to learn: where the loss has no lowest point, ½ Σ (output − target)², and as the
 * target a single 1, where a single 1 was sent back or else in the middle. A target that
 * somebody chose before stays.
 * @param {Settings} settings @returns {Settings}
 */
export function withLowestPoint(settings) {
  if (SETTINGS.losses_with_a_lowest_point.includes(settings.loss)) return settings;
  const { target, grad } = settings;
  const middle = shapeOfOutput(settings).map((size, axis) => (axis < 2 ? 0 : Math.floor(size / 2)));
  const one = { kind: "one_hot", values: (grad.kind === "one_hot" && grad.values) || middle };
  const loss = SETTINGS.losses_of_a_difference[0];
  return replaced(settings, { loss, target: target.kind === "zeros" ? one : target });
}

/**
 * What the layer makes of other tensors: a transposed one is the picture read the other way.
 * @param {Settings} settings @param {Given} given
 */
function outputOf({ spec, transposed }, given) {
  const { output, grad_input } = computeStages(spec, "sum", given, transposed);
  return transposed ? grad_input : output;
}

/**
 * Σ g² over weight and bias: how steep the loss is, and what it falls by in a step, divided by a small lr.
 * @param {Stages} stages
 */
export const steepness = ({ grad_weight, grad_bias }) =>
  [...grad_weight.data, ...(grad_bias?.data ?? [])].reduce((sum, value) => sum + value * value, 0);

/**
 * The largest of RATES with which no step goes up; null where even the smallest may.
 * @param {Settings} settings @returns {number | null}
 */
export const safeChoice = (settings) => RATES.findLast((rate) => rate <= safeRate(settings)) ?? null;

/**
 * A learning rate with which no number of steps goes up: 2 / trace(H), for H of ½ Σ (output − target)² adds
 * up the squares of what a weight meets, and no direction is more curved than all of them together. The
 * others are flatter, or straight.
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
  const traces = Array(shape[1]).fill(0); // of each channel of the output: its weights meet no other's
  data.forEach((value, at) => (traces[Math.floor(at / (shape[2] * shape[3])) % shape[1]] += value));
  return 2 / Math.max(...traces, Number.MIN_VALUE);
}

/**
 * The learning rate with which one step comes to the lowest point in its direction; null where the loss is no
 * parabola. Twice as large a one ends as high as it began: the output moves by lr · (input ⊛ grad_weight),
 * and ½ Σ (output − target)² is a parabola along that line.
 * @param {Settings} settings @param {Stages} stages
 */
export function lowestAlong(settings, stages) {
  if (!SETTINGS.losses_of_a_difference.includes(settings.loss)) return null;
  const along = { ...tensorsOf(settings), weight: stages.grad_weight, bias: stages.grad_bias };
  const curvature = outputOf(settings, along).data.reduce((sum, value) => sum + value * value, 0);
  return curvature > 0 ? steepness(stages) / curvature : null;
}
