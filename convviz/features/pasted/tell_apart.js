// An example in which mistakes that coincide here give different numbers.
import { computeStages } from "../../web/numbers/compute.js";
import { NUMBERS, nearbyGeometries, randomMove } from "../../web/numbers/nearby_settings.js";
import { replaced, tensorsOf } from "../../web/rules/settings_and_tensors.js";
import { settingAt, toLink } from "../../web/rules/settings_link.js";
import { largestOf } from "../../web/rules/shapes_and_indices.js";
import { resultBy } from "./explain_numbers.js";

/**
 * @import { Result } from "../../web/rules/recipe_steps.js"
 * @import { Found } from "./explain_numbers.js"
 */

const MAX_PRODUCTS = 3_000; // larger geometries are not tried
const SEEN = 1e-3; // of the largest number: what a print shows

/**
 * Finds the nearest example in which the most mistakes differ, or returns null where none separates any.
 * @param {Settings} settings @param {Result} of @param {Found[]} found
 * @returns {{ link: string, parts: number } | null} parts: how many different results
 */
export function tellingApart(settings, of, found) {
  let best = { parts: 1, settings };
  for (const example of examplesNear(settings, found)) {
    const parts = partsAt(example, of, found);
    if (parts > best.parts) best = { parts, settings: example };
    if (parts === found.length) break;
  }
  if (best.parts === 1) return null;
  return { link: toLink(best.settings), parts: best.parts };
}

/** @param {Settings} settings @param {Found[]} found @returns {Generator<Settings>} */
function* examplesNear(settings, found) {
  const random = NUMBERS.reduce((made, name) => randomMove(made, name).settings, settings);
  const candidates = [
    ...NUMBERS.map((name) => randomMove(settings, name).settings),
    random,
    ...nearbyGeometries(random, MAX_PRODUCTS).map((move) => move.settings),
  ];
  yield* candidates.filter(isShort);
  for (const { mistake } of found)
    for (const each of [settingAt(settings, mistake.setting)].filter(() => mistake.setting)) {
      const made = NUMBERS.reduce((one, name) => randomMove(one, name).settings, replaced(each, {}));
      yield* [made, ...nearbyGeometries(made, MAX_PRODUCTS).map((move) => move.settings)].filter(isShort);
    }
}

/** Else no link keeps it. @param {Settings} settings */
function isShort(settings) {
  try {
    return toLink(settings) !== "";
  } catch {
    return false;
  }
}

/** @param {Settings} settings @param {Result} of @param {Found[]} found */
function partsAt(settings, of, found) {
  const { spec, loss } = settings;
  const stages = computeStages(spec, loss, tensorsOf(settings));
  /** @type {(Tensor | null)[]} */
  const different = [];
  for (const { way } of found) {
    const tensor = resultBy(of, way, spec, stages)?.tensor ?? null;
    if (different.every((each) => isApart(each, tensor))) different.push(tensor);
  }
  return different.length;
}

/** @param {Tensor | null} one @param {Tensor | null} other */
function isApart(one, other) {
  if (!one || !other) return one !== other;
  if (String(one.shape) !== String(other.shape)) return true;
  const seen = SEEN * Math.max(largestOf(one.data), largestOf(other.data));
  return one.data.some((value, at) => Math.abs(value - other.data[at]) > seen);
}
