// What the board gets of a broken step: band, panel, numbers, words.
import { sayBreakIt } from "../rules/break_it_sentences.js";
import { isPanel, panelsOf } from "../picture/panels.js";
import { NO_PLANE, brokenOutcome, brokenResult, toggleOf } from "./broken_step.js";
import { mistakenPlane } from "./mistaken_operand.js";
import { planeOffer, settingOffer, viewOffer } from "./mistake_offers.js";
import { hiddenWords, sameWords, brokenWords } from "./broken_step_sentences.js";

/**
 * @import { Offer } from "./mistake_offers.js"
 * @typedef {{ id: string, equation: string, guilty: string, result: string, before: string, differs: boolean,
 *   alike: boolean, planes: Record<string, WrongPlane>, sentence: string, hidden: string, offers: Offer[] }}
 *   Broken id: empty: nothing; before: the panel after the "=" that fails; differs: whether it fails; alike:
 *   no number of any plane is wrong; planes: by panel; hidden: said while unnamed
 */

/** @type {Broken} */
const RIGHT = {
  id: "",
  equation: "",
  guilty: "",
  result: "",
  before: "",
  differs: false,
  alike: false,
  planes: {},
  sentence: "",
  hidden: "",
  offers: [],
};

/**
 * @param {Settings} settings @param {Stages} stages @param {Equation[]} equations
 * @returns {Broken | null} null: nothing can be broken
 */
export function brokenOf(settings, stages, equations) {
  if (settings.transposed) return null;
  const toggle = toggleOf(settings.broken);
  const row = equations.find(({ name }) => name === toggle?.equation);
  if (!toggle || !row) return RIGHT;
  const { id, equation, guilty } = toggle;
  const base = { ...RIGHT, id, equation, guilty };
  const names = panelsOf(row).map(({ name }) => name);
  const unseen = (/** @type {"same.view" | "same.large"} */ why) => ({
    ...base,
    sentence: sayBreakIt(why),
    hidden: sayBreakIt(why),
  });
  if (!names.includes(guilty)) return { ...unseen("same.view"), offers: [viewOffer()] };
  const result = names.includes(brokenResult(settings, toggle)) ? brokenResult(settings, toggle) : toggle.of;
  const outcome = brokenOutcome(settings, stages, toggle, result);
  if (outcome.kind === "large") return { ...unseen("same.large"), result };
  if (outcome.kind === "same")
    return {
      ...base,
      result,
      alike: true,
      sentence: sameWords(settings, stages, toggle),
      hidden: sayBreakIt("hidden.same"),
      offers: [settingOffer(settings, toggle)],
    };
  const differs = outcome.kind !== "elsewhere";
  return {
    ...base,
    result,
    before: equalsBefore(row, guilty, result),
    differs,
    planes: differs ? planesOf(settings, stages, toggle, outcome, row) : {},
    sentence: brokenWords(settings, toggle, outcome),
    hidden: hiddenWords(outcome),
    offers: differs ? [] : [planeOffer(settings, toggle, outcome)],
  };
}

/**
 * With both readings, the one between result and window.
 * @param {Equation} row @param {string} guilty @param {string} result
 */
function equalsBefore({ items }, guilty, result) {
  /** @type {string[][]} */
  const sides = [[]];
  for (const item of items) {
    if (isPanel(item)) sides[sides.length - 1].push(item.name);
    else if (item.symbol === "=") sides.push([]);
  }
  const sideOf = (/** @type {string} */ name) => sides.findIndex((side) => side.includes(name));
  return sides[Math.max(sideOf(guilty), sideOf(result))][0];
}

/**
 * @param {Settings} settings @param {Stages} stages @param {Toggle} toggle @param {Outcome} outcome
 * @param {Equation} row
 */
function planesOf(settings, stages, toggle, outcome, row) {
  const planes = { [outcome.result]: outcome.plane };
  for (const panel of panelsOf(row)) {
    const guilty = panel.name === toggle.guilty ? mistakenPlane(settings, toggle, panel, stages) : null;
    if (guilty) planes[panel.name] = guilty;
    // A border of another shape cannot be folded back.
    if (panel.name === "grad_input" && outcome.result !== panel.name)
      planes[panel.name] =
        outcome.kind === "wrong" ? brokenOutcome(settings, stages, toggle, "grad_input").plane : NO_PLANE;
  }
  return planes;
}
