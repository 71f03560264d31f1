// An opened operation at one cell: what came in, what went on, what came back, and why.
import { formatNumber } from "../../web/base/format.js";
import { mayEqual, numberAt, readText, signOf } from "./cell_numbers.js";
import { cellsOf } from "./masks.js";
import { cellText, nameOf, say } from "./sentences.js";

const REACH = 2;
const MAX_CELLS = 81; // of one window in a plane
const MAX_LISTED = 60; // of what comes from everywhere

/**
 * @import { Read } from "./cell_numbers.js"
 * @import { Seen } from "./reader_sentences.js"
 * @typedef {{ cell: number[], value: Read | null, gradient: Read | null, read: boolean, here: boolean }} RuleCell read:
 *   whether the opened cell depends on it; here: it stands for the opened cell itself
 * @typedef {{ operation: number, rows: (RuleCell | null)[][], left: number, weight?: string }} RulePart rows: one of a
 *   list, as long as it is; left: cells that are not shown; weight: its name, where it is none of the operation's output
 * @typedef {{ sources: RulePart[], output: RulePart, sentences: string[] }} Opened
 * @typedef {{ seen: Seen, operation: NetworkOperation, cell: number[], inputs: RuleCell[][], output: RuleCell }} Case
 */

/** @param {Seen} seen @param {number} operation @param {number[]} cell @returns {Opened} */
export function openedAt(seen, operation, cell) {
  const opened = seen.network.operations[operation];
  const reads = opened.sources.map((source, position) => {
    const { shape } = seen.network.operations[source];
    return cellsOf(seen.fields.readBy(operation, position, cell), shape);
  });
  const inputs = reads.map((cells, position) =>
    cells.map((each) => cellAt(seen, opened.sources[position], each, true)),
  );
  const output = { ...cellAt(seen, operation, cell, true), here: true };
  const sentencesOf =
    SENTENCES_OF[opened.kind] ?? (MOVES.includes(opened.reads.how) ? sentencesOfMove : sentencesOfOthers);
  const lines = seen.back.planes[operation]
    ? sentencesOf({ seen, operation: opened, cell, inputs, output })
    : [say("rule.no_gradient", { output: readText(output.value) })];
  const shared = opened.sources.filter((source) => seen.fields.readersOf(source).length > 1);
  if (shared.length)
    lines.push(
      say("rule.shared", {
        names: [...new Set(shared)].map((at) => nameOf(seen.network.operations[at])).join(", "),
      }),
    );
  const sources = opened.sources.flatMap((source, position) =>
    reads[position].length ? [partOf(seen, source, reads[position])] : [],
  );
  const weight = opened.kind === "linear" && weightOf(seen, opened, cell, inputs[0], output.gradient);
  if (weight) {
    sources.push(weight);
    if (output.gradient) lines.push(say("rule.linear.weight", { gradient: readText(output.gradient) }));
  }
  return {
    sources,
    output: around(seen, operation, cell),
    sentences: lines,
  };
}

/** @param {Seen} seen @param {number} operation @param {number[]} cell @param {boolean} read @returns {RuleCell} */
function cellAt({ network, back }, operation, cell, read) {
  const { shape } = network.operations[operation];
  const value = numberAt(network.planes[operation], shape, cell);
  return { cell, value, gradient: numberAt(back.planes[operation], shape, cell), read, here: false };
}

/** What is read of a source: a window with what lies between, else the first ones. @param {Seen} seen @param {number} source @param {number[][]} cells @returns {RulePart} */
function partOf(seen, source, cells) {
  if (cells.length === 1) return around(seen, source, cells[0]);
  const { shape } = seen.network.operations[source];
  const planes = new Set(cells.map(([channel]) => channel));
  const [rows, columns] = [1, 2].map((axis) => cells.map((cell) => cell[axis]));
  const [top, bottom, left, right] = [
    Math.min(...rows),
    Math.max(...rows),
    Math.min(...columns),
    Math.max(...columns),
  ];
  if (shape.length !== 3 || planes.size > 1 || (bottom - top + 1) * (right - left + 1) > MAX_CELLS)
    return listed(seen, source, cells);
  const known = new Set(cells.map(String));
  const grid = Array.from({ length: bottom - top + 1 }, (_, r) =>
    Array.from({ length: right - left + 1 }, (_, q) => {
      const cell = [cells[0][0], top + r, left + q];
      return cellAt(seen, source, cell, known.has(String(cell)));
    }),
  );
  return { operation: source, rows: grid, left: 0 };
}

