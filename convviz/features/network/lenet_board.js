// A window of a convolution as settings of the board, with the numbers that stand there.
// A link cannot carry them: one window has hundreds of numbers of 17 digits, and a link up to 4,000 characters.
import { sourceWith, MOST } from "../../web/rules/settings_and_tensors.js";
import { bothAxes } from "../../web/rules/conv_geometry.js";
import { flatIndex, upTo } from "../../web/rules/shapes_and_indices.js";

/**
 * @typedef {{ spec: Spec, weight: Tensor, bias: Tensor, input: Tensor, grad: Tensor }} Part a convolution; grad: at its
 *   output
 * @typedef {{ rows: Pair, columns: Pair, out_channels: Pair, in_channels: Pair, input_rows: Pair, input_columns: Pair
 *   }} Around first and end of what is shown, as the net counts them
 */

const SIDE = 5; // windows each way: a kernel of 5 then reads the pixel at the middle of their input in each of them

/**
 * @param {Part} part @param {number[]} cell of its output, `[channel, row, column]`
 * @returns {[Partial<Settings>, Around]}
 */
export function boardAround({ spec, weight, bias, input, grad }, [channel, ...at]) {
  const cuts = bothAxes((axis) => cutAround(spec, axis, grad.shape[2 + axis], at[axis]));
  const [out, into] = [grad.shape[1], input.shape[1]].map((count) => Math.min(count, MOST.out_channels));
  const first = Math.min(Math.floor(channel / out) * out, grad.shape[1] - out);
  const [outs, ins] = /** @type {Pair[]} */ ([
    [first, first + out],
    [0, into],
  ]);
  const [windows, read] = [cuts.map(({ output }) => output), cuts.map(({ input: own }) => own)];
  return [
    {
      spec: {
        ...spec,
        in_channels: into,
        out_channels: out,
        input_size: bothAxes((axis) => read[axis][1] - read[axis][0]),
        padding: bothAxes((axis) => cuts[axis].padding),
      },
      transposed: false,
      dtype: "float64",
      input: sourceWith(cropped(input, [[0, 1], ins, ...read])),
      weight: sourceWith(cropped(weight, [outs, ins, ...spec.kernel_size.map((size) => [0, size])])),
      bias: sourceWith(cropped(bias, [outs])),
      loss: "weighted_sum",
      grad: sourceWith(cropped(grad, [[0, 1], outs, ...windows])),
      plane: { sample: 0, out_channel: channel - first, in_channel: 0 },
    },
    {
      rows: windows[0],
      columns: windows[1],
      out_channels: outs,
      in_channels: ins,
      input_rows: read[0],
      input_columns: read[1],
    },
  ];
}

/**
 * Windows around one, what they read, and the padding that they meet: as crop_window.py cuts.
 * @param {Spec} spec @param {number} axis @param {number} count of windows @param {number} at
 * @returns {{ output: Pair, input: Pair, padding: Pair }}
 */
function cutAround(spec, axis, count, at) {
  const side = Math.min(SIDE, count);
  const start = Math.min(Math.max(at - Math.floor(side / 2), 0), count - side);
  const [stride, size, before] = [spec.stride[axis], spec.input_size[axis], spec.padding[axis][0]];
  const first = start * stride - before;
  const end = (start + side - 1) * stride - before + spec.dilation[axis] * (spec.kernel_size[axis] - 1) + 1;
  return {
    output: [start, start + side],
    input: [Math.max(first, 0), Math.min(end, size)],
    padding: [Math.max(-first, 0), Math.max(end - size, 0)],
  };
}

/** @param {Tensor} tensor @param {number[][]} spans first and end of each axis @returns {Tensor} */
function cropped({ shape, data }, spans) {
  /** @type {number[][]} */
  let places = [[]];
  for (const [first, end] of spans) {
    places = places.flatMap((place) => upTo(end - first).map((step) => [...place, first + step]));
  }
  return {
    shape: spans.map(([first, end]) => end - first),
    data: Float64Array.from(places, (place) => data[flatIndex(shape, place)]),
  };
}
