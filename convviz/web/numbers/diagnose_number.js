// Why somebody comes to a wrong number: a mistake of the catalogue gives it here, another cell has it, or a
// term was forgotten. Only what the number proves is said.
import REASONS from "../../facts/data/diagnosable_mistakes.json" with { type: "json" };
import SETTINGS from "../../facts/data/settings.json" with { type: "json" };
import { formatLong } from "../base/format.js";
import { rightProducts } from "../rules/products.js";
import { isKnown } from "../rules/recipe_steps.js";
import { bothAxes, paddedSize, unfolded } from "../rules/conv_geometry.js";
import { typedAgrees } from "./typed_number.js";
import { FACTOR, mistakenNumber, mistakenProducts, productsOf } from "./compute_mistake.js";
import { provesSign } from "./wrong_sign.js";
import { upTo, flatIndex } from "../rules/shapes_and_indices.js";

/**
 * @import { Result } from "../rules/recipe_steps.js"
 * @typedef {{ id: string, of: string, ways: Recipe[] }} Mistake of the catalogue
 * @typedef {"unweighted" | "count" | "count.numbers" | "sign" | "neighbour" | "missing" | "twice" |
 *   "flipped"} Kind
 * @typedef {{ why: Kind | "mistake", id: string, way: number, terms: string[], places: string[], left:
 *   string, added: string }} Reason way: from 1, 0: not in the tab Mistakes; terms: one of them is
 *   concerned, as "2 · (−1)"; places: cells with the number; left: the tensor not multiplied by; added: the
 *   one added up
 * @typedef {{ spec: Spec, of: Result, transposed: boolean, given: Stages, right: Tensor, at: number[], index:
 *   number }} Asked a number by its indices, and by its place in the data
 */

/** Lists the steps to the neighbours of a cell; the nearest come first. @type {[string, number, number][]} */
const AROUND = [
  ["right", 0, 1],
  ["left", 0, -1],
  ["below", 1, 0],
  ["above", -1, 0],
  ["below_right", 1, 1],
  ["below_left", 1, -1],
  ["above_right", -1, 1],
  ["above_left", -1, -1],
];
// More would be waited for.
const MAX_PAIRS = 300_000;

/** @param {Reason["why"]} why @param {Partial<Reason>} [known] */
const reason = (why, known) => ({
  why,
  id: "",
  way: 0,
  terms: [],
  places: [],
  left: "",
  added: "",
  ...known,
});

/**
 * What finds reasons in one picture; products are cached.
 * @param {Mistake[]} mistakes @param {Pick<Settings, "spec" | "transposed">} settings @param {Stages}
 *   stages
 */
