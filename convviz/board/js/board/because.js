// @ts-check
// "why?" beside the thing that makes one ask: one sentence that begins with "Because", and a lesson where
// there is one.
import WORDS from "../../../facts/words/because.json" with { type: "json" };
import { ask } from "../base/ask.js";
import { element, makeButton, setText } from "../base/dom.js";
import { closeWithEscape } from "../base/keys.js";
import { sentences } from "../base/words.js";
import { becauseWords, topicsOf } from "../picture/topics.js";

const say = sentences(WORDS);

/**
 * @import { Shown, Topic } from "../picture/topics.js"
 * @import { Geometry } from "../rules/spec.js"
 */

/** @param {string} band @param {string[]} taught topics that a lesson shows */
export function createBecause(band, taught) {
  const buttons = element("div", { class: "cv-whys", role: "group", "aria-label": say("why") });
  const words = element("span", {});
  const show = makeButton({ class: "cv-why-show" }, say("show"), () => open && ask(buttons, open));
  const answer = element("p", { class: "cv-because", role: "status", hidden: "" }, words, " ", show);
  /** @type {(answered: boolean) => void} */
  let tellAnswer = () => {};
  /** @type {Topic[]} */
  let topics = [];
  /** @type {Topic | null} */
  let open = null;
  /** @type {Geometry} */
  let geometry;
  closeWithEscape(
    () => /** @type {HTMLElement | null} */ (buttons.querySelector("[aria-expanded=true]")),
    buttons,
    answer,
  );

  /** @param {Topic | null} topic */
  function turnTo(topic) {
    open = topic;
    answer.hidden = !topic;
    tellAnswer(Boolean(topic));
    if (topic) setText(words, becauseWords(topic, geometry));
    show.hidden = !topic || !taught.includes(topic);
    for (const button of buttons.querySelectorAll("button"))
      button.setAttribute("aria-expanded", String(button.dataset.why === topic));
  }

  /** @param {Topic} topic */
  function createButton(topic) {
    return makeButton(
      { class: "cv-why", "data-why": topic, "aria-expanded": "false" },
      say(`why.${topic}`),
      () => turnTo(open === topic ? null : topic),
    );
  }

  return {
    el: buttons,
    answer,
    /** @param {(answered: boolean) => void} tell told when an answer opens or closes */
    onAnswer: (tell) => void (tellAnswer = tell),
    /** @param {Shown[]} panels of the band @param {Geometry} next */
    set(panels, next) {
      geometry = next;
      const found = topicsOf(band, panels, next);
      buttons.hidden = !found.length;
      if (found.join() !== topics.join()) {
        const [first, ...others] = found.map(createButton);
        const word = element("span", { "aria-hidden": "true" }, say("why"));
        // The word goes with the first of them: without one it asks nothing.
        buttons.replaceChildren(element("span", { class: "cv-whys-first" }, word, first ?? ""), ...others);
      }
      topics = found;
      turnTo(open && found.includes(open) ? open : null);
    },
  };
}
