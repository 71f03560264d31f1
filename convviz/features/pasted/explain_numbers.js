// What pasted numbers are: right, or which mistakes of the catalogue give exactly these, or what is nearest.
import REASONS from "../../facts/data/diagnosable_mistakes.json" with { type: "json" };
import { gradientRight, mistakenProducts, summed } from "../../web/numbers/compute_mistake.js";
import { computesTheSame } from "../../web/numbers/diagnose_number.js";
import { countProducts } from "../../web/rules/conv_geometry.js";
import { isKnown } from "../../web/rules/recipe_steps.js";
import { indicesAt, largestOf, upTo } from "../../web/rules/shapes_and_indices.js";
import { nearestOf } from "./nearest.js";
import { closeTo, isCell, isSame, isTensor, readingsAs } from "./same_numbers.js";

/**
 * @import { Result } from "../../web/rules/recipe_steps.js"
 * @import { Near } from "./nearest.js"
 * @import { Pasted } from "./read_numbers.js"
 * @import { Reading } from "./same_numbers.js"
 * @typedef {{ id: string, of: string, title: string, fix: string, setting: string, ways: Recipe[] }} Mistake of the catalogue
 * @typedef {{ mistake: Mistake, way: Recipe, whole?: boolean }} Found whole: each of its choices does something here
 * @typedef {{ right: boolean, tensor: Tensor, reading: Reading | null, wrong: number[], nans: number, apart:
 *   number, tried: boolean, mistakes: Found[], near: Near[], closest: (Found & { cells: number }) | null }}
 *   Verdict reading: null: another shape; wrong: cells; apart: the largest distance; tried: the catalogue, too
 * @typedef {{ settings: Settings, stages: Stages, of: Result }} Asked
 */

const MAX_PRODUCTS = 1_000_000; // of more, not every mistake is tried
const LETTERS = { weight: ["out", "in", "H", "W"], image: ["N", "C", "H", "W"] };
/** Of a result, bias included. @param {Result} of @param {Recipe} way @param {Spec} spec @param {Stages} stages */
export function resultBy(of, way, spec, stages) {
  const products = mistakenProducts(of, way, spec);
  if (!products) return null;
  const tensor = summed(/** @type {Gradient} */ (of), products, stages);
  const { bias } = stages;
  if (products.bias && bias)
    tensor.data.forEach((_, index) => {
      tensor.data[index] +=
        (products.bias ?? 0) * bias.data[Math.floor(index / products.size) % products.shape[1]];
    });
  return { products, tensor };
}

/** @param {Asked} asked @returns {Tensor | null} null: there is no such result */
export function rightOf({ settings, stages, of }) {
  if (of === "grad_bias" && !settings.transposed) return gradientRight(of, settings.spec, stages);
  return stages[of];
}

/** The board shows no pooling: the mistakes in one, by their letters, are none of a convolution. */
const POOLINGS = "PMA";

/** Returns the known mistakes in a result, the likeliest first. @param {Mistake[]} catalogue @param {Result} of */
export function mistakesOf(catalogue, of) {
  const place = (/** @type {Mistake} */ { id }) => REASONS.likeliest.indexOf(id) + 1 || Infinity;
  return catalogue
    .filter(({ id }) => !POOLINGS.includes(id[0]))
    .filter(({ of: spoiled, ways }) => spoiled.split(", ").includes(of) && ways.length)
    .map((mistake) => ({ ...mistake, ways: mistake.ways.filter(isKnown) }))
    .sort((one, other) => place(one) - place(other) || one.id.localeCompare(other.id));
}

/**
 * @param {Pasted} pasted @param {Asked} asked @param {Mistake[]} catalogue @returns {Verdict | null} null: there
 *   is no such result
 */
