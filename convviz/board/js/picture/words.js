// @ts-check
// The sentences that depend on the numbers: views/captions.py, for pages without Python. A test holds the two equal.
import { formatLong } from "../base/format.js";
import { LINES } from "./remainder.js";
import { inLayersWords } from "../rules/names.js";
import { backwardPadding, bothAxes, effectiveKernel, outputSize, paddedSize, remainderOf, unreadLines } from "../rules/spec.js";

/**
 * @import { Settings } from "../rules/settings.js"
 * @import { Spec } from "../rules/spec.js"
 */

const UNCHECKED = "computed in this page, in float64; the live app holds every step against autograd";

/**
 * An equation in the words of Python, for the plane that is shown.
 * @param {Settings} settings @param {string} name of the equation @param {string} view @returns {string}
 */
export function formulaOf(settings, name, view) {
  if (settings.transposed && name !== "bias") {
    const text = inLayersWords(formulaOf({ ...settings, transposed: false, bias: null }, name, view));
    return text + (name === "input" && settings.bias ? ` + bias[${settings.plane.in_channel}]` : "");
  }
  const { spec, plane } = settings;
  const [n, o, c] = [plane.sample, plane.out_channel, plane.in_channel];
  const [ins, outs] = [spec.in_channels / spec.groups, spec.out_channels / spec.groups];
  const [k, j] = [c % ins, o % outs];
  // A sum counts within the group, as the weight's second axis does; elsewhere the group's first channel is added.
  const [everyC, everyO] = [counted("c", c - k), counted("o", o - j)];
  if (name === "forward") {
    const many = `Σ_c padded_input[${n}, ${everyC}] ⊛ weight[${o}, c]`;
    const term = ins > 1 ? many : `padded_input[${n}, ${c}] ⊛ weight[${o}, ${k}]`;
    return `output[${n}, ${o}] = ${term}${settings.bias ? ` + bias[${o}]` : ""}`;
  }
  if (name === "input") {
    const left = folds(spec) ? "grad_padded_input" : "grad_input";
    if (view === "stamps") {
      const [over, one] = outs > 1 ? ["oij", everyO] : ["ij", String(o)];
      return `${left}[${n}, ${c}] = Σ_${over} grad_output[${n}, ${one}, i, j] · weight[${one}, ${k}] laid at ${stampPlace(spec)}`;
    }
    const term = `padded_grad_output[${n}, ${o}] ⊛ rotated_weight[${c}, ${j}]`;
    return `${left}[${n}, ${c}] = ${outs > 1 ? `Σ_o padded_grad_output[${n}, ${everyO}] ⊛ rotated_weight[${c}, o]` : term}`;
  }
  if (name === "weight") {
    const sample = spec.batch > 1 ? "n" : String(n);
    const whole = `padded_input[${sample}, ${c}] ⊛ dilated_grad_output[${sample}, ${o}]`;
    const term = overhang(spec).some(Boolean) ? `(${whole})[:${spec.kernel_size[0]}, :${spec.kernel_size[1]}]` : whole;
    return `grad_weight[${o}, ${k}] = ${spec.batch > 1 ? `Σ_n ${term}` : term}`;
  }
  return "grad_bias[o] = Σ grad_output[n, o, i, j] over n, i and j";
}

/** @param {string} letter @param {number} first */
const counted = (letter, first) => (first ? `${first} + ${letter}` : letter);

/**
 * What is worth saying about an equation for this geometry; may be empty.
 * @param {Settings} settings @param {string} name of the equation @param {string} view
 */
export function noteOf(settings, name, view) {
  const { spec } = settings;
  if (settings.transposed) return transposedNote(settings, name, view);
  if (name === "forward") return gapsNote(spec);
  if (name === "input") return view === "stamps" ? stampsNote(spec) : paddingNote(spec);
  return name === "weight" ? exchangeNote(spec) : "";
}

/** The loss as an equation with its value. @param {string} kind @param {number} value */
export function lossWords(kind, value) {
  /** @type {Record<string, string>} */
  const forms = {
    sum: "Σ output",
    mean: "mean of output",
    half_squared_error: `½ Σ (output − target)²`,
    weighted_sum: "Σ grad_output · output",
  };
  return `loss = ${forms[kind]} = ${formatLong(value)}`;
}

/** Where the numbers come from: the page cannot ask autograd, and does not say that it did. */
export const truthWords = () => UNCHECKED;

/** Whether a border of copies has a gradient that is folded back. @param {Spec} spec */
const folds = (spec) => spec.padding_mode !== "zeros";
/** @param {number} count @param {string} what */
const cells = (count, what) => `${count} ${what}${count === 1 ? "" : "s"}`;
/** @param {string} text */
const capital = (text) => text[0].toUpperCase() + text.slice(1);

/**
 * How many rows and columns of the input lie unread between windows, and how many inside them; those behind the last
 * window, which are the remainder, count as neither.
 * @param {Spec} spec
 */
export function innerGaps(spec) {
  const places = bothAxes((axis) => {
    const [step, end] = [spec.stride[axis], paddedSize(spec, axis) - remainderOf(spec, axis)];
    const inner = unreadLines(spec, axis).map((i) => i + spec.padding[axis][0]).filter((at) => at < end);
    // The last window that starts at or before a line is the one that reaches furthest: it covers it, or none does.
    const startOf = (/** @type {number} */ at) => Math.min(Math.floor(at / step), outputSize(spec, axis) - 1) * step;
    const inside = inner.filter((at) => at < startOf(at) + effectiveKernel(spec, axis)).length;
    return { between: inner.length - inside, inside };
  });
  return { between: places.map((place) => place.between), inside: places.map((place) => place.inside) };
}

