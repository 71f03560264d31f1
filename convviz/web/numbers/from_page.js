// @ts-check
// The page as a maker of numbers: computed in float64 from the taps, and there at once.
import SETTINGS from "../../facts/settings.json" with { type: "json" };
import { aloneWords, meanwhileWords, truthWords } from "../picture/words.js";
import { say } from "../rules/say.js";
import { tensorsOf } from "../rules/settings.js";
import { countProducts } from "../rules/spec.js";
import { computeStages } from "./compute.js";

/**
 * @import { Numbers } from "./latest_request.js"
 * @import { Settings } from "../rules/settings.js"
 */

export const MOST_PRODUCTS = SETTINGS.limits.products.page; // a fifth of a second a step

/** The numbers of some settings. @param {Settings} settings @param {number} k their id @returns {Numbers} */
export function fromPage(settings, k) {
  const { spec, loss, transposed } = settings;
  if (countProducts(spec) > MOST_PRODUCTS) {
    throw new Error(say("refused.page_products", { most: MOST_PRODUCTS / 1e6 }));
  }
  const stages = computeStages(spec, loss, tensorsOf(settings), transposed);
  // The truth is neither good nor bad: nothing was compared.
  return { k, stages, dtype: "float64", truth: truthWords(), truth_ok: null, from: "page" };
}

/**
 * The same where torch is asked, too, and has not answered yet.
 * @param {Settings} settings @param {number} k @returns {Numbers}
 */
export const besideKernel = (settings, k) => ({ ...fromPage(settings, k), truth: meanwhileWords() });

/** The same where the kernel is gone. @param {Settings} settings @param {number} k @returns {Numbers} */
export const withoutKernel = (settings, k) => ({ ...fromPage(settings, k), truth: aloneWords() });

/**
 * The same before a kernel has come: what is too much for the page waits for it.
 * @param {Settings} settings @param {number} k
 */
export const beforeKernel = (settings, k) =>
  countProducts(settings.spec) > MOST_PRODUCTS
    ? /** @type {Promise<Numbers>} */ (new Promise(() => {}))
    : besideKernel(settings, k);
