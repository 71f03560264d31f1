// What no maker may hand to the board, as in settings/compute.py.
import SETTINGS from "../../facts/settings.json" with { type: "json" };
import { shownName } from "../rules/names.js";
import { say } from "../rules/say.js";

/**
 * @import { Numbers } from "./latest_request.js"
 * @import { Tensor } from "../rules/settings.js"
 */

/**
 * Non-finite numbers can be neither coloured nor handed on.
 * @param {Numbers} numbers @param {boolean} transposed
 */
export function checkFinite({ stages, dtype }, transposed) {
  const byName = /** @type {Record<string, Tensor | number | null>} */ (stages);
  for (const name of SETTINGS.computed) {
    const made = byName[shownName(name, transposed)];
    // No stage holds the target.
    const value = (typeof made === "number" ? [made] : made?.data)?.find((each) => !Number.isFinite(each));
    if (value === undefined) continue;
    const word = Number.isNaN(value) ? "nan" : value < 0 ? "-inf" : "inf";
    throw new Error(say("refused.finite", { dtype, value: word, name }));
  }
}
