// @ts-check
// What the tab Mistakes says of a mistake that nobody would notice: what hides it, and what would show it.
import WORDS from "../../../facts/words/mistakes.json" with { type: "json" };
import { sentences } from "../base/words.js";
import { textOf } from "../numbers/hiding.js";

const say = sentences(WORDS);

/**
 * @import { Hiding } from "../numbers/hiding.js"
 * @import { Move } from "../numbers/moves.js"
 */

/** Why nobody would notice, and where one would. @param {Hiding} hiding */
export function hidingWords({ reasons, together }) {
  if (!reasons.length) return say("verdict.same");
  const facts = reasons.map(({ fact, value }) => {
    return say(/** @type {"why.stride"} */ (`why.${fact}`), { value, count: value });
  });
  const moves = reasons.map(({ move }) => moveWords(move));
  return say("verdict.why", {
    why: facts.reduce((these, last) => say("and", { these, last })),
    moves: moves.reduce((these, last) => say(together ? "with.together" : "with.or", { these, last })),
  });
}

/** @param {Move} move */
function moveWords({ control, settings: { spec } }) {
  if (!(control in spec)) return say("with.numbers", { value: control });
  const value = textOf(spec, control);
  const values = { value, count: value, into: spec.in_channels, out: spec.out_channels };
  return say(/** @type {"with.stride"} */ (`with.${control}`), values);
}
