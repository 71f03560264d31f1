// @ts-check
// What stands there when a lesson was left: the way back; and when its end was reached, what was found and what to try next.
import WORDS from "../../../facts/words/player.json" with { type: "json" };
import { element, setText } from "../base/dom.js";
import { sentences } from "../base/words.js";
import { createButton } from "./button.js";

const say = sentences(WORDS);

/** @import { Gone, Player } from "./player.js" @param {Player} player */
export function createLeft(player) {
  const heading = element("h3", { tabindex: "-1" });
  const found = element("ul", {});
  const next = element("div", { class: "cv-lesson-offers" });
  const words = element("p", {});
  const back = createButton("return", () => player.afterwards(true));
  const stay = createButton("stay", () => player.afterwards(false));
  const el = element("section", { class: "cv-lesson cv-lesson-gone", hidden: "" }, heading, found, next, words, element("footer", {}, back, stay));

  /** @param {string} offer @param {number} index */
  function createOffer(offer, index) {
    const button = element("button", { type: "button" }, offer);
    button.addEventListener("click", () => player.tryNext(index));
    return button;
  }

  return {
    el,
    /** @param {Gone | null} gone null: nothing was left */
    show(gone) {
      el.hidden = !gone;
      if (!gone) return;
      const ended = gone.words.length > 0;
      for (const part of [heading, found, next]) part.hidden = !ended;
      setText(heading, say("ended"));
      setText(words, say(ended ? "stays" : "left"));
      el.setAttribute("aria-label", say(ended ? "ended" : "left"));
      found.replaceChildren(...gone.words.map((each) => element("li", {}, each)));
      next.replaceChildren(element("span", {}, say("offers")), ...gone.next.map(createOffer));
    },
    focus: () => (heading.hidden ? back : heading).focus(),
  };
}
