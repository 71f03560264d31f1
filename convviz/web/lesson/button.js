// @ts-check
// A button of a lesson's card.
import WORDS from "../../facts/words/player.json" with { type: "json" };
import { makeButton } from "../base/dom.js";
import { sentences } from "../base/words.js";

const say = sentences(WORDS);

/**
 * @param {string} id of its words @param {() => void} onClick
 * @param {string} [name] where the words are a sign
 */
export function createButton(id, onClick, name) {
  const words = say(/** @type {"back"} */ (id));
  return makeButton(
    { class: `cv-lesson-${id}`, ...(name ? { "aria-label": words, title: words } : {}) },
    name ?? words,
    onClick,
  );
}
