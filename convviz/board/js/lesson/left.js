// @ts-check
// What stands there when a lesson was left: the way back; and when its end was reached, what was
// found and what to try next.
import WORDS from "../../../facts/words/player.json" with { type: "json" };
import { element, makeButton, setText } from "../base/dom.js";
import { sentences } from "../base/words.js";
import { createButton } from "./button.js";

const say = sentences(WORDS);

/**
 * @import { Gone, Player } from "./player.js"
 * @param {Player} player @param {() => void} onStart turns to the lesson that follows
 */
export function createLeft(player, onStart) {
  let following = "";
  const heading = element("h3", { tabindex: "-1" });
  const found = element("ul", {});
  const next = element("div", { class: "cv-lesson-offers" });
  const exercise = element("p", { class: "cv-lesson-exercise" });
  const words = element("p", {});
  const after = makeButton(
    { class: "cv-lesson-after" },
    [],
    () => player.play(following)?.then(() => el.hidden && onStart()) ?? onStart(),
  );
  const back = createButton("return", () => player.afterwards(true));
  const stay = createButton("stay", () => player.afterwards(false));
  const el = element(
    "section",
    { class: "cv-lesson cv-lesson-gone", hidden: "" },
    heading,
    found,
    exercise,
    next,
    words,
    element("footer", {}, after, back, stay),
  );

  /** @param {string} offer @param {number} index */
  function createOffer(offer, index) {
    return makeButton({}, offer, () => player.tryNext(index));
  }

  return {
    el,
    /** @param {Gone | null} gone null: nothing was left */
    show(gone) {
      el.hidden = !gone;
      if (!gone) return;
      const ended = gone.words.length > 0;
      for (const part of [heading, found, next]) part.hidden = !ended;
      following = gone.after;
      after.hidden = !following;
      if (following) setText(after, say("after", { title: player.shelf.title(following) }));
      exercise.hidden = !gone.exercise;
      exercise.replaceChildren(
        say("exercise"),
        " ",
        element("code", {}, `convviz.check(yours, "${gone.exercise}")`),
      );
      setText(heading, say("ended"));
      setText(words, say(ended ? "stays" : "left"));
      el.setAttribute("aria-label", say(ended ? "ended" : "left"));
      found.replaceChildren(...gone.words.map((each) => element("li", {}, each)));
      next.hidden = !gone.next.length;
      next.replaceChildren(element("span", {}, say("offers")), ...gone.next.map(createOffer));
    },
    focus: () => (heading.hidden ? back : heading).focus(),
  };
}
