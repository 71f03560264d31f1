// What follows from a geometry (ConvSpec.to_dict()), as in spec.py and ops/by_rotate.py.
import { axisTaps, sourceOf } from "./taps.js";
import { upTo, countOf } from "./shapes_and_indices.js";

/** @import { Plane } from "./shown_plane.js" */

/**
 * @typedef {[number, number]} Pair
 * @typedef {{ version: number, input_size: Pair, in_channels: number, out_channels: number, kernel_size:
 *   Pair, stride: Pair, padding: [Pair, Pair], dilation: Pair, groups: number, padding_mode: string, batch:
 *   number }} Spec
 * @typedef {Spec & { output_size: Pair }} SpecWithOutput
 * @typedef {SpecWithOutput & { gradient_padding: Pair, plane: { n: number, o: number, c: number },
 *   transposed: boolean }} Geometry gradient_padding: before the first cell
 */

/** @template T @param {(axis: number) => T} make @returns {[T, T]} */
export const bothAxes = (make) => [make(0), make(1)];

/** @param {Spec} spec @param {number} axis */
export const effectiveKernel = (spec, axis) => spec.dilation[axis] * (spec.kernel_size[axis] - 1) + 1;

/** @param {Spec} spec @param {number} axis */
export const paddedSize = (spec, axis) =>
  spec.input_size[axis] + spec.padding[axis][0] + spec.padding[axis][1];

/** Room for the window to move. @param {Spec} spec @param {number} axis */
const slackOf = (spec, axis) => paddedSize(spec, axis) - effectiveKernel(spec, axis);

/** Counts the positions of the window along an axis. @param {Spec} spec @param {number} axis */
export const outputSize = (spec, axis) => Math.floor(slackOf(spec, axis) / spec.stride[axis]) + 1;

/** @param {Spec} spec */
export const outputSizes = (spec) => bothAxes((axis) => outputSize(spec, axis));

/** Lines that no window reaches. @param {Spec} spec @param {number} axis */
export const remainderOf = (spec, axis) => slackOf(spec, axis) % spec.stride[axis];

/** @param {Spec} spec */
export const remainders = (spec) => bothAxes((axis) => remainderOf(spec, axis));

/** Lines that no window reads. @param {Spec} spec @param {number} axis */
export function unreadLines(spec, axis) {
  const read = new Set(axisTaps({ ...spec, output_size: outputSizes(spec) }, axis).map(({ i }) => i));
  return upTo(spec.input_size[axis]).filter((i) => !read.has(i));
}

/**
 * Returns the padding around dilated_grad_output; a negative number crops it.
 * @param {Spec} spec @param {number} axis @returns {Pair}
 */
export function backwardPadding(spec, axis) {
  const [before, after] = spec.padding_mode === "zeros" ? spec.padding[axis] : [0, 0];
  const reach = effectiveKernel(spec, axis) - 1;
  return [reach - before, reach - after + remainderOf(spec, axis)];
}

/** Of the padded input: its grad_input is grad_padded_input. @param {Spec} spec @returns {Spec} */
export const unfolded = (spec) => ({
  ...spec,
  input_size: bothAxes((axis) => paddedSize(spec, axis)),
  padding: bothAxes(() => [0, 0]),
  padding_mode: "zeros",
});

/** Channels of a group: in and out. @param {Spec} spec @returns {Pair} */
export const perGroup = (spec) => [spec.in_channels / spec.groups, spec.out_channels / spec.groups];

/** @param {Spec} spec */
export const inputShape = (spec) => [spec.batch, spec.in_channels, ...spec.input_size];
/** @param {Spec} spec */
export const weightShape = (spec) => [spec.out_channels, spec.in_channels / spec.groups, ...spec.kernel_size];
/** @param {Spec} spec */
export const outputShape = (spec) => [spec.batch, spec.out_channels, ...outputSizes(spec)];

/** @param {Spec} spec */
export const countProducts = (spec) =>
  countOf([spec.batch, ...outputShape(spec).slice(2), ...weightShape(spec)]);

/** Whether ConvSpec would take it. @param {Spec} spec */
export function isPossible(spec) {
  const { in_channels: ins, out_channels: outs, groups } = spec;
  if (Math.min(ins, outs, groups, spec.batch) < 1 || ins % groups || outs % groups) return false;
  return isPossibleAlong(spec, 0) && isPossibleAlong(spec, 1);
}

/** @param {Spec} spec @param {number} axis */
function isPossibleAlong(spec, axis) {
  const [size, [before, after]] = [spec.input_size[axis], spec.padding[axis]];
  if (Math.min(size, spec.kernel_size[axis], spec.stride[axis], spec.dilation[axis]) < 1) return false;
  if (before < 0 || after < 0 || effectiveKernel(spec, axis) > size + before + after) return false;
  return Math.max(before, after) <= mostPadding(spec.padding_mode, size);
}

/** Returns the largest padding that a mode allows for this size. @param {string} mode @param {number} size */
export const mostPadding = (mode, size) => ({ reflect: size - 1, circular: size })[mode] ?? Infinity;

/** @param {Spec} spec @param {Plane} plane @param {boolean} transposed @returns {Geometry} */
export function geometryOf(spec, plane, transposed) {
  return {
    ...spec,
    output_size: outputSizes(spec),
    gradient_padding: bothAxes((axis) => backwardPadding(spec, axis)[0]),
    plane: { n: plane.sample, o: plane.out_channel, c: plane.in_channel },
    transposed,
  };
}

/** Lists which input line each padded line copies; null is a padding zero. @param {Spec} spec @param {number} axis */
export function sourcesOf(spec, axis) {
  const [size, before] = [spec.input_size[axis], spec.padding[axis][0]];
  return upTo(paddedSize(spec, axis)).map((at) => sourceOf(at - before, size, spec.padding_mode));
}