/** @param {Seen} seen @param {number} source @param {number[][]} cells @returns {RulePart} */
function listed(seen, source, cells) {
  const shown = cells.slice(0, MAX_LISTED).map((cell) => cellAt(seen, source, cell, true));
  return { operation: source, rows: [shown], left: cells.length - shown.length };
}

/**
 * The weights of one output of a linear layer, and what each gets from there.
 * @param {Seen} seen @param {NetworkOperation} operation @param {number[]} cell @param {RuleCell[]} inputs
 * @param {Read | null} gradient @returns {RulePart | null} null: they were not recorded
 */
function weightOf({ network }, { index, weight, ...operation }, cell, inputs, gradient) {
  const packed = network.weights?.[index];
  if (!packed || !weight) return null;
  const out = cell[cell.length - 1];
  const row = inputs.slice(0, MAX_LISTED).map((input) => {
    const at = [out, input.cell[input.cell.length - 1]];
    const value = numberAt(packed, weight.shape, at);
    return { cell: at, value, gradient: product(input.value, gradient), read: true, here: false };
  });
  const name = `${nameOf({ index, weight, ...operation })}.weight[${out}]`;
  return { operation: index, rows: [row], left: inputs.length - row.length, weight: name };
}

/** @param {Read | null} a @param {Read | null} b @returns {Read | null} */
function product(a, b) {
  if (!a || !b) return null;
  const rounding = Math.abs(a.value) * b.rounding + Math.abs(b.value) * a.rounding + a.rounding * b.rounding;
  return { value: a.value * b.value, rounding };
}

/** A cell and its neighbours. @param {Seen} seen @param {number} operation @param {number[]} cell @returns {RulePart} */
function around(seen, operation, cell) {
  const { shape } = seen.network.operations[operation];
  const here = { ...cellAt(seen, operation, cell, true), here: true };
  if (cell.length < 2) return { operation, rows: [[here]], left: 0 };
  const axes = [cell.length - 2, cell.length - 1];
  const rows = Array.from({ length: 2 * REACH + 1 }, (_, r) =>
    Array.from({ length: 2 * REACH + 1 }, (_, q) => {
      const at = cell.map(
        (index, axis) => index + (axis === axes[0] ? r - REACH : axis === axes[1] ? q - REACH : 0),
      );
      if (at.some((index, axis) => index < 0 || index >= shape[axis])) return null;
      return r === REACH && q === REACH ? here : cellAt(seen, operation, at, false);
    }),
  );
  return { operation, rows, left: 0 };
}

const MOVES = ["reshape", "permute", "concat", "slice"];

/** @type {Record<string, (one: Case) => string[]>} */
const SENTENCES_OF = {
  relu: ({ inputs: [[input]], output }) => {
    const sign = signOf(input.value);
    const args = {
      input: readText(input.value),
      output: readText(output.value),
      gradient: readText(output.gradient),
    };
    if (Number.isNaN(input.value?.value ?? NaN)) return sentencesOfOthers({ output });
    if (Number.isNaN(sign)) return [say("rule.relu.near", args)];
    return [say(sign > 0 ? "rule.relu.passes" : "rule.relu.stops", args)];
  },
  max_pool2d: sentencesOfLargest,
  adaptive_max_pool2d: sentencesOfLargest,
  avg_pool2d: sentencesOfMean,
  adaptive_avg_pool2d: sentencesOfMean,
  mean: sentencesOfMean,
  add: sentencesOfSum,
  batch_norm: sentencesOfNorm,
  linear: ({ inputs: [input], output }) => [
    say("rule.linear", {
      count: input.length,
      output: readText(output.value),
      gradient: readText(output.gradient),
    }),
  ],
  sigmoid: (one) => sentencesOfSlope(one, "rule.sigmoid", (y) => y * (1 - y)),
  tanh: (one) => sentencesOfSlope(one, "rule.tanh", (y) => 1 - y * y),
};

