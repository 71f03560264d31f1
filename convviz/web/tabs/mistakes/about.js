// @ts-check
// What is said of a mistake: its ways, what to do instead, where it was met.
import WORDS from "../../../facts/words/mistakes.json" with { type: "json" };
import { element, makeButton, setText } from "../../base/dom.js";
import { sentences } from "../../base/words.js";
import { complete } from "../../rules/recipes.js";

const say = sentences(WORDS);

/** @import { Mistake } from "./list.js" */

/** @param {(index: number) => void} choose a way @param {() => void} expose */
export function createAbout(choose, expose) {
  const [fix, choices, met] = [
    element("p"),
    element("p", { class: "cv-muted" }),
    element("p", { class: "cv-muted" }),
  ];
  const ways = element("div", { class: "cv-buttons", role: "group", "aria-label": say("ways") });
  const go = makeButton({ class: "cv-button cv-mistake-go" }, say("expose"), expose);
  const el = element("div", { class: "cv-mistake-about" }, ways, fix, choices, met, element("p", {}, go));
  let drawn = "";
  return {
    el,
    /** @param {Mistake | null} mistake @param {number} way */
    set(mistake, way) {
      el.hidden = !mistake;
      if (!mistake) return;
      if (drawn !== mistake.id) {
        ways.replaceChildren(
          ...mistake.ways.map((_, index) => {
            return makeButton({ class: "cv-button" }, say("way", { number: index + 1 }), () => choose(index));
          }),
        );
      }
      drawn = mistake.id;
      ways.hidden = mistake.ways.length < 2;
      [...ways.children].forEach((button, index) =>
        button.setAttribute("aria-pressed", String(index === way)),
      );
      setText(fix, say("fix", { fix: mistake.fix }));
      const right = complete(mistake.of, {});
      const code = (/** @type {string} */ text) => `\u201c${text}\u201d`;
      const steps = Object.entries(mistake.ways[way]).map(([step, wrong]) =>
        say("choice", { step, wrong: code(wrong), right: code(right[step]) }),
      );
      setText(
        choices,
        say("choices", { choices: steps.reduce((these, last) => say("and", { these, last })) }),
      );
      setText(met, mistake.met.length ? say("met", { places: mistake.met.join(", ") }) : "");
    },
  };
}
