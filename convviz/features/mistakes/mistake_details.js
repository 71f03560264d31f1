// What is said of a mistake: its ways, what to do instead, where it was met.
import { element, setText } from "../../web/base/dom.js";
import { choicesOf, mistakeWay, wayOf } from "../../web/numbers/mistake_sentences.js";
import { say } from "./sentences.js";
import { button } from "../../web/tabs/pane_elements.js";

/** @import { Mistake } from "./mistake_list.js" */

/** @param {(index: number) => void} choose @param {() => void} expose */
export function createMistakeDetails(choose, expose) {
  const fix = element("p");
  const [choices, met] = [0, 1].map(() => element("p.cv-muted"));
  const ways = element("div.cv-buttons", { role: "group", "aria-label": say("ways") });
  const go = button(say("expose"), expose, { class: "cv-mistake-go" });
  const el = element("div.cv-mistake-about", ways, fix, choices, met, element("p", go));
  let drawn = "";
  return {
    el,
    /** @param {Mistake | null} mistake @param {number} way @param {boolean} isSeen in this setting already */
    set(mistake, way, isSeen) {
      el.hidden = !mistake;
      if (!mistake) return;
      if (drawn !== mistake.id)
        ways.replaceChildren(
          ...mistake.ways.map((_, index) =>
            button(mistakeWay(index), () => choose(index), { title: wayOf(mistake.ways, index) }),
          ),
        );
      drawn = mistake.id;
      go.hidden = isSeen;
      ways.hidden = mistake.ways.length < 2;
      [...ways.children].forEach((each, index) => each.setAttribute("aria-pressed", String(index === way)));
      setText(fix, say("fix", { fix: mistake.fix }));
      setText(choices, say("choices", { choices: choicesOf(mistake.of, mistake.ways[way]) }));
      setText(met, mistake.met.length ? say("met", { places: mistake.met.join(", ") }) : "");
    },
  };
}