export function createDiagnosis(mistakes, { spec, transposed }, stages) {
  const ordered = REASONS.likeliest.flatMap((id) => mistakes.filter((mistake) => mistake.id === id));
  /** @param {Result} of @param {Spec} where @param {Recipe} way */
  const keyOf = (of, where, way) => JSON.stringify([of, where === spec, way]);
  /** @type {Map<string, Products | null>} */
  const known = new Map();
  /** @param {Result} of @param {Spec} where @param {Recipe} way */
  function productsOnce(of, where, way) {
    const key = keyOf(of, where, way);
    if (!known.has(key)) known.set(key, mistakenProducts(of, way, where));
    return known.get(key) ?? null;
  }

  /** @type {Map<string, boolean>} */
  const whole = new Map();
  /** A choice that does nothing here makes it another mistake. @param {Asked} asked @param {Recipe} way */
  function isWhole({ of, spec: where }, way) {
    const key = keyOf(of, where, way);
    const products = productsOnce(of, where, way);
    const matters = (/** @type {string} */ step) => {
      const less = Object.fromEntries(Object.entries(way).filter(([name]) => name !== step));
      const others = productsOnce(of, where, less);
      return !products || !others || !computesTheSame(products, others);
    };
    if (!whole.has(key)) whole.set(key, Object.keys(way).every(matters));
    return whole.get(key) === true;
  }

  /** @param {Asked} asked @param {number} typed @returns {Reason[]} */
  function mistaken(asked, typed) {
    // The catalogue is a convolution's.
    if (transposed || costOf(spec) > MAX_PAIRS) return [];
    const right = asked.right.data[asked.index];
    return ordered
      .filter(({ of }) => of.split(", ").includes(asked.of))
      .flatMap(({ id, of, ways }) => {
        const place = ways.filter(isKnown).findIndex((way) => {
          const number = numberOf(asked, productsOnce(asked.of, asked.spec, way));
          return (
            number !== null &&
            typedAgrees(typed, number) &&
            !typedAgrees(number, right) &&
            isWhole(asked, way)
          );
        });
        if (place < 0) return [];
        const inTab = of === asked.of && asked.spec === spec && SETTINGS.fields.mistake.words.includes(id);
        return [reason("mistake", { id, way: inTab ? place + 1 : 0 })];
      });
  }

  /**
   * Lists the reasons for a typed number, the likeliest first.
   * @param {string} panel @param {number[]} at @param {number} typed @returns {Reason[]}
   */
  return (panel, at, typed) => {
    const asked = askedOf(panel, at, spec, transposed, stages);
    if (!asked || typedAgrees(typed, asked.right.data[asked.index])) return [];
    const terms = termsOf(asked);
    const found = [...mistaken(asked, typed), ...plain(asked, terms, typed)];
    const close = nearest(terms, asked.right.data[asked.index], typed);
    // A forgotten term is likelier than a neighbour, equal by chance.
    if (!found.length) found.push(...close.filter(({ why }) => why === "missing"));
    found.push(...neighbours(asked, typed));
    return found.length ? found : close;
  };
}

/**
 * Returns true where both sum the same products, whatever the numbers are.
 * @param {Products} one @param {Products} other
 */
export function computesTheSame(one, other) {
  if (one.factor !== other.factor || one.bias !== other.bias || String(one.shape) !== String(other.shape))
    return false;
  const sortedKey = (/** @type {Triple[]} */ triples) =>
    triples
      .map(({ result, grad, other: by }) => `${result} ${grad} ${by}`)
      .sort()
      .join();
  return sortedKey(one.planes) === sortedKey(other.planes) && sortedKey(one.cells) === sortedKey(other.cells);
}

/** @param {Spec} spec */
const costOf = (spec) => {
  const [rows, columns] = bothAxes((axis) => paddedSize(spec, axis) * spec.kernel_size[axis]);
  return rows * columns + (spec.batch * spec.out_channels * spec.in_channels) / spec.groups;
};

/**
 * @param {string} panel @param {number[]} at @param {Spec} spec @param {boolean} transposed
 * @param {Stages} stages
 * @returns {Asked | null}
 */
function askedOf(panel, at, spec, transposed, stages) {
  const padded = panel === "grad_padded_input";
  const of = padded ? "grad_input" : panel;
  const right = stages[/** @type {Result | "grad_padded_input"} */ (panel)];
  if (!right || !(of in FACTOR)) return null;
  const index = flatIndex(right.shape, at);
  if (at.some((each, axis) => each < 0 || each >= right.shape[axis])) return null;
  const where = padded ? unfolded(spec) : spec;
  return { spec: where, of: /** @type {Result} */ (of), transposed, given: stages, right, at, index };
}

/**
 * Returns what a mistake computes for the asked cell, or null where its result has no such cell.
 * @param {Asked} asked @param {Products | null} products
 */
function numberOf({ of, given, right, at }, products) {
  const index = products ? indexIn(products.shape, right.shape, at) : -1;
  return products && index >= 0 ? mistakenNumber(of, products, given, index) : null;
}

/**
 * Returns the flat index of a cell of the right result in another shape, or -1 where that shape lacks it.
 * @param {number[]} shape @param {number[]} right @param {number[]} at
 */
function indexIn(shape, right, at) {
  if (right.length === 1) {
    if (shape.every((size) => size === 1)) return 0;
    return String(shape) === String(right) ? at[0] : -1;
  }
  const there = shape.length === 4 && at.every((each, axis) => each < shape[axis]);
  if (!there || shape[0] !== right[0] || shape[1] !== right[1]) return -1;
  return flatIndex(shape, at);
}