export function explain(pasted, asked, catalogue) {
  const tensor = rightOf(asked);
  if (!tensor) return null;
  const { settings, stages, of } = asked;
  const close = closeTo(tensor, productOf(of, stages));
  const readings = readingsAs(pasted, tensor.shape);
  const reading = readings.find((each) => isSame(each, tensor.data, close)) ?? readings[0] ?? null;
  const wrong = reading
    ? upTo(tensor.data.length).filter((at) => !isCell(reading, at, tensor.data[at], close))
    : [];
  const nans = pasted.data.filter(Number.isNaN).length;
  const right = reading !== null && !wrong.length;
  const apart = reading ? largestOf(tensor.data.map((value, at) => reading.data[at] - value)) : 0;
  const tried = !settings.transposed && countProducts(settings.spec) <= MAX_PRODUCTS;
  const verdict = {
    right,
    tensor,
    reading,
    wrong,
    nans,
    apart,
    tried,
    mistakes: [],
    near: [],
    closest: null,
  };
  if (right || nans) return verdict;
  const all = tried ? attempts(asked, catalogue) : [];
  const mistakes = exact(pasted, all, asked, close);
  if (mistakes.length) return { ...verdict, mistakes };
  const others = /** @type {[string, Tensor][]} */ (
    Object.entries(stages).filter(([name, each]) => name !== of && typeof each === "object" && each)
  );
  const near = nearestOf(
    pasted,
    tensor,
    others,
    of === "grad_weight" ? LETTERS.weight : LETTERS.image,
    close,
  );
  return {
    ...verdict,
    near,
    closest: near.length ? null : closestOf(pasted, all, close, tensor, wrong.length),
  };
}

/** Multiplies the largest factors; no single product exceeds this in size. @param {Result} of @param {Stages} stages */
function productOf(of, { weight, input, grad_output }) {
  const [one, other] = {
    output: [weight, input],
    grad_input: [grad_output, weight],
    grad_weight: [grad_output, input],
    grad_bias: [grad_output, null],
  }[of];
  return largestOf(/** @type {Tensor} */ (one).data) * (other ? largestOf(other.data) : 1);
}

/** @typedef {Found & { tensor: Tensor, products: Products }} Attempt */

/** Of the last example: while somebody types it is the same. */
let made = { stages: /** @type {Stages | null} */ (null), of: "", all: /** @type {Attempt[]} */ ([]) };

/** @param {Asked} asked @param {Mistake[]} catalogue */
function attempts({ settings: { spec }, stages, of }, catalogue) {
  if (made.stages === stages && made.of === of) return made.all;
  const all = mistakesOf(catalogue, of).flatMap((mistake) =>
    mistake.ways.flatMap((way) => {
      const result = resultBy(of, way, spec, stages);
      return result ? [{ mistake, way, ...result }] : [];
    }),
  );
  made = { stages, of, all };
  return all;
}

/**
 * A mistake once; last those of which a choice does nothing here: another one is the same.
 * @param {Pasted} pasted @param {Attempt[]} all @param {Asked} asked @param {number} close @returns {Found[]}
 */
function exact(pasted, all, { of, settings: { spec } }, close) {
  /** @param {Attempt} attempt */
  const isWhole = ({ way, products }) =>
    Object.keys(way).every((step) => {
      const less = Object.fromEntries(Object.entries(way).filter(([name]) => name !== step));
      const others = mistakenProducts(of, less, spec);
      return !others || !computesTheSame(products, others);
    });
  const found = all
    .filter(({ tensor }) => isTensor(pasted, tensor, close))
    .map((each) => ({ ...each, whole: isWhole(each) }));
  return [...found.filter(({ whole }) => whole), ...found.filter(({ whole }) => !whole)].filter(
    ({ mistake }, place, list) => list.findIndex((other) => other.mistake.id === mistake.id) === place,
  );
}

/** With more equal cells than the right one, and more than half. @param {Pasted} pasted @param {Attempt[]} all
 * @param {number} close @param {Tensor} right @param {number} wrong */
function closestOf(pasted, all, close, right, wrong) {
  const equal = all.flatMap(({ mistake, way, tensor }) =>
    readingsAs(pasted, tensor.shape).map((reading) => {
      const cells = tensor.data.filter((value, at) => isCell(reading, at, value, close)).length;
      return { mistake, way, cells };
    }),
  );
  const best = equal.reduce(
    (most, each) => (each.cells > (most?.cells ?? 0) ? each : most),
    equal[0] ?? null,
  );
  const own = readingsAs(pasted, right.shape).length ? right.data.length - wrong : 0;
  return best && best.cells > own && 2 * best.cells > pasted.data.length ? best : null;
}

/**
 * Which indices of each axis all wrong cells share, where they leave some out.
 * @param {number[]} shape @param {number[]} wrong @returns {{ axis: number, places: number[] }[]}
 */
export function whereWrong(shape, wrong) {
  return shape.flatMap((size, axis) => {
    const places = [...new Set(wrong.map((at) => indicesAt(shape, at)[axis]))].sort(
      (one, other) => one - other,
    );
    return places.length < size && places.length <= 2 ? [{ axis, places }] : [];
  });
}
