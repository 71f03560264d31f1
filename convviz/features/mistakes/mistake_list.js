// The list of the tab Mistakes: one toggle a mistake, those of one gradient at a time.
import { element, makeButton, setText } from "../../web/base/dom.js";
import { walkAlong } from "../../web/base/roving_tabindex.js";
import { createRadios } from "../../web/tabs/pane_elements.js";
import { say } from "./sentences.js";

/**
 * @typedef {{ id: string, of: Gradient, title: string, fix: string, setting: string, met: string[], ways:
 *   Record<string, string>[] }} Mistake
 */

/** @type {Gradient[]} */
export const GRADIENTS = ["grad_input", "grad_weight", "grad_bias"];

export class MistakesList {
  #gradients;
  #choices;
  #list = element("div.cv-mistakes", { role: "group" });
  #buttons;
  #brought = "";
  el;

  /**
   * @param {Mistake[]} mistakes @param {(of: Gradient) => void} choose
   * @param {(mistake: Mistake) => void} toggle
   */
  constructor(mistakes, choose, toggle) {
    this.#gradients = createRadios(say("gradients"), "gradient", (of) =>
      choose(/** @type {Gradient} */ (of)),
    );
    this.#choices = GRADIENTS.map((of) => {
      const count = mistakes.filter((mistake) => mistake.of === of).length;
      return [of, say("count", { gradient: of, count })];
    });
    this.#buttons = mistakes.map((mistake) => {
      const unseen = element("small");
      const words = [element("span", mistake.title), unseen];
      const button = makeButton("cv-mistake", words, () => toggle(mistake));
      button.dataset.mistake = mistake.id;
      return { mistake, unseen, button };
    });
    const all = this.#buttons.map(({ button }) => button);
    walkAlong(
      this.#list,
      () => all,
      (next) => {
        for (const button of all) button.tabIndex = button === next ? 0 : -1;
        scrollWithin(this.#list, next);
      },
    );
    this.#list.append(...all);
    this.el = element("div.cv-mistakes-list", this.#gradients.el, this.#list);
  }

  /** @param {Gradient} of @param {string} chosen or empty @param {(mistake: Mistake) => boolean} isUnseen */
  set(of, chosen, isUnseen) {
    this.#gradients.set(of, this.#choices);
    this.#list.setAttribute("aria-label", say("list", { gradient: of }));
    for (const { mistake, button } of this.#buttons) button.hidden = mistake.of !== of;
    const here = this.#buttons.filter(({ button }) => !button.hidden);
    const stop = here.find(({ mistake }) => mistake.id === chosen) ?? here[0];
    for (const each of here) {
      each.button.setAttribute("aria-pressed", String(each.mistake.id === chosen));
      each.button.tabIndex = each === stop ? 0 : -1;
      setText(each.unseen, isUnseen(each.mistake) ? say("unseen") : "");
    }
    if (chosen && chosen !== this.#brought && stop) scrollWithin(this.#list, stop.button);
    this.#brought = chosen;
  }
}

/** Not the page: scrollIntoView would. @param {HTMLElement} box @param {HTMLElement} part */
function scrollWithin(box, part) {
  const [room, at] = [box.getBoundingClientRect(), part.getBoundingClientRect()];
  if (at.top < room.top || at.bottom > room.bottom) box.scrollTop += at.top - room.top;
}
