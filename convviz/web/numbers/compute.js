// Forward and backward in the page, float64, from the taps; stages as in ops/stages.py.
import { LOSSES } from "./losses.js";
import {
  backwardPadding,
  bothAxes,
  inputShape,
  outputShape,
  outputSizes,
  paddedSize,
  perGroup,
  sourcesOf,
  weightShape,
} from "../rules/conv_geometry.js";
import { axisTaps } from "../rules/taps.js";
import { countOf } from "../rules/shapes_and_indices.js";

/**
 * @import { Given } from "../rules/settings_and_tensors.js"
 * @typedef {ReturnType<typeof tableOf>} Table
 */

/** @param {number[]} shape @returns {Tensor} */
export const zeros = (shape) => ({
  shape,
  data: new Float64Array(countOf(shape)),
});

/**
 * Every stage of one forward and backward pass.
 * @param {Spec} spec @param {string} loss
 * @param {Given} given of the layer: a transposed one's input has the shape of the convolution's output
 * @returns {Stages}
 */
export function computeStages(spec, loss, given, transposed = false) {
  const table = tableOf(spec);
  const { weight, bias, target } = given;
  const other = target ?? given.grad ?? given.input; // unused by a loss without one
  const border = transposed ? null : padInput(given.input, spec);
  const made = border
    ? correlate(spec, table, border, weight)
    : fold(toPaddedInput(spec, table, given.input, weight), spec);
  const output = plusBias(made, bias);
  const grad = LOSSES[loss].gradient(output, other);
  const [input, grad_output] = transposed ? [grad, given.input] : [given.input, grad];
  const padded = border ?? padInput(grad, spec);
  const gradient = transposed ? null : toPaddedInput(spec, table, grad, weight);
  return {
    ...{ input, weight, bias, target, grad_output },
    ...copiesOf(spec, padded, weight, grad_output),
    output: transposed ? correlate(spec, table, padded, weight) : output,
    grad_padded_input: spec.padding_mode === "zeros" ? null : gradient,
    grad_input: gradient ? fold(gradient, spec) : output,
    grad_weight: toWeight(spec, table, grad_output, padded),
    grad_bias: bias && sumOfChannels(grad),
    loss: LOSSES[loss].value(output, other),
  };
}

/**
 * Stages that only copy: borders, zeros, rotations.
 * @param {Spec} spec @param {Tensor} padded @param {Tensor} weight @param {Tensor} gradOutput
 */
export const copiesOf = (spec, padded, weight, gradOutput) => ({
  padded_input: padded,
  rotated_weight: rotated(weight, spec.groups),
  ...spread(gradOutput, spec),
});

/** Of one plane: output[o] += weight[k] * padded_input[at]. @param {Spec} spec */
export function tableOf(spec) {
  const geometry = { ...spec, output_size: outputSizes(spec) };
  const [rows, columns] = bothAxes((axis) => axisTaps(geometry, axis));
  const count = rows.length * columns.length;
  const [o, k, at] = [new Int32Array(count), new Int32Array(count), new Int32Array(count)];
  const [across, kernel, padded] = [geometry.output_size[1], spec.kernel_size[1], paddedSize(spec, 1)];
  let tap = 0;
  for (const down of rows) {
    for (const right of columns) {
      o[tap] = down.o * across + right.o;
      k[tap] = down.k * kernel + right.k;
      at[tap] = down.at * padded + right.at;
      tap += 1;
    }
  }
  return { o, k, at, count };
}

/**
 * Offsets of every connected pair of channel planes.
 * @param {Spec} spec @param {(outputs: number, kernel: number, inputs: number) => void} visit
 */
function eachPair(spec, visit) {
  const [inputs, outputs] = perGroup(spec);
  const [cells, kernel] = [countOf(outputSizes(spec)), countOf(spec.kernel_size)];
  const padded = paddedSize(spec, 0) * paddedSize(spec, 1);
  for (let n = 0; n < spec.batch; n++) {
    for (let o = 0; o < spec.out_channels; o++) {
      const first = Math.floor(o / outputs) * inputs;
      for (let c = 0; c < inputs; c++) {
        visit(
          (n * spec.out_channels + o) * cells,
          (o * inputs + c) * kernel,
          (n * spec.in_channels + first + c) * padded,
        );
      }
    }
  }
}

/**
 * output[o] += weight[k] * padded_input[at].
 * @param {Spec} spec @param {Table} table @param {Tensor} padded @param {Tensor} weight
 */
export function correlate(spec, { o, k, at, count }, padded, weight) {
  const result = zeros(outputShape(spec));
  const [sums, w, x] = [result.data, weight.data, padded.data];
  eachPair(spec, (outputs, kernel, inputs) => {
    for (let tap = 0; tap < count; tap++) sums[outputs + o[tap]] += w[kernel + k[tap]] * x[inputs + at[tap]];
  });
  return result;
}

/**
 * grad_padded_input[at] += grad_output[o] * weight[k].
 * @param {Spec} spec @param {Table} table @param {Tensor} gradient @param {Tensor} weight
 */