/** @param {Case} one */
function sentencesOfLargest({ operation, inputs: [window], output }) {
  const known = window.filter(({ value }) => value && !Number.isNaN(value.value));
  const best = known.reduce(
    (best, each) => ((each.value?.value ?? 0) > (best?.value?.value ?? 0) ? each : best),
    known[0],
  );
  const near = known.filter((each) => each !== best && mayEqual(each.value, best?.value ?? null));
  const args = { count: window.length, output: readText(output.value), gradient: readText(output.gradient) };
  if (!best || known.length < window.length || near.some(({ value }) => value?.rounding))
    return [say("rule.max.near", args)];
  const place = `[${best.cell.slice(-2).join(", ")}]`;
  const id = signOf(output.gradient) === 0 ? "rule.max.zero" : near.length ? "rule.max.tied" : "rule.max";
  return [say(id, { ...args, place, name: nameOf(operation) })];
}

/** The zeros of a padding may be counted. @param {Case} one */
function sentencesOfMean({ operation, inputs: [window], output }) {
  const count = window.length;
  const { kernel_size: kernel, divisor: given = kernel?.reduce((product, size) => product * size, 1) } =
    operation.reads;
  const divisor = given || count;
  if (!mayEqual(scaled(sumOf(window), 1 / divisor), output.value)) return sentencesOfOthers({ output });
  const args = {
    count,
    divisor: formatNumber(divisor),
    output: readText(output.value),
    gradient: readText(output.gradient),
  };
  return [say(divisor === count ? "rule.mean" : "rule.mean.padded", args)];
}

/** @param {(RuleCell | undefined)[]} cells @returns {Read} */
const sumOf = (cells) => ({
  value: cells.reduce((sum, cell) => sum + (cell?.value?.value ?? NaN), 0),
  rounding: cells.reduce((sum, cell) => sum + (cell?.value?.rounding ?? 0), 0),
});

/** @param {Read} read @param {number} by @returns {Read} */
const scaled = ({ value, rounding }, by) => ({ value: value * by, rounding: rounding * by });

/** @param {Case} one */
function sentencesOfSum({ inputs, output }) {
  const ends = inputs.map(([input]) => input);
  // Else alpha, or a number that is not recorded.
  if (ends.length < 2 || !mayEqual(sumOf(ends), output.value)) return sentencesOfOthers({ output });
  const terms = ends.map(({ value }) => readText(value)).join(" + ");
  return [say("rule.add", { terms, output: readText(output.value), gradient: readText(output.gradient) })];
}

/** @param {Case} one */
function sentencesOfNorm(one) {
  const { operation, cell, inputs, output } = one;
  const { mean, var: variance, weight, bias, eps = 0, training } = operation.rule ?? {};
  const channel = cell[0];
  const input = inputs[0]?.[0];
  if (!variance || !input || cell.length === 2) return sentencesOfOthers(one);
  const deviation = Math.sqrt(variance[channel] + eps);
  const [scale, shift] = [weight?.[channel] ?? 1, bias?.[channel] ?? 0];
  const numbers = { mean: mean[channel], deviation, weight: scale, bias: shift, factor: scale / deviation };
  const texts = Object.fromEntries(
    Object.entries(numbers).map(([name, number]) => [name, formatNumber(number)]),
  );
  const args = {
    ...texts,
    input: readText(input.value),
    output: readText(output.value),
    gradient: readText(output.gradient),
  };
  return [say("rule.norm", args), say(training ? "rule.norm.training" : "rule.norm.fixed", args)];
}

/** @param {Case} one */
function sentencesOfMove({ seen, operation, inputs, output }) {
  const position = inputs.findIndex((cells) => cells.length === 1);
  if (position < 0) return sentencesOfOthers({ output });
  const source = seen.network.operations[operation.sources[position]];
  return [
    say("rule.move", {
      cell: cellText(source, inputs[position][0].cell),
      gradient: readText(output.gradient),
    }),
  ];
}

/** @param {Case} one @param {"rule.sigmoid" | "rule.tanh"} id @param {(y: number) => number} slope */
function sentencesOfSlope({ inputs: [[input]], output }, id, slope) {
  const { value } = output;
  const steep = value && { value: slope(value.value), rounding: value.rounding };
  const args = {
    input: readText(input.value),
    output: readText(value),
    slope: readText(steep),
    gradient: readText(output.gradient),
  };
  return [say(id, args)];
}

/** @param {Pick<Case, "output">} one */
function sentencesOfOthers({ output }) {
  return [say("rule.other", { output: readText(output.value), gradient: readText(output.gradient) })];
}