/** The bias as a single factor. @param {Asked} asked @returns {number[][]} */
function termsOf({ spec, of, transposed, given, at, index }) {
  const { bias, input } = given;
  const channel = at[at.length > 1 ? 1 : 0];
  if (of === "grad_bias" && transposed) {
    // a transposed grad_output stands in the input's place
    const size = input.shape[2] * input.shape[3];
    return upTo(spec.batch).flatMap((n) => {
      const start = (n * spec.in_channels + channel) * size;
      return [...input.data.slice(start, start + size)].map((number) => [number]);
    });
  }
  const terms = productsOf(of, rightProducts(of, spec), given, index).map(({ factors }) => factors);
  const biased = of === (transposed ? "grad_input" : "output") && bias;
  return biased ? [...terms, [bias.data[channel]]] : terms;
}

/** @param {number[]} factors */
const productOf = (factors) => factors.reduce((product, factor) => product * factor, 1);

/** @param {number[][]} terms */
const sumOf = (terms) => terms.reduce((sum, factors) => sum + productOf(factors), 0);

/**
 * Factors, numbers or the sign.
 * @param {Asked} asked @param {number[][]} terms @param {number} typed @returns {Reason[]}
 */
function plain({ of, transposed, right, index }, terms, typed) {
  const number = right.data[index];
  /** @type {Reason[]} */
  const found = [];
  const catalogued = of === "grad_input" && !transposed; // it has the sign
  if (!catalogued && typedAgrees(typed, -number)) found.push(reason("sign"));
  const names = [of === "output" ? "weight" : "grad_output", FACTOR[of] ?? ""];
  for (const [kept, left] of names[1]
    ? [
        [0, 1],
        [1, 0],
      ]
    : []) {
    const sum = sumOf(terms.map((factors) => (factors.length === 2 ? [factors[kept]] : factors)));
    if (typedAgrees(typed, sum)) found.push(reason("unweighted", { left: names[left], added: names[kept] }));
  }
  const count = terms.filter((factors) => factors.length === (names[1] ? 2 : 1)).length;
  if (typed === count) found.push(reason(names[1] ? "count" : "count.numbers"));
  return found;
}

/** @param {Asked} asked @param {number} typed @returns {Reason[]} */
function neighbours({ right, at }, typed) {
  if (at.length < 4) return [];
  const [, , height, width] = right.shape;
  const plane = (at[0] * right.shape[1] + at[1]) * height;
  const places = AROUND.filter(([, down, across]) => {
    const [row, column] = [at[2] + down, at[3] + across];
    const inside = row >= 0 && row < height && column >= 0 && column < width;
    return inside && typedAgrees(typed, right.data[(plane + row) * width + column]);
  }).map(([where]) => where);
  return places.length ? [reason("neighbour", { places })] : [];
}

/**
 * One term missing, twice, or negated, if nothing else is as near; a term may be a number of its own, as the bias.
 * @param {number[][]} terms @param {number} right @param {number} typed @returns {Reason[]}
 */
function nearest(terms, right, typed) {
  /** @type {[Kind, number][]} */
  const kinds = [
    ["missing", -1],
    ["twice", 1],
    ["flipped", -2],
  ];
  for (const [why, times] of kinds) {
    const fits = terms.filter((factors) => {
      const term = productOf(factors);
      return term !== 0 && typedAgrees(typed, right + times * term);
    });
    const texts = [...new Set(fits.map(termText))];
    if (why === "flipped" && !provesSign(terms.map(productOf).filter(Boolean), right, typed)) return [];
    if (texts.length) return [reason(why, { terms: texts })];
  }
  return [];
}

/** Writes factors as a product, such as 2 · (−1). @param {number[]} factors */
const termText = (factors) =>
  factors
    .map((factor, place) => (place && factor < 0 ? `(${formatLong(factor)})` : formatLong(factor)))
    .join(" \u00b7 ");
