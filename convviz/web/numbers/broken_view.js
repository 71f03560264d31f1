// @ts-check
// What the board is told of a broken step: which band and which panel, the numbers that
// come out, and what is said.
import WORDS from "../../facts/words/broken.json" with { type: "json" };
import { sentences } from "../base/words.js";
import { isPanel, panelsOf } from "../picture/panels.js";
import { NO_PLANE, outcomeOf, resultOf, toggleOf } from "./broken.js";
import { guiltyPlane } from "./broken_plane.js";
import { planeOffer, settingOffer, viewOffer } from "./broken_offers.js";
import { hiddenWords, sameWords, wrongWords } from "./broken_words.js";

const say = sentences(WORDS);

/**
 * @import { Equation } from "../picture/panels.js"
 * @import { Settings, Stages } from "../rules/settings.js"
 * @import { Outcome, Toggle, WrongPlane } from "./broken.js"
 * @import { Offer } from "./broken_offers.js"
 * @typedef {{ id: string, equation: string, guilty: string, result: string, before: string, differs: boolean,
 *   planes: Record<string, WrongPlane>, sentence: string, hidden: string, offers: Offer[] }} Broken
 *   id: empty where nothing is broken; before: the panel before which the "=" stands that does not hold;
 *   differs: whether it does not; planes: of each panel that comes out wrong what comes out; hidden: what is
 *   said while the mistake is not to be named
 */

/** Nothing is broken. @type {Broken} */
const RIGHT = {
  id: "",
  equation: "",
  guilty: "",
  result: "",
  before: "",
  differs: false,
  planes: {},
  sentence: "",
  hidden: "",
  offers: [],
};

/**
 * @param {Settings} settings @param {Stages} stages @param {Equation[]} equations
 * @returns {Broken | null} null where no step can be broken
 */
export function brokenOf(settings, stages, equations) {
  if (settings.transposed) return null;
  const toggle = toggleOf(settings.broken);
  const row = equations.find(({ name }) => name === toggle?.equation);
  if (!toggle || !row) return RIGHT;
  const { id, equation, guilty } = toggle;
  const told = { ...RIGHT, id, equation, guilty, hidden: say("hidden.same") };
  const names = panelsOf(row).map(({ name }) => name);
  if (!names.includes(guilty)) return { ...told, sentence: say("same.view"), offers: [viewOffer()] };
  const result = names.includes(resultOf(settings, toggle)) ? resultOf(settings, toggle) : toggle.of;
  const outcome = outcomeOf(settings, stages, toggle, result);
  if (outcome.kind === "large") return { ...told, result, sentence: say("same.large") };
  if (outcome.kind === "same")
    return {
      ...told,
      result,
      sentence: sameWords(settings, stages, toggle),
      offers: [settingOffer(settings, toggle)],
    };
  const differs = outcome.kind !== "elsewhere";
  return {
    ...told,
    result,
    before: equalsBefore(row, guilty, result),
    differs,
    planes: differs ? planesOf(settings, stages, toggle, outcome, row) : {},
    sentence: wrongWords(settings, toggle, outcome),
    hidden: hiddenWords(outcome),
    offers: differs ? [] : [planeOffer(settings, toggle, outcome)],
  };
}

/**
 * The panel after the "=" that does not hold: with both readings in one row it is the one
 * between result and window.
 * @param {Equation} row @param {string} guilty @param {string} result
 */
function equalsBefore({ items }, guilty, result) {
  /** @type {string[][]} what stands between the signs "=" */
  const sides = [[]];
  for (const item of items) {
    if (isPanel(item)) sides[sides.length - 1].push(item.name);
    else if (item.symbol === "=") sides.push([]);
  }
  const sideOf = (/** @type {string} */ name) => sides.findIndex((side) => side.includes(name));
  return sides[Math.max(sideOf(guilty), sideOf(result))][0];
}

/**
 * What comes out in each panel that the mistake reaches.
 * @param {Settings} settings @param {Stages} stages @param {Toggle} toggle @param {Outcome} outcome
 * @param {Equation} row
 * @returns {Record<string, WrongPlane>}
 */
function planesOf(settings, stages, toggle, outcome, row) {
  /** @type {Record<string, WrongPlane>} */
  const planes = { [outcome.result]: outcome.plane };
  for (const panel of panelsOf(row)) {
    const guilty = panel.name === toggle.guilty ? guiltyPlane(settings, toggle, panel, stages) : null;
    if (guilty) planes[panel.name] = guilty;
    // A border of another shape cannot be folded back.
    if (panel.name === "grad_input" && outcome.result !== panel.name)
      planes[panel.name] =
        outcome.kind === "wrong" ? outcomeOf(settings, stages, toggle, "grad_input").plane : NO_PLANE;
  }
  return planes;
}
