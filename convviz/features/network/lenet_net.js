// The net of lenet.json: its layers in their order, and what each is called, reads and has.
import { bytesOf } from "../../web/base/base64_bytes.js";
import { bothAxes } from "../../web/rules/conv_geometry.js";
import { conv2d, flatten, linear, maxPool2d, relu } from "./lenet_layers.js";

/**
 * @import { Layer, Trained } from "./lenet_layers.js"
 * @typedef {{ shape: number[], per_one: number, data: string }} Rounded whole numbers of eight bits; so many make 1
 * @typedef {{ name: string, kind: string, module: string, kernel_size?: number[], stride?: number[], padding?:
 *   number[] }} Named
 * @typedef {{ ink: number, size: number[], digits: { label: number, read: number, data:
 *   string, finding?: { id: string, args: Record<string, any> } | null }[], layers: Named[],
 *   weights: Record<string, Rounded>, [other: string]: any }} Lenet lenet.json
 * @typedef {Layer & Partial<Trained> & { spec?: Spec }} Built spec: of a convolution
 */

/** @param {Lenet} lenet @param {number} index @returns {Float64Array} 0 to 1 */
export const inkOf = ({ digits, ink }, index) =>
  Float64Array.from(bytesOf(digits[index].data), (byte) => byte / ink);

/** @param {Rounded} rounded @returns {Tensor} */
const weightOf = ({ shape, per_one, data }) => ({
  shape,
  data: Float64Array.from(new Int8Array(bytesOf(data).buffer), (whole) => whole / per_one),
});

/** @param {Named} named @param {number[]} shape of what comes in @param {number} out channels @returns {Spec} */
function specOf({ kernel_size, stride, padding }, shape, out) {
  const pair = (/** @type {number[] | undefined} */ given, otherwise = 0) =>
    bothAxes((axis) => given?.[axis] ?? otherwise);
  const sides = pair(padding);
  return {
    version: 1,
    input_size: [shape[2], shape[3]],
    in_channels: shape[1],
    out_channels: out,
    kernel_size: pair(kernel_size),
    stride: pair(stride, 1),
    padding: bothAxes((axis) => [sides[axis], sides[axis]]),
    dilation: [1, 1],
    groups: 1,
    padding_mode: "zeros",
    batch: 1,
  };
}

/** @type {Record<string, (named: Named, shape: number[], weight: Tensor, bias: Tensor) => Built>} */
const MAKERS = {
  conv2d(named, shape, weight, bias) {
    const spec = specOf(named, shape, weight.shape[0]);
    return { ...conv2d(spec, weight, bias), spec };
  },
  relu: (_, shape) => relu(shape),
  max_pool2d: (named, shape) => maxPool2d(specOf(named, shape, shape[1])),
  flatten: (_, shape) => flatten(shape),
  linear: (_, __, weight, bias) => linear(weight, bias),
};

/** Describes which cells of its source an operation reads, as relations.js expects it. @param {Named} named */
function readsOf({ kind, kernel_size, stride, padding = [] }) {
  if (kind === "relu") return { how: "same" };
  if (kind === "flatten") return { how: "reshape" };
  if (kind === "linear") return { how: "all" };
  return {
    how: "window",
    kernel_size,
    stride,
    padding: bothAxes((axis) => [padding[axis], padding[axis]]),
    dilation: [1, 1],
    groups: 1,
    per_channel: kind === "max_pool2d",
    transposed: false,
    mode: "zeros",
  };
}

/** By operation; the input has none. @param {Lenet} lenet @returns {(Built | null)[]} */
export function layersOf({ layers, weights, size }) {
  /** @type {(Built | null)[]} */
  const made = [null];
  let shape = [1, 1, ...size];
  for (const named of layers) {
    const [weight, bias] = ["weight", "bias"].map((part) => weights[`${named.name}.${part}`]);
    const none = { shape: [], data: new Float64Array() };
    const built = MAKERS[named.kind](
      named,
      shape,
      weight ? weightOf(weight) : none,
      bias ? weightOf(bias) : none,
    );
    made.push(built);
    shape = built.shape;
  }
  return made;
}

/** @param {Lenet} lenet @param {(Built | null)[]} built */
export function operationsOf({ layers, size }, built) {
  const input = {
    name: "",
    label: "input",
    kind: "input",
    module: "",
    sources: /** @type {number[]} */ ([]),
    shape: [1, ...size],
    reads: { how: "unknown" },
  };
  const others = layers.map((named, at) => ({
    name: named.name,
    label: named.name,
    kind: named.kind,
    module: named.module,
    sources: [at],
    shape: /** @type {Built} */ (built[at + 1]).shape.slice(1),
    reads: readsOf(named),
  }));
  return [input, ...others].map((each, index) => {
    const weight = built[index]?.weight;
    return {
      index,
      ...each,
      weight: weight ? { shape: weight.shape, norm: normOf(weight), trained: true } : null,
      opens: each.kind === "conv2d" ? "board" : index ? "rule" : "",
      rule: {},
      rms: 0,
      zeros: 0,
    };
  });
}

/** @param {Tensor} tensor */
export const normOf = ({ data }) => Math.sqrt(data.reduce((sum, value) => sum + value * value, 0));

/** @param {Tensor} tensor */
export const rmsOf = (tensor) => normOf(tensor) / Math.sqrt(tensor.data.length);

/** @param {Tensor} tensor */
export const zerosOf = ({ data }) =>
  data.reduce((count, value) => count + Number(value === 0), 0) / data.length;
