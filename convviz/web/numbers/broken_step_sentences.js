// Words about a broken step: how many numbers are wrong, or why none.
import { sayBreakIt } from "../rules/break_it_sentences.js";
import { backwardPadding, bothAxes, outputSize, remainderOf, remainders } from "../rules/conv_geometry.js";
import { textOf } from "./nearby_settings.js";
import { halfTurned } from "../rules/shapes_and_indices.js";

/**
 * @import { BrokenId } from "./broken_step.js"
 * @typedef {Extract<Parameters<typeof sayBreakIt>[0], `same.${string}`>} Same
 */

/** @param {ArrayLike<number>} size */
const shapeText = (size) => Array.from(size).join("×");
/** 1, or 2 × 1. @param {Pair} values */
const pairText = ([rows, columns]) => (rows === columns ? String(rows) : `${rows} × ${columns}`);

/** @param {Settings} settings @param {Toggle} toggle @param {Outcome} outcome */
export function brokenWords({ spec }, toggle, outcome) {
  const { kind, plane, right, count, here, all, planes, result } = outcome;
  const why = becauseOf(spec, toggle, result);
  if (kind === "nothing") return sayBreakIt("nothing", { why });
  if (kind === "shape")
    return sayBreakIt("shape", {
      wrong: shapeText([plane.rows, plane.columns]),
      right: shapeText(right),
      why,
    });
  if (kind === "elsewhere") return sayBreakIt("elsewhere", { count, result, why });
  return planes > 1
    ? sayBreakIt("wrong.planes", { count, all, result, here, why })
    : sayBreakIt("wrong", { count, all, why });
}

/** What a broken step does, without its name. @param {Outcome} outcome */
export function hiddenWords({ kind, plane, right, here, all, planes }) {
  if (kind === "nothing") return sayBreakIt("hidden.nothing");
  if (kind === "shape")
    return sayBreakIt("hidden.shape", {
      wrong: shapeText([plane.rows, plane.columns]),
      right: shapeText(right),
    });
  return kind === "wrong"
    ? sayBreakIt("hidden.wrong", { count: here, all: all / planes })
    : sayBreakIt("hidden.elsewhere");
}

/** @param {Spec} spec @param {Toggle} toggle @param {string} result */
function becauseOf(spec, { id }, result) {
  if (id === "I16") return sayBreakIt(`because.${aroundOf(spec)}`);
  const remainder = pairText(remainders(spec));
  return sayBreakIt(`because.${id}`, { stride: textOf(spec, "stride"), remainder, result });
}

/** grad_output's border without the remainder; negative crops. @param {Spec} spec */
const sidesOf = (spec) =>
  bothAxes((axis) => {
    const [before, after] = backwardPadding(spec, axis);
    return [before, after - remainderOf(spec, axis)];
  }).flat();

/** @param {Spec} spec @returns {"border" | "border_of_copies" | "crop" | "around"} */
function aroundOf(spec) {
  const sides = sidesOf(spec);
  if (spec.padding_mode !== "zeros") return "border_of_copies"; // copies get a gradient, too
  if (sides.every((side) => side >= 0)) return "border";
  return sides.every((side) => side <= 0) ? "crop" : "around";
}

/** @param {(axis: number) => boolean} test */
const onBoth = (test) => test(0) && test(1);

/**
 * @param {Settings} settings @param {Pick<Stages, "grad_output" | "weight" | "input">} stages
 * @param {Toggle} toggle
 */
export function sameWords({ spec }, stages, { id }) {
  const reason = REASONS[id](spec, stages);
  if (!reason)
    return sayBreakIt(stages.grad_output.data.every((value) => value === 0) ? "same.zero" : "same.sums");
  const remainder = pairText(remainders(spec));
  return sayBreakIt(reason, { remainder, dilation: textOf(spec, "dilation") });
}

/**
 * @type {Record<BrokenId, (spec: Spec, stages: { weight: Tensor }) => Same | "">} Empty: only the numbers
 *   hide it
 */
const REASONS = {
  I01({ kernel_size }, { weight }) {
    if (kernel_size.every((size) => size === 1)) return "same.one_weight";
    return isSymmetric(weight) ? "same.symmetric" : "";
  },
  I07: (spec) => gapless(spec, "same.no_zeros"),
  I16(spec) {
    if (!sidesOf(spec).every((side) => side === 0)) return "";
    return spec.padding_mode === "zeros" ? "same.border" : "same.one_tap";
  },
  I10: (spec) => (onBoth((axis) => remainderOf(spec, axis) === 0) ? "same.no_remainder" : ""),
  W02: (spec) => gapless(spec, "same.undilated"),
  W06: ({ padding }) => (padding.flat().every((cells) => cells === 0) ? "same.unpadded" : ""),
  W07(spec) {
    if (onBoth((axis) => remainderOf(spec, axis) === 0)) return "same.no_window";
    return onBoth((axis) => remainderOf(spec, axis) < spec.dilation[axis]) ? "same.dilation" : "";
  },
};

/**
 * Returns why a stride makes no gaps between grad_output's cells, or an empty text where it makes some.
 * @param {Spec} spec @param {Same} unstrided
 */
function gapless(spec, unstrided) {
  if (onBoth((axis) => spec.stride[axis] === 1)) return unstrided;
  if (onBoth((axis) => outputSize(spec, axis) === 1)) return "same.one_cell";
  return onBoth((axis) => spec.stride[axis] === 1 || outputSize(spec, axis) === 1) ? "same.one_line" : "";
}

/** @param {Tensor} weight */
export function isSymmetric(weight) {
  const turned = halfTurned(weight);
  return weight.data.every((value, index) => value === turned[index]);
}