/** @param {Spec} spec */
function gapsNote(spec) {
  const { between, inside } = innerGaps(spec);
  /** @type {[string, number[]][]} */
  const causes = [
    ["The stride leaves gaps between the windows", between],
    ["The dilation leaves holes inside the windows", inside],
  ];
  return causes.flatMap(([cause, counts]) => (counts.some(Boolean) ? [`${cause}: ${unreadWords(counts)}`] : [])).join(" ");
}

/** @param {number[]} counts of rows and of columns */
function unreadWords(counts) {
  const verb = counts[0] + counts[1] === 1 ? "is" : "are";
  return `${linesOf(counts)} of the input ${verb} never read, with a gradient of exactly 0.`;
}

/** 2 rows and 1 column. @param {number[]} counts */
const linesOf = (counts) => counts.flatMap((count, axis) => (count ? [cells(count, LINES[axis])] : [])).join(" and ");

/** @param {Spec} spec */
function paddingNote(spec) {
  const parts = [];
  if (spec.out_channels > 1 || spec.in_channels > spec.groups) {
    const inside = spec.groups > 1 ? " within each group" : "";
    parts.push(`rotated_weight[c, o] is weight[o, c]${inside}, turned by 180°: the channels change places as well`);
  }
  if (spec.stride.some((step) => step > 1)) parts.push("the stride's zeros stand between the cells of grad_output");
  const padding = bothAxes((axis) => backwardPadding(spec, axis));
  const [before, after] = [padding.map(([first]) => first), padding.map(([, last]) => last)];
  const same = before[0] === before[1] && after[0] === after[1];
  /** @param {number[]} sides */
  const pair = ([first, last]) => `(${first}, ${last})`;
  const size = same ? `${before[0]} before, ${after[0]} after` : `${pair(padding[0])} rows, ${pair(padding[1])} columns`;
  const remainder = bothAxes((axis) => remainderOf(spec, axis)).some(Boolean) ? ", the remainder included" : "";
  parts.push(`padded by ${folds(spec) ? "d(k−1)" : "d(k−1)−p"}: ${size.replaceAll("-", "−")}${remainder}`);
  if (Math.min(...before, ...after) < 0) parts.push("a negative padding crops: those windows lay wholly in the padding");
  return `${capital(parts.join("; "))}.`;
}

/** Where the stamp of grad_output[i, j] has its first row and column. @param {Spec} spec */
function stampPlace(spec) {
  const lines = ["i", "j"].map((name, axis) => {
    const before = folds(spec) ? 0 : spec.padding[axis][0];
    return `${spec.stride[axis] > 1 ? spec.stride[axis] : ""}${name}${before ? ` − ${before}` : ""}`;
  });
  return `(${lines.join(", ")})`;
}

/** @param {Spec} spec */
function stampsNote(spec) {
  const parts = ["Each cell of grad_output stamps the kernel as it lies, times its own value; overlapping stamps add up"];
  if (!folds(spec) && spec.padding.flat().some(Boolean)) parts.push("what falls on the padding is dropped");
  if (remainderOf(spec, 0) || remainderOf(spec, 1)) parts.push("no stamp reaches the remainder");
  return `${parts.join("; ")}.`;
}

/** @param {Spec} spec */
function exchangeNote(spec) {
  if ([...spec.stride, ...spec.dilation].every((step) => step === 1)) return "Nothing is rotated here.";
  const told = "Stride and dilation change places: the forward stride spreads grad_output, the forward dilation is the step.";
  const more = linesOf(overhang(spec));
  return more ? `${told} Cut to the kernel's ${spec.kernel_size.join(" × ")}, because the remainder would add ${more}.` : told;
}

/** How many rows and columns the remainder would add to grad_weight, if nobody cut them off. @param {Spec} spec */
const overhang = (spec) => bothAxes((axis) => Math.floor(remainderOf(spec, axis) / spec.dilation[axis]));

/**
 * The same facts in the words of a transposed convolution, whose remainder is its output_padding.
 * @param {Settings} settings @param {string} name @param {string} view
 */
function transposedNote({ spec, bias }, name, view) {
  if (name === "forward") return "Nothing is rotated here: the gradient to the input is an ordinary conv2d of grad_output.";
  if (name === "weight") return inLayersWords(exchangeNote(spec));
  if (name !== "input") return "";
  const told = inLayersWords(view === "stamps" ? stampsNote(spec) : paddingNote(spec));
  const text = told.replaceAll("reaches the remainder", "reaches output_padding").replaceAll("the remainder", "output_padding");
  const words = ["row", "column"];
  const gaps = [0, 1].flatMap((axis) => {
    const count = unreadLines(spec, axis).length;
    return count ? [cells(count, words[axis])] : [];
  });
  const filled = bias ? "hold the bias alone" : "are exactly 0";
  const bare = gaps.length ? ` No input cell reaches ${gaps.join(" and ")} of output: they ${filled}.` : "";
  return text + bare + sizeNote(spec);
}

/** How the output's size follows from the input's. @param {Spec} spec */
function sizeNote(spec) {
  const [rows, columns] = bothAxes((axis) => {
    const [before, after] = spec.padding[axis];
    const padding = before === after ? `2·${before}` : `(${before} + ${after})`;
    const kernel = `${spec.dilation[axis]}·(${spec.kernel_size[axis]} − 1)`;
    const start = `(${outputSize(spec, axis)} − 1)·${spec.stride[axis]} − ${padding} + ${kernel}`;
    return `${start} + output_padding ${remainderOf(spec, axis)} + 1 = ${spec.input_size[axis]}`;
  });
  return rows === columns ? ` Output size: ${rows}.` : ` Output size: ${rows} rows; ${columns} columns.`;
}
