// @ts-check
// The remainder, told for one geometry, in the words of views/remainder.py. A test holds the two equal.
import { MOST } from "../rules/settings.js";
import { AXES, bothAxes, effectiveKernel, isPossible, outputSize, paddedSize, remainderOf, unreadLines } from "../rules/spec.js";

/**
 * @import { Spec } from "../rules/spec.js"
 * @typedef {{ label: string, note: string, size: number[], current: boolean }} NearSize a size nearby, for a button
 * @typedef {{ paragraphs: string[], sizes: NearSize[], named: string }} RemainderStory `named`: what the sizes are
 */

export const LINES = ["row", "column"]; // what an axis is made of
export const MOST_SIZES = 6; // buttons an axis

/**
 * What there is to say about the remainder; null for stride 1, where every input has an output of its own.
 * @param {Spec} spec @param {boolean} linked whether height and width are set together
 * @returns {RemainderStory | null}
 */
export function storyOf(spec, linked) {
  if (spec.stride.every((step) => step === 1)) return null;
  const first = [countWords(spec), whereWords(spec), ...lossesOf(spec)];
  if (spec.padding.some(([, after], axis) => after && remainderOf(spec, axis))) {
    const beyond = spec.padding_mode === "zeros" ? "zeros at the end of grad_input" : "lines of the input uncovered";
    first.push(
      `The remainder takes the ${border(spec)} behind the input first, because that lies outermost: ` +
        `only what goes beyond it leaves ${beyond}.`,
    );
  }
  const paragraphs = [first.join(" "), `${sharedWords(spec)} ${wayBack(spec)}`];
  return { paragraphs, sizes: sizesOf(spec, linked), named: "Input sizes near this one" };
}

/** @param {Spec} spec */
export const remainders = (spec) => bothAxes((axis) => remainderOf(spec, axis));
/** @param {Spec} spec */
const symmetric = (spec) => spec.padding.every(([before, after]) => before === after);
/** @param {Spec} spec */
const border = (spec) => (spec.padding_mode === "zeros" ? "padding" : "border of copies");
/** @param {number} count @param {string} what */
const last = (count, what) => (count === 1 ? `the last ${what}` : `the last ${count} ${what}s`);

/** @param {Spec} spec @param {number} axis @param {number} size @returns {Spec} */
function withSize(spec, axis, size) {
  /** @type {[number, number]} */
  const pair = axis === 0 ? [size, spec.input_size[1]] : [spec.input_size[0], size];
  return { ...spec, input_size: pair };
}

/** The input sizes along one axis whose output is as large as this one's, smallest first. @param {Spec} spec @param {number} axis */
export function sameOutput(spec, axis) {
  const smallest = spec.input_size[axis] - remainderOf(spec, axis);
  const sizes = Array.from({ length: spec.stride[axis] }, (_, index) => smallest + index);
  return sizes.filter((size) => isPossible(withSize(spec, axis, size)));
}

/** @param {Spec} spec */
function countWords(spec) {
  const [height, width] = bothAxes((axis) => {
    const [before, after] = spec.padding[axis];
    const sum = `${spec.input_size[axis]} + ${before + after} − ${effectiveKernel(spec, axis) - 1} − 1`;
    return `(${sum}) mod ${spec.stride[axis]} = ${remainderOf(spec, axis)}`;
  });
  const told = height === width ? height : `${height} for the height and ${width} for the width`;
  const [padding, sides] = symmetric(spec) ? ["2p", ""] : ["p", ", p counting both sides"];
  return `Remainder: (N + ${padding} − d(K−1) − 1) mod s = ${told}${sides}.`;
}

/** @param {Spec} spec */
function whereWords(spec) {
  const parts = remainders(spec).flatMap((count, axis) => (count ? [last(count, LINES[axis])] : []));
  if (!parts.length) return "The last window ends where padded_input ends: nothing is left over.";
  return `No window reaches ${parts.join(" and ")} of padded_input (hatched).`;
}

/** @param {Spec} spec */
function lossesOf(spec) {
  const axes = [0, 1].filter((axis) => remainderOf(spec, axis));
  const spared = axes.filter((axis) => remainderOf(spec, axis) <= spec.padding[axis][1]);
  if (spared.length < 2) return axes.map((axis) => lostWords(spec, axis));
  return [`Both lie in the ${border(spec)}, so the remainder takes nothing of the input.`];
}