export function toPaddedInput(spec, { o, k, at, count }, gradient, weight) {
  const result = zeros([spec.batch, spec.in_channels, paddedSize(spec, 0), paddedSize(spec, 1)]);
  const [sums, w, g] = [result.data, weight.data, gradient.data];
  eachPair(spec, (outputs, kernel, inputs) => {
    for (let tap = 0; tap < count; tap++) sums[inputs + at[tap]] += g[outputs + o[tap]] * w[kernel + k[tap]];
  });
  return result;
}

/**
 * grad_weight[k] += grad_output[o] * padded_input[at].
 * @param {Spec} spec @param {Table} table @param {Tensor} gradient @param {Tensor} padded
 */
export function toWeight(spec, { o, k, at, count }, gradient, padded) {
  const result = zeros(weightShape(spec));
  const [sums, g, x] = [result.data, gradient.data, padded.data];
  eachPair(spec, (outputs, kernel, inputs) => {
    for (let tap = 0; tap < count; tap++) sums[kernel + k[tap]] += g[outputs + o[tap]] * x[inputs + at[tap]];
  });
  return result;
}

/**
 * Indices of each copied cell: padded, input.
 * @param {Spec} spec @param {(border: number, inside: number) => void} visit
 */
function eachCopy(spec, visit) {
  const [rows, columns] = bothAxes((axis) => sourcesOf(spec, axis));
  const [height, width] = spec.input_size;
  for (let plane = 0; plane < spec.batch * spec.in_channels; plane++) {
    rows.forEach((row, r) => {
      columns.forEach((column, c) => {
        if (row === null || column === null) return;
        visit((plane * rows.length + r) * columns.length + c, (plane * height + row) * width + column);
      });
    });
  }
}

/** @param {Tensor} input @param {Spec} spec */
export function padInput(input, spec) {
  const padded = zeros([spec.batch, spec.in_channels, paddedSize(spec, 0), paddedSize(spec, 1)]);
  eachCopy(spec, (border, inside) => {
    padded.data[border] = input.data[inside];
  });
  return padded;
}

/** A border's gradients go to the cells that it copies. @param {Tensor} gradient @param {Spec} spec */
export function fold(gradient, spec) {
  const folded = zeros(inputShape(spec));
  eachCopy(spec, (border, inside) => {
    folded.data[inside] += gradient.data[border];
  });
  return folded;
}

/** With the stride's zeros; and with the border. @param {Tensor} gradient @param {Spec} spec */
function spread(gradient, spec) {
  const [batch, channels, height, width] = gradient.shape;
  const sides = bothAxes((axis) => backwardPadding(spec, axis));
  const dilatedSize = [height, width].map((size, axis) => (size - 1) * spec.stride[axis] + 1);
  const dilated = zeros([batch, channels, ...dilatedSize]);
  const padded = zeros([
    batch,
    channels,
    ...dilatedSize.map((size, axis) => size + sides[axis][0] + sides[axis][1]),
  ]);
  gradient.data.forEach((value, index) => {
    const [column, line] = [index % width, Math.floor(index / width)];
    const [row, plane] = [line % height, Math.floor(line / height)];
    const at = [row * spec.stride[0], column * spec.stride[1]];
    put(dilated, plane, at, value);
    put(padded, plane, [at[0] + sides[0][0], at[1] + sides[1][0]], value); // a negative side crops
  });
  return { dilated_grad_output: dilated, padded_grad_output: padded };
}

/** @param {Tensor} tensor @param {number} plane @param {number[]} at @param {number} value ignored outside */
function put({ shape, data }, plane, [row, column], value) {
  const [height, width] = shape.slice(2);
  if (row >= 0 && row < height && column >= 0 && column < width)
    data[(plane * height + row) * width + column] = value;
}

/** By 180°, channels swapped within groups. @param {Tensor} weight @param {number} groups */
function rotated(weight, groups) {
  const [outputs, inputs, height, width] = weight.shape;
  const [perGroup, cells] = [outputs / groups, height * width];
  const result = zeros([groups * inputs, perGroup, height, width]);
  for (let o = 0; o < outputs; o++) {
    for (let c = 0; c < inputs; c++) {
      const to = ((Math.floor(o / perGroup) * inputs + c) * perGroup + (o % perGroup)) * cells;
      const from = (o * inputs + c) * cells;
      for (let cell = 0; cell < cells; cell++) result.data[to + cell] = weight.data[from + cells - 1 - cell];
    }
  }
  return result;
}

/** @param {Tensor} tensor @param {Tensor | null} bias one number a channel */
export function plusBias({ shape, data }, bias) {
  const cells = shape[2] * shape[3];
  return bias
    ? { shape, data: data.map((value, index) => value + bias.data[Math.floor(index / cells) % shape[1]]) }
    : { shape, data };
}

/** @param {Tensor} tensor */
export function sumOfChannels({ shape, data }) {
  const sums = zeros([shape[1]]);
  const cells = shape[2] * shape[3];
  data.forEach((value, index) => {
    sums.data[Math.floor(index / cells) % shape[1]] += value;
  });
  return sums;
}
