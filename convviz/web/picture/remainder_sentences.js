// The remainder's story; tests/browser/test_remainder.py asks torch about every claim.
import { allInTurn, inTurn, LINES, linesOf, orWords, pairWords, say } from "./sentences.js";
import { MAX_SIZES } from "../rules/settings_and_tensors.js";
import {
  bothAxes,
  effectiveKernel,
  isPossible,
  outputSize,
  outputSizes,
  remainderOf,
  remainders,
  unfolded,
  unreadLines,
} from "../rules/conv_geometry.js";
import { upTo } from "../rules/shapes_and_indices.js";

/**
 * @typedef {{ label: string, note: string, size: number[], current: boolean }} NearSize
 * @typedef {{ paragraphs: string[], sizes: NearSize[], named: string }} RemainderStory named: the sizes
 */

export const MAX_OFFERED_SIZES = 6; // buttons for each axis

/**
 * Explains the remainder, or returns null where both strides are 1.
 * @param {Spec} spec @param {boolean} linked @returns {RemainderStory | null}
 */
export function remainderStory(spec, linked) {
  if (spec.stride.every((step) => step === 1)) return null;
  const first = [countWords(spec), whereWords(spec), ...lossesOf(spec)];
  if (spec.padding.some(([, after], axis) => after && remainderOf(spec, axis)))
    first.push(say(`remainder.first_${border(spec)}`));
  const paragraphs = [allInTurn(first), inTurn(sharedWords(spec, "shared"), wayBack(spec))];
  return { paragraphs, sizes: sizesOf(spec, linked), named: say("near.named") };
}

/** @param {Spec} spec */
const symmetric = (spec) => spec.padding.every(([before, after]) => before === after);
/** @param {Spec} spec */
const border = (spec) => (spec.padding_mode === "zeros" ? "padding" : "copies");

/** @param {Spec} spec @param {number} axis @param {number} size @returns {Spec} */
function withSize(spec, axis, size) {
  /** @type {Pair} */
  const pair = axis === 0 ? [size, spec.input_size[1]] : [spec.input_size[0], size];
  return { ...spec, input_size: pair };
}

/** @param {Spec} spec @param {number} axis */
function sameOutput(spec, axis) {
  const smallest = spec.input_size[axis] - remainderOf(spec, axis);
  const sizes = upTo(spec.stride[axis]).map((index) => smallest + index);
  return sizes.filter((size) => isPossible(withSize(spec, axis, size)));
}

/** @param {Spec} spec */
function countWords(spec) {
  const [height, width] = bothAxes((axis) => {
    const [before, after] = spec.padding[axis];
    const sum = `${spec.input_size[axis]} + ${before + after} − ${effectiveKernel(spec, axis) - 1} − 1`;
    return `(${sum}) mod ${spec.stride[axis]} = ${remainderOf(spec, axis)}`;
  });
  const sentenceId = symmetric(spec) ? "remainder.count" : "remainder.count_sides";
  return height === width ? say(sentenceId, { sum: height }) : say(`${sentenceId}_axes`, { height, width });
}

/** @param {Spec} spec */
function whereWords(spec) {
  const lines = linesOf(remainders(spec), ".last");
  return lines ? say("remainder.lines", { lines }) : say("remainder.nothing");
}

/** @param {Spec} spec */
function lossesOf(spec) {
  const axes = [0, 1].filter((axis) => remainderOf(spec, axis));
  const spared = axes.filter((axis) => remainderOf(spec, axis) <= spec.padding[axis][1]);
  if (spared.length < 2) return axes.map((axis) => lostWords(spec, axis));
  return [say(`spared.both_${border(spec)}`)];
}