/** Whether the remainder of one axis lies in the padding or takes lines of the input. @param {Spec} spec @param {number} axis */
function lostWords(spec, axis) {
  const [line, rest, after, size] = [LINES[axis], remainderOf(spec, axis), spec.padding[axis][1], spec.input_size[axis]];
  if (rest <= after) {
    const lies = rest === 1 ? `The last ${line} lies` : `The last ${rest} ${line}s lie`;
    return `${lies} in the ${border(spec)}, so the remainder takes no ${line} of the input.`;
  }
  const whole = rest - after >= size;
  const lost = Math.min(rest - after, size); // what is more takes the padding before the input as well
  const all = lost === 1 ? `the only ${line}` : `all ${lost} ${line}s`;
  const ofInput = `${whole ? all : last(lost, line)} of the input`;
  const others = rest - after === 1 ? "the other is" : `the other ${rest - after} ${whole ? "hold" : "are"}`;
  const told = after
    ? `The ${border(spec)} takes ${after} of the ${rest} ${line}s; ${others} ${ofInput}`
    : `There is no padding behind the last window, so ${lost === 1 ? "this is" : "these are"} ${ofInput}`;
  const unread = unreadLines(spec, axis);
  const copied = Array.from({ length: lost }, (_, index) => size - lost + index).filter((i) => !unread.includes(i)).length;
  if (!copied) return `${told}: never read, with a gradient of exactly 0.`;
  const which = copied === lost ? "" : ` of ${copied}`;
  return `${told}: under no window, but copies${which} in the border at the other end are read, and bring a gradient.`;
}

/** 7, 8 or 9. @param {number[]} sizes */
export const orWords = (sizes) =>
  sizes.length > 1 ? `${sizes.slice(0, -1).join(", ")} or ${sizes[sizes.length - 1]}` : String(sizes[0]);

/** @param {Spec} spec */
function sharedWords(spec) {
  const [heights, widths] = bothAxes((axis) => sameOutput(spec, axis));
  const [height, width] = [orWords(heights), orWords(widths)];
  const which = height === width ? `size ${height}` : `height ${height} and width ${width}`;
  if (heights.length === 1 && widths.length === 1) {
    return `Only an input of ${which} has this output size: the output alone tells that it was this one.`;
  }
  return `Inputs of ${which} share this output size: the output alone does not tell which of them it was.`;
}

/** How conv_transpose2d, which knows the output only, comes back to this input. @param {Spec} spec */
function wayBack(spec) {
  const [rows, columns] = remainders(spec);
  const told = rows === columns ? String(rows) : `(${rows}, ${columns})`;
  if (spec.padding_mode === "zeros" && symmetric(spec)) return `output_padding=${told} leads conv_transpose2d back to this one.`;
  const [height, width] = bothAxes((axis) => paddedSize(spec, axis));
  return (
    `output_padding=${told} with padding=0 leads conv_transpose2d back to padded_input's ${height} × ${width}; ` +
    `its border is then ${spec.padding_mode === "zeros" ? "cut off" : "folded back"}.`
  );
}

/** @param {Spec} spec @param {boolean} linked */
function sizesOf(spec, linked) {
  /** @type {NearSize[]} */
  const found = [];
  for (const axis of linked ? [0] : [0, 1]) {
    const offers = linked ? [...new Set([...offersOf(spec, 0), ...offersOf(spec, 1)])].sort((a, b) => a - b) : offersOf(spec, axis);
    for (const size of offers) {
      /** @type {Spec} */
      const there = linked ? { ...spec, input_size: [size, size] } : withSize(spec, axis, size);
      if (!isPossible(there)) continue; // the other axis cannot follow
      const current = String(there.input_size) === String(spec.input_size);
      found.push({ label: `${linked ? "size" : AXES[axis]} ${size}`, note: noteOfSize(spec, there), size: there.input_size, current });
    }
  }
  return found;
}

/** Some sizes that share the output, and the next larger one without a remainder. @param {Spec} spec @param {number} axis */
function offersOf(spec, axis) {
  const [size, step] = [spec.input_size[axis], spec.stride[axis]];
  if (step === 1) return []; // every size has an output of its own
  const shared = sameOutput(spec, axis);
  const near = [shared[0], size - 1, size, size + 1, shared[shared.length - 1]];
  const kept = shared.length > MOST_SIZES ? shared.filter((each) => near.includes(each)) : shared;
  return [...kept, size - remainderOf(spec, axis) + step].filter((each) => each <= MOST.input_size);
}

/** @param {Spec} spec @param {Spec} there */
function noteOfSize(spec, there) {
  const [rows, columns] = remainders(there);
  const note = rows === columns ? `remainder ${rows}` : `remainder ${rows}, ${columns}`;
  const [height, width] = bothAxes((axis) => outputSize(there, axis));
  const same = height === outputSize(spec, 0) && width === outputSize(spec, 1);
  return same ? note : `${note}, output ${height} × ${width}`;
}
