// What is sent back: a single 1, ones, or what a loss makes.
import SETTINGS from "../../facts/data/settings.json" with { type: "json" };
import { isSingleOne, singleOne } from "./change_settings.js";
import { lossWith, withKindsOfLoss } from "./loss_inputs.js";
import { replaced } from "./settings_and_tensors.js";

const BY_HAND = lossWith("grad"); // its grad_output is given
export const GRAD_SOURCES = [
  "single",
  "ones",
  ...SETTINGS.fields.loss.words.filter((loss) => loss !== BY_HAND),
];

/**
 * Names what makes grad_output; the text is empty for numbers other than ones and a single 1.
 * @param {Settings} settings
 */
export function gradSource(settings) {
  if (settings.loss !== BY_HAND) return settings.loss;
  if (isSingleOne(settings)) return "single";
  return settings.grad.kind === "ones" ? "ones" : "";
}

/** A loss gets a target that it takes. @param {Settings} settings @param {string} what @returns {Changed} */
export function setGradSource(settings, what) {
  if (what === "single") return singleOne(settings);
  if (what === "ones") return [replaced(settings, { loss: BY_HAND, grad: { kind: "ones" } }), []];
  return [withKindsOfLoss(replaced(settings, { loss: what })), []];
}
