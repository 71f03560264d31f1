// Why a result stayed: from what it is made of, and from its products.
import { madeOf, resultsOf, sameTensor, sentBack, unchangedWords } from "../picture/why_result_unchanged.js";
import { kindsTaken } from "../rules/loss_inputs.js";
import { countProducts } from "../rules/conv_geometry.js";
import { correlate, fold, tableOf, toPaddedInput, toWeight } from "./compute.js";

/**
 * @import { Reason } from "../picture/why_result_unchanged.js"
 * @typedef {{ settings: Settings, stages: Stages }} Seen
 */

const MAX_SEARCHED_PRODUCTS = 200_000; // larger geometries are not searched
/** What stages are computed from, besides the geometry. */
const GIVEN = /** @type {const} */ (["input", "weight", "bias", "target", "grad"]);

/** @param {unknown} one @param {unknown} other */
const same = (one, other) => one === other || JSON.stringify(one) === JSON.stringify(other);

/**
 * One tensor's numbers or the geometry changed, and nothing else.
 * @param {Settings} before @param {Settings} now
 */
export function isMove(before, now) {
  const other = before.transposed !== now.transposed || before.loss !== now.loss;
  if (other || (before.bias === null) !== (now.bias === null)) return false;
  const moved = GIVEN.filter((name) => !same(before[name], now[name])).length;
  return moved + Number(!same(before.spec, now.spec)) === 1;
}

/**
 * Which stages did not change, each with the reason.
 * @param {Seen} before @param {Seen} now @returns {Record<string, string>}
 */
export function unchanged(before, now) {
  /** @type {Record<string, string>} */
  const found = {};
  if (!isMove(before.settings, now.settings)) return found;
  for (const stage of resultsOf(now.settings.transposed)) {
    const [was, is] = [before, now].map(({ stages }) => tensorIn(stages, stage));
    if (!is || !sameTensor(was, is)) continue;
    const [reason, changed] = reasonOf(stage, before, now);
    found[stage] = unchangedWords(stage, now.settings, reason, changed);
  }
  return found;
}

/** @param {Stages} stages @param {string} name @returns {Tensor | null} */
const tensorIn = (stages, name) => /** @type {Record<string, any>} */ (stages)[name] ?? null;

/**
 * @param {string} stage @param {Seen} before @param {Seen} now
 * @returns {[Reason, string?]} and what changed of its parts
 */
export function reasonOf(stage, before, now) {
  const { transposed, loss } = now.settings;
  const parts = madeOf(stage, now.settings);
  const changed = parts.filter(
    (name) => !sameTensor(tensorIn(before.stages, name), tensorIn(now.stages, name)),
  );
  if (!parts.length) return [kindsTaken(loss, "grad").length ? "given" : "constant"];
  // The geometry selects its products.
  const isSum = stage !== sentBack(transposed) && stage !== "grad_bias";
  const turned = isSum && !same(before.settings.spec, now.settings.spec);
  if (!changed.length) return [turned ? "same" : "made_of"];
  if (turned || !isSum || changed.length > 1 || changed[0] === "bias") return ["same"];
  return productsSay(stage, before, now, changed[0]) ?? ["same"];
}

/** @param {Tensor} tensor @param {(value: number, index: number) => boolean} is @returns {Tensor} */
const where = ({ shape, data }, is) => ({
  shape,
  data: data.map((value, index) => Number(is(value, index))),
});

/**
 * All its products are with zeros, or in the padding, or there are none.
 * @param {string} stage @param {Seen} before @param {Seen} now @param {string} changed
 * @returns {[Reason, string] | null}
 */
function productsSay(stage, before, now, changed) {
  const { spec } = now.settings;
  const factors = madeOf(stage, now.settings).filter((name) => name !== "bias");
  const other = factors.find((name) => name !== changed);
  if (!other || countProducts(spec) > MAX_SEARCHED_PRODUCTS) return null;
  const was = /** @type {Tensor} */ (tensorIn(before.stages, changed));
  const there = /** @type {Tensor} */ (tensorIn(now.stages, changed));
  const difference = where(there, (value, index) => value !== was.data[index]);
  const factor = /** @type {Tensor} */ (tensorIn(now.stages, other));
  const met = (/** @type {Tensor} */ with_) => productsOf(spec, { [changed]: difference, [other]: with_ });
  const any = (/** @type {Tensor} */ { data }) => data.some((count) => count !== 0);
  const all = met(where(factor, () => true));
  if (!any(all.before)) return ["unread", changed];
  const real = met(where(factor, (value) => value !== 0));
  if (!any(real.before)) return ["zeros", changed];
  return any(real.after) ? null : ["border", changed];
}

/**
 * Nonzero products of each result cell, before and after padding is cut.
 * @param {Settings["spec"]} spec @param {Record<string, Tensor>} factors
 */
function productsOf(spec, { padded_input, weight, grad_output }) {
  const table = tableOf(spec);
  if (!grad_output) return both(correlate(spec, table, padded_input, weight));
  if (!weight) return both(toWeight(spec, table, grad_output, padded_input));
  const border = toPaddedInput(spec, table, grad_output, weight);
  return { before: border, after: fold(border, spec) };
}

/** @param {Tensor} tensor */
const both = (tensor) => ({ before: tensor, after: tensor });
