// @ts-check
// What hides a mistake at a setting, found by trying: one control is moved and the mistake is made there. If
// it shows, it was hidden by what held before the move and does not hold after it.
import { complete, turnedFrom, turnedSize } from "../rules/recipes.js";
import { tensorsOf } from "../rules/settings.js";
import { countProducts, effectiveKernel, outputSize, remainderOf } from "../rules/spec.js";
import { computeStages } from "./compute.js";
import { Gallery } from "./gallery.js";
import { NUMBERS, geometryMoves, randomMove, textOf } from "./moves.js";

/**
 * @import { Gradient, Recipe } from "../rules/recipes.js"
 * @import { Settings, Tensor } from "../rules/settings.js"
 * @import { Spec } from "../rules/spec.js"
 * @import { Move } from "./moves.js"
 * @typedef {{ fact: string, value: string, move: Move }} Reason
 *   fact: an id of facts/words/mistakes.json under "why."; value: what that control is set to here, or the
 *   tensor whose numbers hide it; move: ends the fact
 * @typedef {{ reasons: Reason[], together: boolean }} Hiding
 *   each move shows the mistake; together: only both do, and the second is made after the first
 */

/**
 * Products of a setting up to which others are tried: an answer takes a fraction of a second,
 * at worst one and a half.
 */
const MOST_PRODUCTS = 10_000;
const MOST_PRODUCTS_OF_TWO = 300; // the same where two moves at once are tried, which are hundreds
const MOST_REASONS = 2;

/** @param {(axis: number) => boolean} test */
const onBoth = (test) => test(0) && test(1);
const reach = (/** @type {Spec} */ spec, /** @type {number} */ axis) => effectiveKernel(spec, axis) - 1;

/** What a geometry may be that no control says alone. @type {Record<string, (spec: Spec) => boolean>} */
const RELATIONS = {
  no_remainder: (spec) => onBoth((axis) => remainderOf(spec, axis) === 0),
  full_remainder: (spec) =>
    onBoth((axis) => spec.stride[axis] > 1 && remainderOf(spec, axis) === spec.stride[axis] - 1),
  half_padding: (spec) =>
    onBoth((axis) => spec.padding[axis].every((cells) => reach(spec, axis) === 2 * cells)),
  small_padding: (spec) => onBoth((axis) => Math.max(...spec.padding[axis]) <= reach(spec, axis)),
  one_output_cell: (spec) => onBoth((axis) => outputSize(spec, axis) === 1),
  same_axes: ({ stride, padding, dilation }) =>
    [stride, padding, dilation].every(([rows, columns]) => String(rows) === String(columns)),
  no_overlap: (spec) => onBoth((axis) => spec.stride[axis] >= effectiveKernel(spec, axis)),
};
// Of two facts that explain as much the earlier one is said.
const FACTS = [
  ...["batch", "groups", "out_channels", "in_channels", "stride", "dilation", "padding"],
  ...Object.keys(RELATIONS),
  "padding_mode",
  "kernel_size",
  "input_size",
];

/**
 * Whether a mistake shows.
 * @param {Settings} settings of a convolution @param {Gradient} of @param {Recipe} way
 */
function showsAt(settings, of, way) {
  const stages = computeStages(settings.spec, settings.loss, tensorsOf(settings));
  return new Gallery(settings.spec, stages).verdict(of, way).kind !== "same";
}

/**
 * What hides a mistake where it does not show.
 * @param {Settings} settings of a convolution @param {Gradient} of @param {Recipe} way
 * @returns {Hiding} no reasons where none is found
 */
export function hidingOf(settings, of, way) {
  const products = countProducts(settings.spec);
  // What the board's rounding alone hides, the page's float64 shows: nothing of the setting is the reason.
  if (products > MOST_PRODUCTS || showsAt(settings, of, way)) return { reasons: [], together: false };
  const shows = (/** @type {Move} */ move) => showsAt(move.settings, of, way);
  const numbers = NUMBERS.map((name) => randomMove(settings, name)).find(shows);
  if (numbers) return { reasons: [firstReason(settings, numbers, of, way)], together: false };
  const alone = geometryReasons(settings, null, of, way);
  if (alone.length || products > MOST_PRODUCTS_OF_TWO) return { reasons: alone, together: false };
  for (const first of firstMoves(settings)) {
    const [second] = geometryReasons(settings, first, of, way);
    if (second) return { reasons: [firstReason(settings, first, of, way), second], together: true };
  }
  return { reasons: [], together: false };
}

/**
 * The facts of a geometry that hide a mistake: as few as every move that shows it ends.
 * @param {Settings} settings @param {Move | null} first after which another control is moved
 * @param {Gradient} of @param {Recipe} way @returns {Reason[]}
 */
