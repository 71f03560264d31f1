// @ts-check
// Why nobody would notice a mistake at a setting: what of the geometry, or of the numbers, hides it. Ids of
// facts/words/mistakes.json, under "why.".
import { complete, turnedFrom, turnedSize } from "../rules/recipes.js";
import { effectiveKernel, outputSize, remainderOf } from "../rules/spec.js";
import { sameProducts } from "./mistaken.js";

/**
 * @import { Products } from "../rules/products.js"
 * @import { Gradient, Recipe } from "../rules/recipes.js"
 * @import { Tensor } from "../rules/settings.js"
 * @import { Spec } from "../rules/spec.js"
 * @typedef {keyof typeof HOLDS | "symmetric" | "zero" | "sums"} Why
 */

/** @param {(axis: number) => boolean} test */
const onBoth = (test) => test(0) && test(1);

/** What of a geometry can hide a mistake. @type {Record<string, (spec: Spec) => boolean>} */
const HOLDS = {
  stride: ({ stride }) => onBoth((axis) => stride[axis] === 1),
  dilation: ({ dilation }) => onBoth((axis) => dilation[axis] === 1),
  no_remainder: (spec) => onBoth((axis) => remainderOf(spec, axis) === 0),
  full_remainder: (spec) => onBoth((axis) => remainderOf(spec, axis) === spec.stride[axis] - 1),
  no_padding: ({ padding }) => !padding.flat().some(Boolean),
  padding: ({ padding }) => onBoth((axis) => padding[axis][0] > 0),
  half_padding: (spec) => onBoth((axis) => spec.padding[axis].every((cells) => effectiveKernel(spec, axis) - 1 === 2 * cells)),
  small_padding: (spec) => onBoth((axis) => Math.max(...spec.padding[axis]) < effectiveKernel(spec, axis)),
  zeros_around: ({ padding_mode }) => padding_mode === "zeros",
  one_kernel_cell: ({ kernel_size }) => onBoth((axis) => kernel_size[axis] === 1),
  one_output_cell: (spec) => onBoth((axis) => outputSize(spec, axis) === 1),
  one_sample: ({ batch }) => batch === 1,
  one_group: ({ groups }) => groups === 1,
  one_channel: (spec) => spec.in_channels === 1 && spec.out_channels === 1,
  same_axes: (spec) => String([spec.stride[0], spec.padding[0], spec.dilation[0]]) === String([spec.stride[1], spec.padding[1], spec.dilation[1]]),
  no_overlap: (spec) => onBoth((axis) => spec.stride[axis] >= effectiveKernel(spec, axis)) && spec.out_channels === spec.groups,
};

/** What hides a wrong choice, by its step; the first that holds is said. @type {Record<string, string[]>} */
const HIDES = {
  inserted: ["stride", "one_output_cell"],
  step: ["stride", "dilation", "one_kernel_cell"],
  gap: ["stride", "one_output_cell", "dilation"],
  spacing: ["dilation", "one_kernel_cell"],
  reach: ["half_padding", "dilation", "one_kernel_cell"],
  rest: ["no_remainder", "full_remainder"],
  lead: ["no_remainder", "full_remainder"],
  cut: ["no_padding", "no_remainder"],
  fill: ["no_remainder"],
  start: ["no_remainder"],
  crop: ["no_padding"],
  pad: ["no_padding"],
  negative: ["small_padding"],
  slice: ["padding"],
  border: ["zeros_around", "no_padding"],
  kernel: ["one_kernel_cell"],
  result: ["one_kernel_cell"],
  channels: ["one_channel"],
  groups: ["one_group"],
  axes: ["same_axes"],
  overlaps: ["no_overlap"],
  batch: ["one_sample"],
  times: ["one_sample", "one_output_cell"],
};

/**
 * Why a gradient comes out right although it was computed wrongly.
 * @param {Gradient} of @param {Recipe} way @param {Spec} spec @param {Tensor} weight @param {{ products: Products, tensor: Tensor }} right
 * @param {Products} wrong @returns {Why[]} one or more
 */
export function whyBlind(of, way, spec, weight, right, wrong) {
  if (sameProducts(right.products, wrong) && wrong.factor === 1) {
    const found = Object.keys(way).flatMap((step) => (HIDES[step] ?? []).find((why) => HOLDS[why](spec)) ?? []);
    if (found.length) return [...new Set(found)];
  }
  if (right.tensor.data.every((value) => value === 0)) return ["zero"];
  if (of === "grad_input" && "kernel" in way && looksTheSame(weight, complete(of, {}).kernel, way.kernel)) return ["symmetric"];
  return ["sums"];
}

/** Whether every plane of a weight looks the same turned one way and another. @param {Tensor} weight @param {string} one @param {string} other */
function looksTheSame({ shape, data }, one, other) {
  const size = /** @type {[number, number]} */ (shape.slice(2));
  const [height, width] = turnedSize(one, size);
  if (String(turnedSize(other, size)) !== String([height, width])) return false;
  const [ours, theirs] = [turnedFrom(one, size), turnedFrom(other, size)];
  const cell = (/** @type {number} */ plane, /** @type {number[]} */ [row, column]) => data[(plane * size[0] + row) * size[1] + column];
  return [...Array(shape[0] * shape[1] * height * width).keys()].every((index) => {
    const [plane, place] = [Math.floor(index / (height * width)), index % (height * width)];
    const at = /** @type {const} */ ([Math.floor(place / width), place % width]);
    return cell(plane, ours(...at)) === cell(plane, theirs(...at));
  });
}
