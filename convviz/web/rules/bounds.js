// How far controls may go, and how to mend a geometry.
import { moved } from "./adjustment_notes.js";
import { axisName, say } from "./sentences.js";
import { LARGEST, OFFERED, OF_THE_LAYER, PAIRS } from "./schema.js";
import {
  bothAxes,
  effectiveKernel,
  isPossible,
  mostPadding,
  outputSizes,
  paddedSize,
  remainderOf,
  remainders,
} from "./conv_geometry.js";
import { upTo } from "./shapes_and_indices.js";

/**
 * @import { Moved } from "./adjustment_notes.js"
 * @typedef {"input_size" | "kernel_size" | "stride" | "padding" | "dilation"} PairName
 * @typedef {PairName | "output_padding"} AxisName
 * @typedef {(number | Pair)[]} Pairs of padding a pair
 * @typedef {Partial<Spec> & { output_padding?: number[] }} Changes
 * @typedef {AxisName | "in_channels" | "out_channels" | "batch" | "digit" | "seed"} Limited
 */

/** What controls offer; a geometry from outside may lie beyond. */
export const LIMITS = /** @type {Record<Limited, Pair>} */ (OFFERED);
export const MAX_CELLS = LARGEST.input_size;
const PER_AXIS = /** @type {AxisName[]} */ (PAIRS);
const PER_AXIS_PLAIN = PER_AXIS.filter((name) => !OF_THE_LAYER.includes(name));

/** @param {boolean} transposed */
export const perAxis = (transposed) => (transposed ? PER_AXIS : PER_AXIS_PLAIN);

/**
 * As the layer has it: output_padding is a transposed layer's.
 * @param {Spec} spec @param {AxisName} name @param {boolean} transposed @returns {Pairs}
 */
export function layerPair(spec, name, transposed) {
  if (transposed && name === "input_size") return outputSizes(spec);
  if (transposed && name === "output_padding") return remainders(spec);
  return spec[/** @type {PairName} */ (name)];
}

/**
 * Of an uneven padding the larger.
 * @param {Spec} spec @param {AxisName} name @param {number} axis @param {boolean} transposed
 */
export function valueOf(spec, name, axis, transposed) {
  const value = layerPair(spec, name, transposed)[axis];
  return Array.isArray(value) ? Math.max(...value) : value;
}

/**
 * Returns the spec with one setting changed, on both axes if they are linked, or null where that is impossible.
 * @param {Spec} spec @param {AxisName} name @param {number} axis @param {number} value @param {boolean} linked
 * @param {boolean} transposed @returns {Spec | null}
 */
export function withValue(spec, name, axis, value, linked, transposed) {
  if (transposed) return withLayerValue(spec, name, axis, value, linked);
  const made = { ...spec, [name]: changedPair(spec, name, axis, value, linked, false) };
  return isPossible(made) ? made : null;
}

/**
 * @param {Spec} spec @param {AxisName} name @param {number} axis @param {number} value
 * @param {boolean} linked @param {boolean} transposed
 */
function changedPair(spec, name, axis, value, linked, transposed) {
  const pair = [...layerPair(spec, name, transposed)];
  for (const each of linked ? [0, 1] : [axis]) pair[each] = name === "padding" ? [value, value] : value;
  return pair;
}

/**
 * @param {Spec} spec @param {AxisName} name @param {number} axis @param {number} value
 * @param {boolean} linked
 */
function withLayerValue(spec, name, axis, value, linked) {
  const pair = changedPair(spec, name, axis, value, linked, true);
  const [sizes, wanted, stride] = /** @type {AxisName[]} */ (["input_size", "output_padding", "stride"]).map(
    (each) => /** @type {number[]} */ (each === name ? pair : layerPair(spec, each, true)),
  );
  const extra = wanted.map((cells, side) => Math.min(cells, stride[side] - 1));
  const own = name === "input_size" || name === "output_padding" ? {} : { [name]: pair };
  const made = layerSpec(spec, sizes, name === "output_padding" ? wanted : extra, own);
  const fits = made?.input_size.every((size, side) => size <= Math.max(MAX_CELLS, spec.input_size[side]));
  return fits ? made : null;
}

/**
 * Returns the spec of a transposed layer with these sizes, or null where none is possible.
 * @param {Spec} spec @param {number[]} sizes @param {number[]} extra output_padding @param {Partial<Spec>} changes
 */
function layerSpec(spec, sizes, extra, changes) {
  const made = { ...spec, ...changes };
  if (extra.some((cells, axis) => cells < 0 || cells >= made.stride[axis])) return null;
  made.input_size = bothAxes((axis) => layerOutput(made, axis, sizes[axis], extra[axis]));
  return isPossible(made) ? made : null;
}

/** May be less than 1. @param {Spec} spec @param {number} axis @param {number} size @param {number} extra */
function layerOutput(spec, axis, size, extra) {
  return (
    (size - 1) * spec.stride[axis] -
    spec.padding[axis][0] -
    spec.padding[axis][1] +
    effectiveKernel(spec, axis) +
    extra
  );
}

/**
 * The range of one setting, all others fixed.
 * @param {Spec} spec @param {AxisName} name @param {number} axis @param {boolean} linked
 * @param {boolean} transposed
 */
