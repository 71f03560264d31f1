// What the tab Stack says about its geometry: the receptive field, the ways, the checkerboard.
import { formatNumber } from "../../web/base/format.js";
import { fieldOf, readsOf } from "./layer_stack.js";
import { effectiveKernel, mostPadding, outputSizes, paddedSize } from "../../web/rules/conv_geometry.js";
import { say } from "./sentences.js";

const LINES = /** @type {const} */ (["lines.rows", "lines.columns"]);
const PLAIN = /** @type {Pair} */ ([1, 1]);

/** One for both where alike. @param {(axis: number) => unknown} of @returns {[number, string][]} */
function axesOf(of) {
  if (JSON.stringify(of(0)) === JSON.stringify(of(1))) return [[0, say("lines.both")]];
  return LINES.map((lines, axis) => [axis, say(lines)]);
}

/** @param {Spec[]} layers that fit */
export function endWords(layers) {
  const input_size = outputSizes(layers[layers.length - 1]);
  const next = { ...layers[0], input_size };
  const numbers = { layer: layers.length + 1, last: layers.length };
  const most = next.padding.map((sides) => Math.max(...sides));
  const short = input_size.findIndex((size, axis) => most[axis] > mostPadding(next.padding_mode, size));
  if (short >= 0) {
    const [padding, left, lines] = [most[short], input_size[short], say(LINES[short])];
    return say("ends.copies", { ...numbers, padding, mode: next.padding_mode, lines, left });
  }
  const times = (/** @type {(axis: number) => number} */ of) => [0, 1].map(of).join(" \u00d7 ");
  const span = times((axis) => effectiveKernel(next, axis));
  return say("ends", { ...numbers, span, plane: times((axis) => paddedSize(next, axis)) });
}

/** @param {Spec} spec @param {number} layers */
export function fieldWords(spec, layers) {
  const fields = [0, 1].map((axis) => fieldOf(spec, layers, axis));
  const formulas = axesOf((axis) => fields[axis]).map(([axis, lines]) => {
    const { reach, steps, size } = fields[axis];
    return say("field.axis", { lines, reach, steps: steps.join(" + "), size });
  });
  const reaches = axesOf((axis) => fields[axis].reach).map(([axis]) => fields[axis].reach);
  const field = say("field", { layers, rows: fields[0].size, columns: fields[1].size });
  const both = formulas.reduce((these, last) => say("field.and", { these, last }));
  const why = say("field.why", { reach: reaches.join(", ") });
  return [say("field.told", { field, formulas: both, why }), ...holesWords(spec, layers)];
}

/** And the stride or dilation that causes it. @param {Spec} spec @param {number} layers */
function holesWords(spec, layers) {
  const facts = [0, 1].map((axis) => {
    const hasHoles = (/** @type {Partial<Spec>} */ changes) => {
      const { size, read } = fieldOf({ ...spec, ...changes }, layers, axis);
      return read < size;
    };
    const { size, read } = fieldOf(spec, layers, axis);
    const others = { "holes.dilation": { dilation: PLAIN }, "holes.stride": { stride: PLAIN } };
    const alone = Object.entries(others).find(([, changes]) => !hasHoles(changes));
    const cause = /** @type {keyof typeof others | "holes.both"} */ (alone ? alone[0] : "holes.both");
    return { cause, size, read, stride: spec.stride[axis], dilation: spec.dilation[axis] };
  });
  return axesOf((axis) => facts[axis]).flatMap(([axis, lines]) => {
    const { cause, ...values } = facts[axis];
    return values.read < values.size ? [say(cause, { lines, ...values })] : [];
  });
}

/** @param {Tensor} input @param {boolean} counted all weights are 1 */
export function waysWords({ shape, data }, counted) {
  const total = data.reduce((sum, value) => sum + value, 0);
  const at = data.reduce((best, value, index) => (Math.abs(value) > Math.abs(data[best]) ? index : best), 0);
  const width = shape[3];
  const cell = `input[${Math.floor(at / width)}, ${at % width}]`;
  const numbers = { total: formatNumber(total), most: formatNumber(data[at]), cell };
  if (!counted) return [say("slope", numbers)];
  const none = data.filter((value) => value === 0).length;
  const rest = none ? say("ways.none", { count: none, all: data.length }) : say("ways.all");
  return [say("ways.told", { ways: say("ways", numbers), rest })];
}

/** And what would even it out. @param {Spec} spec */
export function checkerboardWords(spec) {
  const facts = [0, 1].map((axis) => [spec.kernel_size[axis], spec.stride[axis], spec.dilation[axis]]);
  return axesOf((axis) => facts[axis]).map(([axis, lines]) => {
    const [kernel, stride, dilation] = facts[axis];
    const reads = readsOf(spec, axis);
    const isEven = (/** @type {Partial<Spec>} */ changes) =>
      new Set(readsOf({ ...spec, ...changes }, axis)).size === 1;
    if (stride === 1) return say("reads.dense", { lines, count: kernel });
    if (isEven({})) return say("reads.even", { lines, count: reads[0], kernel, stride });
    const factor = greatestCommonDivisor(stride, dilation);
    const counts = `${[...reads, ...reads].join(", ")}, \u2026`;
    const values = { lines, counts, kernel, stride, dilation, factor };
    if (isEven({ dilation: PLAIN })) return say("reads.shared", values);
    const multiple = Math.ceil(kernel / stride) * stride;
    return say(isEven({ kernel_size: [multiple, multiple] }) ? "reads.uneven" : "reads.both", values);
  });
}

/** @param {number} a @param {number} b @returns {number} */
const greatestCommonDivisor = (a, b) => (b ? greatestCommonDivisor(b, a % b) : a);
