// A stack of layers of the board's geometry, one channel each: planes, receptive field, the gradient's way
// back.
import { isPossible, outputSizes, weightShape } from "../../web/rules/conv_geometry.js";
import { fold, tableOf, toPaddedInput, zeros } from "../../web/numbers/compute.js";
import { upTo } from "../../web/rules/shapes_and_indices.js";

/** At stride 2, four layers take 16 pixels to one. */
export const MAX_LAYERS = 4;

/** As many as fit. @param {Spec} spec @param {number} most @returns {Spec[]} */
export function layersOf(spec, most) {
  /** @type {Spec[]} */
  const layers = [];
  let input_size = spec.input_size;
  while (layers.length < most) {
    const layer = { ...spec, input_size, in_channels: 1, out_channels: 1, groups: 1, batch: 1 };
    if (!isPossible(layer)) break;
    layers.push(layer);
    input_size = outputSizes(layer);
  }
  return layers;
}

/**
 * From the last output to the input.
 * @param {Spec[]} layers @param {Tensor | null} weight null: all 1, which counts paths
 * @param {Pair | null} asked row and column; null: all @returns {Tensor[]} the last output first
 */
export function gradientThrough(layers, weight, asked) {
  const ones = zeros(weightShape(layers[0]));
  ones.data.fill(1);
  const [height, width] = outputSizes(layers[layers.length - 1]);
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
 * The input lines that one output sees, border included.
 * @param {Pick<Spec, "kernel_size" | "stride" | "dilation">} spec @param {number} layers @param {number}
 *   axis
 * @returns {{ reach: number, steps: number[], size: number, read: number }} size: 1 + reach · Σ steps;
 *   read: the connected ones
 */
export function fieldOf({ kernel_size, stride, dilation }, layers, axis) {
  const reach = dilation[axis] * (kernel_size[axis] - 1);
  const steps = upTo(layers).map((layer) => stride[axis] ** layer);
  let lines = new Set([0]);
  for (const step of steps) {
    const taps = upTo(kernel_size[axis]).map((k) => k * dilation[axis] * step);
    lines = new Set([...lines].flatMap((line) => taps.map((tap) => line + tap)));
  }
  return { reach, steps, size: steps.reduce((size, step) => size + reach * step, 1), read: lines.size };
}

/**
 * Windows that read a row, away from borders; periodic in the stride.
 * @param {Pick<Spec, "kernel_size" | "stride" | "dilation">} spec @param {number} axis @returns {number[]}
 */
export function readsOf({ kernel_size, stride, dilation }, axis) {
  const counts = Array(stride[axis]).fill(0);
  for (let k = 0; k < kernel_size[axis]; k++) counts[(k * dilation[axis]) % stride[axis]] += 1;
  return counts;
}
