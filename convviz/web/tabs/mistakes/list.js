// @ts-check
// The list of the tab Mistakes: one toggle a mistake, those of one gradient at a time.
import WORDS from "../../../facts/words/mistakes.json" with { type: "json" };
import { element, makeButton, setText } from "../../base/dom.js";
import { checkOne, walkAlong } from "../../base/roving.js";
import { sentences } from "../../base/words.js";

const say = sentences(WORDS);

/**
 * @import { Gradient } from "../../rules/recipes.js"
 * @typedef {{ id: string, of: Gradient, title: string, fix: string, setting: string, met: string[], ways:
 *   Record<string, string>[] }} Mistake
 */

/** @type {Gradient[]} */
export const GRADIENTS = ["grad_input", "grad_weight", "grad_bias"];

export class MistakesList {
  #tabs;
  #list = element("div", { class: "cv-mistakes", role: "group" });
  #buttons;
  #brought = ""; // the choice that was last brought in sight
  el;
  #choose;
  #toggle;

  /**
   * @param {Mistake[]} mistakes @param {(of: Gradient) => void} choose a gradient @param {(mistake: Mistake)
   *   => void} toggle
   */
  constructor(mistakes, choose, toggle) {
    [this.#choose, this.#toggle] = [choose, toggle];
    this.#tabs = GRADIENTS.map((of) => {
      const count = mistakes.filter((mistake) => mistake.of === of).length;
      return makeButton(
        { class: "cv-button", role: "radio", "data-gradient": of },
        say("count", { gradient: of, count }),
        () => this.#choose(of),
      );
    });
    const chooser = element(
      "div",
      { class: "cv-buttons", role: "radiogroup", "aria-label": say("gradients") },
      ...this.#tabs,
    );
    this.#buttons = mistakes.map((mistake) => {
      const unseen = element("small", {});
      const button = makeButton(
        { class: "cv-mistake", "data-mistake": mistake.id },
        [element("span", {}, mistake.title), unseen],
        () => this.#toggle(mistake),
      );
      return { mistake, button, unseen };
    });
    walkAlong(
      chooser,
      () => this.#tabs,
      (next) => choose(/** @type {Gradient} */ (next.dataset.gradient)),
    );
    const all = this.#buttons.map(({ button }) => button);
    walkAlong(
      this.#list,
      () => all,
      (next) => {
        for (const button of all) button.tabIndex = button === next ? 0 : -1;
        bringWithin(this.#list, next);
      },
    );
    this.#list.append(...all);
    this.el = element("div", { class: "cv-mistakes-list" }, chooser, this.#list);
  }

  /**
   * @param {Gradient} of @param {string} chosen id of a mistake, or nothing
   * @param {(mistake: Mistake) => boolean} isUnseen
   */
  set(of, chosen, isUnseen) {
    checkOne(this.#tabs, ({ dataset }) => dataset.gradient === of);
    this.#list.setAttribute("aria-label", say("list", { gradient: of }));
    const here = this.#buttons.filter(({ mistake, button }) => {
      button.hidden = mistake.of !== of;
      return !button.hidden;
    });
    const stop = here.find(({ mistake }) => mistake.id === chosen) ?? here[0];
    for (const each of here) {
      each.button.setAttribute("aria-pressed", String(each.mistake.id === chosen));
      each.button.tabIndex = each === stop ? 0 : -1;
      setText(each.unseen, isUnseen(each.mistake) ? say("unseen") : "");
    }
    if (chosen && chosen !== this.#brought && stop) bringWithin(this.#list, stop.button);
    this.#brought = chosen;
  }
}

/**
 * Scroll a list, and nothing around it, to one of its buttons if that is out of sight.
 * @param {HTMLElement} list @param {HTMLElement} button
 */
function bringWithin(list, button) {
  const [box, at] = [list.getBoundingClientRect(), button.getBoundingClientRect()];
  if (at.top < box.top || at.bottom > box.bottom) list.scrollTop += at.top - box.top;
}
