// What is said of a wrong number: the mistakes that give it, in words, and which of them the page can show.
import MISTAKES from "../../facts/data/mistakes.json" with { type: "json" };
import WORDS from "../../facts/data/words/wrong_number_reasons.json" with { type: "json" };
import { formatLong, parseNumber } from "../base/format.js";
import { sentences } from "../base/sentences.js";
import { createDiagnosis } from "../numbers/diagnose_number.js";
import { wayOf } from "../numbers/mistake_sentences.js";
import { isKnown } from "../rules/recipe_steps.js";
import { shownName } from "../rules/tensor_display_names.js";
import { indicesOf } from "./step_sentence_values.js";

const say = sentences(WORDS);
/** @typedef {keyof typeof WORDS} Id */
const MAX_PLACES = 3; // places named in one sentence

/**
 * @import { Reason } from "../numbers/diagnose_number.js"
 * @import { Seen } from "./step_sentence_values.js"
 * @typedef {{ words: string, mistake: string, show: string, label: string }} SeenReason mistake: id, with its
 *   button's words; empty: not shown here
 */

/**
 * Names mistakes that give the typed number, the likeliest first.
 * @param {Seen} seen @param {Place} cell @param {string} typed @param {boolean} canShow has the tab Mistakes
 * @returns {SeenReason[]}
 */
export function whyWrong({ settings, stages }, { panel, row, column }, typed, canShow) {
  const number = parseNumber(typed);
  const right = stages[panel];
  if (number === null || !right) return [];
  const find = createDiagnosis(MISTAKES, settings, /** @type {any} */ (stages));
  const found = find(panel, indicesOf(settings, right, panel, row, column), number);
  return found.map((reason, place) => {
    const mistake = clauseOf(reason, settings.transposed);
    const shown = canShow && reason.way > 0;
    const show =
      reason.way > 1 ? say("show.way", { way: wayOf(waysOf(reason.id), reason.way - 1) }) : say("show");
    return {
      words: say(place ? "or" : "told", { number: formatLong(number), mistake }),
      mistake: shown ? reason.id : "",
      show: shown ? show : "",
      label: shown ? say("show.label", { show, mistake }) : "",
    };
  });
}

/** Those the page knows, as the tab Mistakes has them. @param {string} id */
const waysOf = (id) => MISTAKES.find((mistake) => mistake.id === id)?.ways.filter(isKnown) ?? [];

/** A clause that follows "if". @param {Reason} reason @param {boolean} transposed */
function clauseOf({ why, id, terms, places, left, added }, transposed) {
  const name = (/** @type {any} */ tensor) => tensor && shownName(tensor, transposed);
  const either = (/** @type {string[]} */ parts) =>
    parts.slice(0, MAX_PLACES).reduce((rest, last) => (rest ? say("either", { rest, last }) : last), "");
  return say(/** @type {Id} */ (`if.${why === "mistake" ? id : why}`), {
    left: name(left),
    added: name(added),
    term: either(terms),
    where: either(places.map((place) => say(/** @type {Id} */ (`where.${place}`)))),
  });
}
