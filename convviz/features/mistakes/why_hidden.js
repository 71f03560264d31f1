// What the tab Mistakes says of a mistake that nobody would notice: what hides it, and what would show it.
import { afterwards } from "../../web/numbers/latest_request.js";
import { hidingOf } from "../../web/numbers/what_hides_mistake.js";
import { textOf } from "../../web/numbers/nearby_settings.js";
import { numbersKey } from "../../web/rules/settings_and_tensors.js";
import { listed } from "../../web/numbers/mistake_sentences.js";
import { say } from "./sentences.js";

const REST_MS = 150; // the same pause as in web/page/tab_data.js

/**
 * @import { Hiding } from "../../web/numbers/what_hides_mistake.js"
 * @import { Move } from "../../web/numbers/nearby_settings.js"
 */

/**
 * Trying takes longer than a frame: once a picture, at rest.
 * @param {(words: string) => void} show @param {Later} later
 */
export function createWhy(show, later = afterwards) {
  let stop = () => {};
  let known = { key: "", words: "" };
  return {
    stop: () => stop(),
    /**
     * Without the reason until it is found.
     * @param {Settings} settings @param {Gradient} of @param {Recipe} way
     */
    of(settings, of, way) {
      stop();
      const key = JSON.stringify([of, way, numbersKey(settings)]);
      if (known.key === key) return known.words;
      stop = later(() => {
        known = { key, words: hidingWords(hidingOf(settings, of, way)) };
        show(known.words);
      }, REST_MS);
      return hidingWords({ reasons: [], together: false });
    },
  };
}

/** @param {Hiding} hiding */
export function hidingWords({ reasons, together }) {
  if (!reasons.length) return say("verdict.same");
  const facts = reasons.map(({ fact, value }) => {
    return say(/** @type {"why.stride"} */ (`why.${fact}`), { value, count: value });
  });
  const moves = reasons.map(({ move }) => moveWords(move));
  return say("verdict.why", {
    why: listed(facts),
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
