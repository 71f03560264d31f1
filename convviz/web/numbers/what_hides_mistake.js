// What hides a mistake, by trying: if moving one control shows it, what that ended was hiding it.
import { completeRecipe, turnedFrom, turnedSize } from "../rules/recipe_steps.js";
import { tensorsOf } from "../rules/settings_and_tensors.js";
import { countProducts, effectiveKernel, outputSize, remainderOf } from "../rules/conv_geometry.js";
import { computeStages } from "./compute.js";
import { MistakeResults } from "./mistake_results.js";
import { NUMBERS, nearbyGeometries, randomMove, textOf } from "./nearby_settings.js";
import { upTo } from "../rules/shapes_and_indices.js";

/**
 * @import { Move } from "./nearby_settings.js"
 * @typedef {{ fact: string, value: string, move: Move }} Reason fact: a word of a geometry, or of its numbers;
 *   value: the control's, or the tensor; move: ends it
 * @typedef {{ reasons: Reason[], together: boolean }} Hiding together: only both moves, in turn, show it
 */

/** Larger settings are not tried: at worst one and a half seconds. */
const MAX_PRODUCTS = 10_000;
const MAX_PRODUCTS_OF_TWO = 300; // for pairs of moves
const MAX_REASONS = 2;

/** @param {(axis: number) => boolean} test */
const onBoth = (test) => test(0) && test(1);
const reach = (/** @type {Spec} */ spec, /** @type {number} */ axis) => effectiveKernel(spec, axis) - 1;

/** Else the padding is no p of the backward pass. @param {Spec} spec */
const isOfZeros = ({ padding_mode }) => padding_mode === "zeros";

/** Facts of no single control. @type {Record<string, (spec: Spec) => boolean>} */
const RELATIONS = {
  no_remainder: (spec) => onBoth((axis) => remainderOf(spec, axis) === 0),
  full_remainder: (spec) =>
    onBoth((axis) => spec.stride[axis] > 1 && remainderOf(spec, axis) === spec.stride[axis] - 1),
  half_padding: (spec) =>
    isOfZeros(spec) && onBoth((axis) => spec.padding[axis].every((cells) => reach(spec, axis) === 2 * cells)),
  small_padding: (spec) =>
    isOfZeros(spec) && onBoth((axis) => Math.max(...spec.padding[axis]) <= reach(spec, axis)),
  one_output_cell: (spec) => onBoth((axis) => outputSize(spec, axis) === 1),
  same_axes: ({ stride, padding, dilation }) =>
    [stride, padding, dilation].every(([rows, columns]) => String(rows) === String(columns)),
  no_overlap: (spec) => onBoth((axis) => spec.stride[axis] >= effectiveKernel(spec, axis)),
};
// The earlier wins a tie.
const FACTS = [
  ...["batch", "groups", "out_channels", "in_channels", "stride", "dilation", "padding"],
  ...Object.keys(RELATIONS),
  "padding_mode",
  "kernel_size",
  "input_size",
];

/** @param {Settings} settings @param {Gradient} of @param {Recipe} way */
function showsAt(settings, of, way) {
  const stages = computeStages(settings.spec, settings.loss, tensorsOf(settings));
  return new MistakeResults(settings.spec, stages).verdict(of, way).kind !== "same";
}

/**
 * No reasons: none was found.
 * @param {Settings} settings @param {Gradient} of @param {Recipe} way @returns {Hiding}
 */
export function hidingOf(settings, of, way) {
  const products = countProducts(settings.spec);
  // Only the board's rounding hides it.
  if (products > MAX_PRODUCTS || showsAt(settings, of, way)) return { reasons: [], together: false };
  const shows = (/** @type {Move} */ move) => showsAt(move.settings, of, way);
  const numbers = NUMBERS.map((name) => randomMove(settings, name)).find(shows);
  if (numbers) return { reasons: [firstReason(settings, numbers, of, way)], together: false };
  const alone = geometryReasons(settings, null, of, way);
  if (alone.length || products > MAX_PRODUCTS_OF_TWO) return { reasons: alone, together: false };
  for (const first of firstMoves(settings)) {
    const [second] = geometryReasons(settings, first, of, way);
    if (second) return { reasons: [firstReason(settings, first, of, way), second], together: true };
  }
  return { reasons: [], together: false };
}

/**
 * As few as explain every move that shows it.
 * @param {Settings} settings @param {Move | null} first made before @param {Gradient} of @param {Recipe}
 *   way
 * @returns {Reason[]}
 */
function geometryReasons({ spec, ...settings }, first, of, way) {
  const from = first?.settings ?? { spec, ...settings };
  const tried = nearbyGeometries(from, MAX_PRODUCTS)
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
  while (left.length && reasons.length < MAX_REASONS) {
    const withFact = (/** @type {string} */ fact) => left.filter(({ ended }) => ended.includes(fact));
    // Holds while hidden, ends when shown.
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
 * First of two moves: random grad_output, or more of something.
 * @param {Settings} settings @returns {Move[]}
 */
function firstMoves(settings) {
  const larger = nearbyGeometries(settings, MAX_PRODUCTS).filter(({ control, settings: { spec } }) => {
    const name = /** @type {keyof Spec} */ (control);
    const [before, after] = [[settings.spec[name]].flat(2), [spec[name]].flat(2)];
    return control !== "padding_mode" && after.every((value, index) => value > before[index]);
  });
  return [randomMove(settings, "grad_output"), ...larger];
}

/** @param {Settings} settings @param {Move} move @param {Gradient} of @param {Recipe} way */
function firstReason(settings, move, of, way) {
  const fact = FACTS.find((each) => ends(each, settings.spec, move.settings.spec));
  if (fact) return { fact, value: textOf(settings.spec, fact), move };
  return { fact: numbersFact(settings, move.control, of, way), value: move.control, move };
}

/** @param {Settings} settings @param {string} tensor @param {Gradient} of @param {Recipe} way */
function numbersFact(settings, tensor, of, way) {
  const given = tensorsOf(settings);
  const { grad_output } = computeStages(settings.spec, settings.loss, given);
  const { data } = { ...given, grad_output }[/** @type {"weight" | "input" | "grad_output"} */ (tensor)];
  if (data.every((value) => value === 0)) return "zero";
  const turned = tensor === "weight" && of === "grad_input" && "kernel" in way;
  return turned && looksTheSame(given.weight, completeRecipe(of, {}).kernel, way.kernel)
    ? "symmetric"
    : "numbers";
}

/** @param {string} fact @param {Spec} before @param {Spec} after */
function ends(fact, before, after) {
  const holds = RELATIONS[fact];
  return holds ? holds(before) && !holds(after) : textOf(before, fact) !== textOf(after, fact);
}

/** @param {Tensor} weight @param {string} one @param {string} other */
function looksTheSame({ shape, data }, one, other) {
  const size = /** @type {Pair} */ (shape.slice(2));
  const [height, width] = turnedSize(one, size);
  if (String(turnedSize(other, size)) !== String([height, width])) return false;
  const [ours, theirs] = [turnedFrom(one, size), turnedFrom(other, size)];
  const cell = (/** @type {number} */ plane, /** @type {number[]} */ [row, column]) =>
    data[(plane * size[0] + row) * size[1] + column];
  return upTo(shape[0] * shape[1] * height * width).every((index) => {
    const [plane, place] = [Math.floor(index / (height * width)), index % (height * width)];
    const at = /** @type {const} */ ([Math.floor(place / width), place % width]);
    return cell(plane, ours(...at)) === cell(plane, theirs(...at));
  });
}