export function boundsOf(spec, name, axis, linked, transposed) {
  const now = valueOf(spec, name, axis, transposed);
  return reachable(now, LIMITS[name], (value) => withValue(spec, name, axis, value, linked, transposed));
}

/**
 * Widens the range from `now` step by step, as far as every value is possible.
 * @param {number} now @param {Pair} range @param {(value: number) => unknown} isPossible
 */
export function reachable(now, [low, high], isPossible) {
  /** @type {Pair} */
  const found = [now, now];
  while (found[0] > low && isPossible(found[0] - 1)) found[0] -= 1;
  while (found[1] < high && isPossible(found[1] + 1)) found[1] += 1;
  return found;
}

/** Divisors of both channel counts. @param {Spec} spec */
export function groupChoices(spec) {
  const all = upTo(Math.min(spec.in_channels, spec.out_channels)).map((index) => index + 1);
  return all.filter((groups) => spec.in_channels % groups === 0 && spec.out_channels % groups === 0);
}

/**
 * Other settings give way where a rule demands it.
 * @param {Spec} spec @param {Changes} changes @param {boolean} transposed
 * @returns {{ spec: Spec, moves: Moved[] }}
 */
export function mend(spec, changes, transposed) {
  /** @type {Moved[]} */
  const moves = [];
  const wanted = { ...spec, ...changes };
  let groups = wanted.groups;
  while (wanted.in_channels % groups || wanted.out_channels % groups) groups -= 1;
  if (groups !== wanted.groups) {
    const { in_channels: into, out_channels: out } = wanted;
    moves.push(moved("moved.groups", null, wanted.groups, groups, { into, out }));
  }
  wanted.groups = groups;
  if (transposed) return { spec: mendLayer(spec, wanted, moves), moves };
  wanted.padding = bothAxes((axis) => {
    const side = wanted.padding[axis];
    const [size, most] = [wanted.input_size[axis], mostPadding(wanted.padding_mode, wanted.input_size[axis])];
    if (Math.max(...side) <= most) return side;
    moves.push(moved("moved.copies", axis, Math.max(...side), most, { mode: wanted.padding_mode, size }));
    return [Math.min(side[0], most), Math.min(side[1], most)];
  });
  return { spec: shrinkKernel(wanted, moves), moves };
}

/** First less dilation, then fewer cells. @param {Spec} spec @param {Moved[]} moves @returns {Spec} */
function shrinkKernel(spec, moves) {
  /** @type {[Pair, Pair]} */
  const [kernel, dilation] = [[...spec.kernel_size], [...spec.dilation]];
  for (const axis of [0, 1]) {
    const room = paddedSize(spec, axis);
    while (dilation[axis] * (kernel[axis] - 1) + 1 > room) {
      if (dilation[axis] > 1) dilation[axis] -= 1;
      else kernel[axis] -= 1;
    }
    const both = /** @type {["dilation" | "kernel_size", Pair][]} */ (
      Object.entries({ dilation, kernel_size: kernel })
    );
    for (const [name, now] of both) {
      if (spec[name][axis] === now[axis]) continue;
      moves.push(moved("moved.kernel", axis, spec[name][axis], now[axis], { name, count: room }));
    }
  }
  return { ...spec, kernel_size: kernel, dilation };
}

/** @param {Spec} before @param {Spec & Changes} wanted @param {Moved[]} moves @returns {Spec} */
function mendLayer(before, wanted, moves) {
  const sizes = outputSizes(before);
  const extra = [...(wanted.output_padding ?? remainders(before))];
  /** @type {[Pair, Pair]} */
  const padding = bothAxes((axis) => [...wanted.padding[axis]]);
  const { output_padding, ...made } = { ...wanted, padding };
  /** @param {number} axis */
  const outputAlong = (axis) => layerOutput(made, axis, sizes[axis], extra[axis]);
  for (const axis of [0, 1]) {
    if (extra[axis] < 0) {
      // a smaller output has another input
      const values = { value: extra[axis], axis: axisName(axis), stride: made.stride[axis] };
      throw new Error(say("refused.output_padding", values));
    }
    if (extra[axis] >= made.stride[axis]) {
      moves.push(moved("moved.output_padding", axis, extra[axis], made.stride[axis] - 1));
      extra[axis] = made.stride[axis] - 1;
    }
    const [sides, most] = [padding[axis], Math.max(...padding[axis])];
    while (outputAlong(axis) < 1) sides[sides.indexOf(Math.max(...sides))] -= 1;
    if (Math.max(...sides) !== most) moves.push(moved("moved.padding", axis, most, Math.max(...sides)));
    const size = sizes[axis];
    while (outputAlong(axis) > Math.max(MAX_CELLS, before.input_size[axis]) && sizes[axis] > 1)
      sizes[axis] -= 1;
    if (sizes[axis] !== size)
      moves.push(moved("moved.input_size", axis, size, sizes[axis], { most: MAX_CELLS }));
  }
  return { ...made, input_size: bothAxes(outputAlong) };
}

/** Moved by a smaller stride. @param {Spec} before @param {Spec} after @returns {Moved[]} */
export function outputPaddingMoved(before, after) {
  if (before.stride.every((step, axis) => step === after.stride[axis])) return [];
  return [0, 1].flatMap((axis) => {
    const [old, now] = [remainderOf(before, axis), remainderOf(after, axis)];
    return old === now ? [] : [moved("moved.output_padding", axis, old, now)];
  });
}
