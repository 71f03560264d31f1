// Layers, forward and backward, of one sample in float64. A convolution is computed as the board does it, from its taps.
import {
  correlate,
  fold,
  padInput,
  plusBias,
  sumOfChannels,
  tableOf,
  toPaddedInput,
  toWeight,
  zeros,
} from "../../web/numbers/compute.js";
import { countOf } from "../../web/rules/shapes_and_indices.js";
import { outputShape } from "../../web/rules/conv_geometry.js";

/**
 * @typedef {{ shape: number[], forward: (input: Tensor) => Tensor, backward: (grad: Tensor, input: Tensor) =>
 *   Tensor }} Layer shape: of its output, the batch of one in front; backward: from the gradient at its output to that
 *   at its input
 * @typedef {Layer & { weight: Tensor, bias: Tensor, toWeight: (grad: Tensor, input: Tensor) => Tensor, toBias: (grad:
 *   Tensor) => Tensor }} Trained
 */

/** @param {Spec} spec with a batch of one @param {Tensor} weight @param {Tensor} bias @returns {Trained} */
export function conv2d(spec, weight, bias) {
  const table = tableOf(spec);
  return {
    shape: outputShape(spec),
    weight,
    bias,
    forward: (input) => plusBias(correlate(spec, table, padInput(input, spec), weight), bias),
    backward: (grad) => fold(toPaddedInput(spec, table, grad, weight), spec),
    toWeight: (grad, input) => toWeight(spec, table, grad, padInput(input, spec)),
    toBias: sumOfChannels,
  };
}

/** A 0 passes nothing on, as torch has it. @param {number[]} shape @returns {Layer} */
export const relu = (shape) => ({
  shape,
  forward: ({ data }) => ({ shape, data: data.map((value) => (value > 0 ? value : 0)) }),
  backward: (grad, { data }) => ({ shape, data: grad.data.map((value, at) => (data[at] > 0 ? value : 0)) }),
});

/** Of each channel; of equal cells the first gets the gradient. @param {Spec} spec unpadded @returns {Layer} */
export function maxPool2d(spec) {
  const table = tableOf(spec);
  const shape = outputShape(spec);
  /** By cell of the output, the cell of the input that it takes. @param {Tensor} input */
  const winners = ({ data }) => {
    const [reads, makes] = [countOf(spec.input_size), shape[2] * shape[3]];
    const found = new Int32Array(countOf(shape)).fill(-1);
    for (let channel = 0; channel < shape[1]; channel++) {
      for (let tap = 0; tap < table.count; tap++) {
        const [o, at] = [channel * makes + table.o[tap], channel * reads + table.at[tap]];
        if (found[o] < 0 || data[at] > data[found[o]]) found[o] = at;
      }
    }
    return found;
  };
  return {
    shape,
    forward: (input) => ({ shape, data: Float64Array.from(winners(input), (at) => input.data[at]) }),
    backward(grad, input) {
      const result = zeros(input.shape);
      winners(input).forEach((at, o) => {
        result.data[at] += grad.data[o];
      });
      return result;
    },
  };
}

/** @param {number[]} shape of what comes in @returns {Layer} */
export const flatten = (shape) => ({
  shape: [1, countOf(shape)],
  forward: ({ data }) => ({ shape: [1, countOf(shape)], data }),
  backward: ({ data }) => ({ shape, data }),
});

/** @param {Tensor} weight `[out, in]` @param {Tensor} bias @returns {Trained} */
export function linear(weight, bias) {
  const [out, into] = weight.shape;
  const shape = [1, out];
  /** @param {(o: number, i: number, at: number) => void} visit */
  const each = (visit) => {
    for (let o = 0, at = 0; o < out; o++) for (let i = 0; i < into; i++, at++) visit(o, i, at);
  };
  return {
    shape,
    weight,
    bias,
    forward({ data }) {
      const result = bias.data.slice();
      each((o, i, at) => {
        result[o] += weight.data[at] * data[i];
      });
      return { shape, data: result };
    },
    backward({ data }, input) {
      const result = zeros(input.shape);
      each((o, i, at) => {
        result.data[i] += data[o] * weight.data[at];
      });
      return result;
    },
    toWeight(grad, input) {
      const result = zeros(weight.shape);
      each((o, i, at) => {
        result.data[at] = grad.data[o] * input.data[i];
      });
      return result;
    },
    toBias: ({ data }) => ({ shape: [out], data }),
  };
}
