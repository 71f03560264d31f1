// @ts-check
// A stack of layers that all have the board's geometry: its planes, the part of the input that one output
// sees, and the gradient on its way back through them. One channel each: what is shown are the
// ways from plane to plane.
import { bothAxes, isPossible, outputSize, weightShape } from "../rules/spec.js";
import { fold, tableOf, toPaddedInput, zeros } from "./compute.js";

/**
 * @import { Tensor } from "../rules/settings.js"
 * @import { Pair, Spec } from "../rules/spec.js"
 */

/** More are deeper than any plane of the board: at stride 2 four layers take 16 pixels to one. */
export const MOST_LAYERS = 4;

/**
 * The layers, first to last, as far as the kernel fits the plane before it.
 * @param {Spec} spec the first one, with any channels @param {number} most layers
 * @returns {Spec[]} with one channel
 */
export function layersOf(spec, most) {
  /** @type {Spec[]} */
  const layers = [];
  let input_size = spec.input_size;
  while (layers.length < most) {
    const layer = { ...spec, input_size, in_channels: 1, out_channels: 1, groups: 1, batch: 1 };
    if (!isPossible(layer)) break;
    layers.push(layer);
    input_size = sizeAfter(layer);
  }
  return layers;
}

/** @param {Spec} layer @returns {Pair} */
export const sizeAfter = (layer) => bothAxes((axis) => outputSize(layer, axis));

/**
 * The gradient at every plane, from the last layer's output down to the input.
 * @param {Spec[]} layers first to last
 * @param {Tensor | null} weight of every layer; null: all 1, which counts the ways
 * @param {Pair | null} asked the one output that asks, row and column; null: every one
 * @returns {Tensor[]} the output of the last layer first, the input last
 */
export function gradientThrough(layers, weight, asked) {
  const ones = zeros(weightShape(layers[0]));
  ones.data.fill(1);
  const [height, width] = sizeAfter(layers[layers.length - 1]);
  const question = zeros([1, 1, height, width]);
  if (asked) question.data[asked[0] * width + asked[1]] = 1;
  else question.data.fill(1);
  const planes = [question];
  for (const layer of [...layers].reverse()) {
    planes.push(fold(toPaddedInput(layer, tableOf(layer), planes[planes.length - 1], weight ?? ones), layer));
  }
  return planes;
}

/**
 * The rows or columns of the input that one output of the last layer sees, border included.
 * @param {Pick<Spec, "kernel_size" | "stride" | "dilation">} spec of every layer
 * @param {number} layers @param {number} axis
 * @returns {{ reach: number, steps: number[], size: number, read: number }} size: from the first to the last,
 *   1 + reach times the sum of steps; read: those of them that have a way to the output
 */
export function fieldOf({ kernel_size, stride, dilation }, layers, axis) {
  const reach = dilation[axis] * (kernel_size[axis] - 1);
  const steps = Array.from({ length: layers }, (_, layer) => stride[axis] ** layer);
  let lines = new Set([0]);
  for (const step of steps) {
    const taps = Array.from({ length: kernel_size[axis] }, (_, k) => k * dilation[axis] * step);
    lines = new Set([...lines].flatMap((line) => taps.map((tap) => line + tap)));
  }
  return { reach, steps, size: steps.reduce((size, step) => size + reach * step, 1), read: lines.size };
}

/**
 * How many windows of one layer read a row, away from the border; it repeats with the stride.
 * @param {Pick<Spec, "kernel_size" | "stride" | "dilation">} spec
 * @param {number} axis @returns {number[]} a count for each row of a stride
 */
export function readsOf({ kernel_size, stride, dilation }, axis) {
  const counts = Array(stride[axis]).fill(0);
  for (let k = 0; k < kernel_size[axis]; k++) counts[(k * dilation[axis]) % stride[axis]] += 1;
  return counts;
}
