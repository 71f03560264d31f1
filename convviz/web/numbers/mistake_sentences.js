// Words about the catalogue's mistakes: by which choices a way goes wrong.
import WORDS from "../../facts/data/words/mistakes.json" with { type: "json" };
import { sentences } from "../base/sentences.js";
import { completeRecipe } from "../rules/recipe_steps.js";

/** @import { Recipe, Result } from "../rules/recipe_steps.js" */

const say = sentences(WORDS);

/** A choice in words, if it has any: formulas read alike everywhere. @param {string} choice */
function quoted(choice) {
  const id = `choice.${(choice.match(/\w+/g) ?? []).join("_")}`;
  const words = Object.hasOwn(WORDS, id) ? say(/** @type {keyof typeof WORDS} */ (id)) : choice;
  return `\u201c${words}\u201d`;
}

/** @param {string[]} parts */
export const listed = (parts) => parts.reduce((these, last) => say("and", { these, last }));

/** Its choices beside the right ones. @param {Result} of @param {Recipe} way */
export function choicesOf(of, way) {
  const right = completeRecipe(of, {});
  return listed(
    Object.entries(way).map(([step, wrong]) =>
      say("choice", { step, wrong: quoted(wrong), right: quoted(right[step]) }),
    ),
  );
}

/** @param {number} index */
export const mistakeWay = (index) => say("way", { number: index + 1 });

/** Of several: its number, and which it is. @param {Recipe[]} ways @param {number} index */
export const wayOf = (ways, index) =>
  say("way.which", {
    way: mistakeWay(index),
    choices: listed(
      Object.entries(ways[index]).map(([step, wrong]) => say("way.choice", { step, wrong: quoted(wrong) })),
    ),
  });
