// Where a hidden mistake would show: the nearest such setting, by trying.
import SETTINGS from "../../facts/data/settings.json" with { type: "json" };
import { sayBreakIt } from "../rules/break_it_sentences.js";
import { settingAt } from "../rules/settings_link.js";
import { lossWith } from "../rules/loss_inputs.js";
import { showPlane } from "../rules/shown_plane.js";
import { numbersKey, replaced, tensorsOf } from "../rules/settings_and_tensors.js";
import { brokenOutcome } from "./broken_step.js";
import { computeStages } from "./compute.js";
import { nearbyGeometries, textOf } from "./nearby_settings.js";

const MAX_PRODUCTS = 10_000; // tried within a frame

/**
 * @import { BrokenId } from "./broken_step.js"
 * @import { GeometryControl } from "./nearby_settings.js"
 * @typedef {{ words: string, changes: Partial<Settings> }} Offer
 * @typedef {"counting" | "ones" | "whole" | "all"} NumbersName
 */

/**
 * Lists the controls to try for each mistake, the likeliest first.
 * @type {Record<BrokenId, (GeometryControl | NumbersName)[]>}
 */
const CONTROLS = {
  I01: ["counting", "kernel_size", "ones", "all"],
  I07: ["stride", "input_size", "padding"],
  I16: ["padding", "kernel_size", "all"],
  I10: ["stride", "input_size", "padding"],
  W02: ["stride", "input_size", "padding", "ones", "whole", "all"],
  W06: ["padding", "ones", "whole", "all"],
  W07: ["input_size", "dilation", "stride", "padding"],
};
const ONES = { loss: lossWith("grad"), grad: { kind: "ones" } };
/** These numbers seldom hide a mistake. @type {Record<NumbersName, Partial<Settings>>} */
const NUMBERS = {
  counting: { weight: { kind: "counting" } },
  ones: ONES,
  whole: { input: { kind: "whole" } },
  all: { ...ONES, weight: { kind: "counting" }, input: { kind: "whole" } },
};

/** This view includes the sliding window. */
const WINDOW = SETTINGS.fields.input_view.words.includes("both") ? "both" : "window";

/** @returns {Offer} */
export const viewOffer = () => ({ words: sayBreakIt("offer.view"), changes: { input_view: WINDOW } });

/** @param {Settings} settings @param {Toggle} toggle @param {Outcome} outcome @returns {Offer} */
export const planeOffer = ({ plane, spec }, { of }, { other }) => ({
  words: sayBreakIt("offer.plane"),
  changes: { plane: showPlane(plane, spec, of, other) },
});

// Keeps the last offer, because finding one tries many settings.
let known = { key: "", offer: /** @type {Offer} */ ({ words: "", changes: {} }) };

/** @param {Settings} settings @param {Toggle} toggle */
export function settingOffer(settings, toggle) {
  const key = JSON.stringify([toggle.id, settings.plane, numbersKey(settings)]);
  if (known.key !== key) known = { key, offer: found(settings, toggle) };
  return known.offer;
}

/**
 * With one control moved, else the catalogue's.
 * @param {Settings} settings @param {Toggle} toggle @returns {Offer}
 */
function found(settings, toggle) {
  const moves = nearbyGeometries(settings, MAX_PRODUCTS);
  for (const control of CONTROLS[toggle.id]) {
    const numbers = NUMBERS[/** @type {NumbersName} */ (control)];
    const tried = numbers
      ? [replaced(settings, numbers)]
      : moves.filter((move) => move.control === control).map((move) => move.settings);
    const shows = tried.find((each) => isShown(each, toggle));
    if (!shows) continue;
    const words = sayBreakIt(/** @type {"offer.stride"} */ (`offer.${control}`), {
      value: textOf(shows.spec, control),
    });
    return { words, changes: numbers ?? { spec: shows.spec, plane: shows.plane } };
  }
  const { broken, input_view, scale, link_axes } = settings;
  const there = { ...settingAt(settings, toggle.setting), broken, input_view, scale, link_axes };
  return { words: sayBreakIt("offer.setting"), changes: there };
}

/** @param {Settings} settings @param {Toggle} toggle */
function isShown(settings, toggle) {
  const stages = computeStages(settings.spec, settings.loss, tensorsOf(settings));
  return ["wrong", "shape"].includes(brokenOutcome(settings, stages, toggle).kind);
}