function geometryReasons({ spec, ...settings }, first, of, way) {
  const from = first?.settings ?? { spec, ...settings };
  const tried = geometryMoves(from, MOST_PRODUCTS)
    .filter(({ control }) => control !== first?.control)
    .map((move) => ({ move, shows: showsAt(move.settings, of, way) }));
  if (!tried.some(({ shows }) => shows)) return [];
  const facts = FACTS.filter((fact) => !ends(fact, spec, from.spec));
  const endedBy = (/** @type {Move} */ move) => facts.filter((fact) => ends(fact, spec, move.settings.spec));
  const known = tried.map((each) => ({ ...each, ended: endedBy(each.move) }));
  const silent = known.filter(({ shows }) => !shows);
  let left = known.filter(({ shows }) => shows);
  /** @type {Reason[]} */
  const reasons = [];
  while (left.length && reasons.length < MOST_REASONS) {
    const withFact = (/** @type {string} */ fact) => left.filter(({ ended }) => ended.includes(fact));
    // The best fact holds wherever the mistake stays hidden, and ends wherever it shows.
    const scores = facts.map((fact) => {
      const hits = withFact(fact).length;
      return (2 * hits) / (hits + left.length + silent.filter(({ ended }) => ended.includes(fact)).length);
    });
    const best = Math.max(...scores);
    if (!best) break;
    const fact = facts[scores.indexOf(best)];
    reasons.push({ fact, value: textOf(spec, fact), move: withFact(fact)[0].move });
    left = left.filter(({ ended }) => !ended.includes(fact));
  }
  return reasons;
}

/**
 * Moves to begin with where it takes two: other numbers in grad_output, or more of something.
 * @param {Settings} settings @returns {Move[]}
 */
function firstMoves(settings) {
  const larger = geometryMoves(settings, MOST_PRODUCTS).filter(({ control, settings: { spec } }) => {
    const name = /** @type {keyof Spec} */ (control);
    const [before, after] = [[settings.spec[name]].flat(2), [spec[name]].flat(2)];
    return control !== "padding_mode" && after.every((value, index) => value > before[index]);
  });
  return [randomMove(settings, "grad_output"), ...larger];
}

/**
 * What a first move ends.
 * @param {Settings} settings @param {Move} move @param {Gradient} of @param {Recipe} way @returns {Reason}
 */
function firstReason(settings, move, of, way) {
  const fact = FACTS.find((each) => ends(each, settings.spec, move.settings.spec));
  if (fact) return { fact, value: textOf(settings.spec, fact), move };
  return { fact: numbersFact(settings, move.control, of, way), value: move.control, move };
}

/**
 * What the numbers of a tensor are.
 * @param {Settings} settings @param {string} tensor @param {Gradient} of @param {Recipe} way
 */
function numbersFact(settings, tensor, of, way) {
  const given = tensorsOf(settings);
  const { grad_output } = computeStages(settings.spec, settings.loss, given);
  const { data } = { ...given, grad_output }[/** @type {"weight" | "input" | "grad_output"} */ (tensor)];
  if (data.every((value) => value === 0)) return "zero";
  const turned = tensor === "weight" && of === "grad_input" && "kernel" in way;
  return turned && looksTheSame(given.weight, complete(of, {}).kernel, way.kernel) ? "symmetric" : "numbers";
}

/**
 * Whether a fact holds in one geometry and not in another.
 * @param {string} fact @param {Spec} before @param {Spec} after
 */
function ends(fact, before, after) {
  const holds = RELATIONS[fact];
  return holds ? holds(before) && !holds(after) : textOf(before, fact) !== textOf(after, fact);
}

/**
 * Whether every plane of a weight looks the same turned one way and another.
 * @param {Tensor} weight @param {string} one @param {string} other
 */
function looksTheSame({ shape, data }, one, other) {
  const size = /** @type {[number, number]} */ (shape.slice(2));
  const [height, width] = turnedSize(one, size);
  if (String(turnedSize(other, size)) !== String([height, width])) return false;
  const [ours, theirs] = [turnedFrom(one, size), turnedFrom(other, size)];
  const cell = (/** @type {number} */ plane, /** @type {number[]} */ [row, column]) =>
    data[(plane * size[0] + row) * size[1] + column];
  return [...Array(shape[0] * shape[1] * height * width).keys()].every((index) => {
    const [plane, place] = [Math.floor(index / (height * width)), index % (height * width)];
    const at = /** @type {const} */ ([Math.floor(place / width), place % width]);
    return cell(plane, ours(...at)) === cell(plane, theirs(...at));
  });
}
