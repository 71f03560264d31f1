// @ts-check
// What no maker of numbers may hand to the board, by the rule of settings/compute.py.
import { shownName } from "../rules/names.js";
import { say } from "../rules/say.js";

const COMPUTED = ["input", "weight", "bias", "output", "loss", "grad_output", "grad_padded_input", "grad_input", "grad_weight", "grad_bias"];

/**
 * @import { Numbers } from "./asking.js"
 * @import { Tensor } from "../rules/settings.js"
 */

/** Refuse a number that is not finite: it can be neither coloured nor handed on. @param {Numbers} numbers @param {boolean} transposed */
export function checkFinite({ stages, dtype }, transposed) {
  const byName = /** @type {Record<string, Tensor | number | null>} */ (stages);
  for (const name of COMPUTED) {
    const made = byName[shownName(name, transposed)];
    if (made === null) continue;
    const value = (typeof made === "number" ? [made] : made.data).find((each) => !Number.isFinite(each));
    if (value === undefined) continue;
    const word = Number.isNaN(value) ? "nan" : value < 0 ? "-inf" : "inf";
    throw new Error(say("refused.finite", { dtype, value: word, name }));
  }
}
