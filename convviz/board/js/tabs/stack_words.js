// @ts-check
// What the tab Stack says about its numbers, made from the geometry: the receptive field, the ways, the checkerboard.
import WORDS from "../../../facts/words/stack.json" with { type: "json" };
import { formatNumber } from "../base/format.js";
import { sentences } from "../base/words.js";
import { fieldOf, readsOf } from "../numbers/stack.js";

const say = sentences(WORDS);

/**
 * @import { Tensor } from "../rules/settings.js"
 * @import { Spec } from "../rules/spec.js"
 */

/** The axes, each with its name, or both at once where they are alike. @param {(axis: number) => unknown} of what counts @returns {[number, string][]} */
function axesOf(of) {
  if (JSON.stringify(of(0)) === JSON.stringify(of(1))) return [[0, say("lines.both")]];
  return [[0, say("lines.rows")], [1, say("lines.columns")]];
}

/** @param {Spec} spec @param {number} layers */
export function fieldWords(spec, layers) {
  const fields = [0, 1].map((axis) => fieldOf(spec, layers, axis));
  const formulas = axesOf((axis) => fields[axis]).map(([axis, lines]) => {
    const { reach, steps, size } = fields[axis];
    return say("field.axis", { lines, reach, steps: steps.join(" + "), size });
  });
  const reaches = axesOf((axis) => fields[axis].reach).map(([axis]) => fields[axis].reach);
  return [
    `${say("field", { layers, rows: fields[0].size, columns: fields[1].size })}; ${formulas.join("; ")}. ${say("field.why", { reach: reaches.join(", ") })}`,
  ];
}

/** @param {Tensor} input its gradient @param {boolean} counted whether all weights are 1 */
export function waysWords({ shape, data }, counted) {
  const total = data.reduce((sum, value) => sum + value, 0);
  const at = data.reduce((best, value, index) => (Math.abs(value) > Math.abs(data[best]) ? index : best), 0);
  const width = shape[3];
  const cell = `input[${Math.floor(at / width)}, ${at % width}]`;
  const numbers = { total: formatNumber(total), most: formatNumber(data[at]), cell };
  if (!counted) return [say("slope", numbers)];
  const none = data.filter((value) => value === 0).length;
  const rest = none ? say("ways.none", { count: none, all: data.length }) : say("ways.all");
  return [`${say("ways", numbers)} ${rest}`];
}

/** Whether a layer reads some rows more often than others. @param {Spec} spec */
export function checkerboardWords(spec) {
  const facts = [0, 1].map((axis) => [spec.kernel_size[axis], spec.stride[axis], spec.dilation[axis]]);
  return axesOf((axis) => facts[axis]).map(([axis, lines]) => {
    const [kernel, stride, dilation] = facts[axis];
    const reads = readsOf(spec, axis);
    if (reads.every((count) => count === reads[0])) return say("reads.even", { lines, count: reads[0], kernel, stride });
    const factor = greatestCommonDivisor(stride, dilation);
    const counts = `${[...reads, ...reads].join(", ")}, \u2026`;
    if (factor > 1) return say("reads.shared", { lines, counts, stride, dilation, factor });
    return say("reads.uneven", { lines, counts, kernel, stride });
  });
}

/** @param {number} a @param {number} b @returns {number} */
const greatestCommonDivisor = (a, b) => (b ? greatestCommonDivisor(b, a % b) : a);
