// @ts-check
// From the settings to the numbers that follow from them, as settings/compute.py does it.
import { computeStages } from "./compute.js";
import { shownName } from "../rules/names.js";
import { say } from "../rules/say.js";
import { tensorsOf } from "../rules/settings.js";

const COMPUTED = ["input", "weight", "bias", "output", "loss", "grad_output", "grad_padded_input", "grad_input", "grad_weight", "grad_bias"];

/** @import { Settings, Stages, Tensor } from "../rules/settings.js" */

/**
 * Compute every stage; a number that is not finite is refused.
 * @param {Settings} settings @param {number[][][]} digits ten pictures, 0 to 16
 * @returns {Stages}
 */
export function computeSettings(settings, digits) {
  const stages = computeStages(settings.spec, settings.loss, tensorsOf(settings, digits), settings.transposed);
  const byName = /** @type {Record<string, Tensor | number | null>} */ (stages);
  for (const name of COMPUTED) {
    const made = byName[shownName(name, settings.transposed)];
    if (made === null) continue;
    const value = (typeof made === "number" ? [made] : made.data).find((each) => !Number.isFinite(each));
    if (value === undefined) continue;
    const word = Number.isNaN(value) ? "nan" : value < 0 ? "-inf" : "inf";
    throw new Error(say("refused.finite", { dtype: "float64", value: word, name }));
  }
  return stages;
}
