// The page as a maker: float64 from the taps, at once.
import SETTINGS from "../../facts/data/settings.json" with { type: "json" };
import { truthWords } from "../picture/formulas_and_notes.js";
import { say } from "../rules/sentences.js";
import { tensorsOf } from "../rules/settings_and_tensors.js";
import { countProducts } from "../rules/conv_geometry.js";
import { computeStages } from "./compute.js";

export const MAX_PAGE_PRODUCTS = SETTINGS.limits.products.page; // a fifth of a second

/** @param {Settings} settings @param {number} k @returns {Numbers} */
export function fromPage(settings, k) {
  const { spec, loss, transposed } = settings;
  if (countProducts(spec) > MAX_PAGE_PRODUCTS) {
    throw new Error(say("refused.page_products", { most: MAX_PAGE_PRODUCTS / 1e6 }));
  }
  const stages = computeStages(spec, loss, tensorsOf(settings), transposed);
  // truth_ok is null because the page compares its numbers with nothing.
  return { k, stages, dtype: "float64", truth: truthWords("page"), truth_ok: null, from: "page" };
}

/**
 * Computes the numbers that the page shows until torch answers.
 * @param {Settings} settings @param {number} k @returns {Numbers}
 */
export const besideKernel = (settings, k) => ({ ...fromPage(settings, k), truth: truthWords("meanwhile") });

/** Shown after the kernel is gone. @param {Settings} settings @param {number} k @returns {Numbers} */
export const withoutKernel = (settings, k) => ({ ...fromPage(settings, k), truth: truthWords("alone") });

/** Before a kernel: what is too much waits for it. @param {Settings} settings @param {number} k */
export const beforeKernel = (settings, k) =>
  countProducts(settings.spec) > MAX_PAGE_PRODUCTS
    ? /** @type {Promise<Numbers>} */ (new Promise(() => {}))
    : besideKernel(settings, k);