/** In the padding, or of the input. @param {Spec} spec @param {number} axis */
function lostWords(spec, axis) {
  const [rest, after, size] = [remainderOf(spec, axis), spec.padding[axis][1], spec.input_size[axis]];
  const where = /** @type {const} */ (`${LINES[axis]}_${border(spec)}`);
  if (rest <= after) return say(`spared.${where}`, { count: rest });
  const whole = rest - after >= size;
  const lost = Math.min(rest - after, size); // more takes the padding before, too
  const lines = say(`${LINES[axis]}.${whole ? "all" : "last"}`, { count: lost });
  const sides = after
    ? say(`${whole ? "lost_whole" : "lost"}.${where}`, { count: rest - after, after, rest, lines })
    : say("lost.no_padding", { count: lost, lines });
  const unread = unreadLines(spec, axis);
  const copied = upTo(lost).filter((index) => !unread.includes(size - lost + index)).length;
  if (!copied) return say("lost.unread", { lost: sides });
  return copied === lost
    ? say("lost.read", { lost: sides })
    : say("lost.read_partly", { lost: sides, copied });
}

/** @param {Spec} spec @param {"shared" | "layers"} kind @param {Record<string, number>} [more] */
export function sharedWords(spec, kind, more) {
  const sizes = bothAxes((axis) => sameOutput(spec, axis));
  const [heights, widths] = sizes.map(orWords);
  const sentenceId = /** @type {const} */ (
    `${kind}.${sizes.every(({ length }) => length === 1) ? "only" : "several"}`
  );
  return heights === widths
    ? say(sentenceId, { ...more, sizes: heights })
    : say(`${sentenceId}_axes`, { ...more, heights, widths });
}

/** conv_transpose2d knows the output only. @param {Spec} spec */
function wayBack(spec) {
  const value = pairWords(remainders(spec));
  if (spec.padding_mode === "zeros" && symmetric(spec)) return say("back.input", { value });
  const [height, width] = unfolded(spec).input_size;
  return say(spec.padding_mode === "zeros" ? "back.cut" : "back.folded", { value, height, width });
}

/** @param {Spec} spec @param {boolean} linked */
function sizesOf(spec, linked) {
  /** @param {"near.size" | "near.width" | "near.height"} id @param {number} size @param {Spec} there */
  const near = (id, size, there) => {
    if (!isPossible(there)) return []; // the other axis cannot follow
    const current = String(there.input_size) === String(spec.input_size);
    return [{ label: say(id, { size }), note: noteOfSize(spec, there), size: there.input_size, current }];
  };
  const [heights, widths] = bothAxes((axis) => offersOf(spec, axis));
  const both = [...new Set([...heights, ...widths])].sort((a, b) => a - b);
  if (linked) return both.flatMap((size) => near("near.size", size, { ...spec, input_size: [size, size] }));
  return [
    ...heights.flatMap((size) => near("near.height", size, withSize(spec, 0, size))),
    ...widths.flatMap((size) => near("near.width", size, withSize(spec, 1, size))),
  ];
}

/** Sizes of the same output, and the next without remainder. @param {Spec} spec @param {number} axis */
function offersOf(spec, axis) {
  const [size, step] = [spec.input_size[axis], spec.stride[axis]];
  if (step === 1) return []; // one size an output
  const shared = sameOutput(spec, axis);
  const near = [shared[0], size - 1, size, size + 1, shared[shared.length - 1]];
  const kept = shared.length > MAX_OFFERED_SIZES ? shared.filter((each) => near.includes(each)) : shared;
  return [...kept, size - remainderOf(spec, axis) + step].filter((each) => each <= MAX_SIZES.input_size);
}

/** @param {Spec} spec @param {Spec} there */
function noteOfSize(spec, there) {
  const [rows, columns] = remainders(there);
  const rest = rows === columns ? rows : `${rows}, ${columns}`;
  const [height, width] = outputSizes(there);
  const same = height === outputSize(spec, 0) && width === outputSize(spec, 1);
  return same ? say("near.remainder", { rest }) : say("near.remainder_output", { rest, height, width });
}
