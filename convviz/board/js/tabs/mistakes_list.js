// @ts-check
// The list of the tab Mistakes: one toggle a mistake, those of one gradient at a time.
import WORDS from "../../../facts/words/mistakes.json" with { type: "json" };
import { element, makeButton, setText } from "../base/dom.js";
import { sentences } from "../base/words.js";

const say = sentences(WORDS);
const STEPS = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };

/**
 * @import { Gradient } from "../rules/recipes.js"
 * @typedef {{ id: string, of: Gradient, title: string, fix: string, setting: string, met: string[], ways: Record<string, string>[] }} Mistake
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
   * @param {Mistake[]} mistakes @param {(of: Gradient) => void} choose a gradient @param {(mistake: Mistake) => void} toggle
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
    walked(
      chooser,
      () => this.#tabs,
      (next) => choose(/** @type {Gradient} */ (next.dataset.gradient)),
    );
    walked(
      this.#list,
      () => this.#buttons.map(({ button }) => button).filter((button) => !button.hidden),
      (next) => {
        for (const { button } of this.#buttons) button.tabIndex = button === next ? 0 : -1;
      },
    );
    this.#list.append(...this.#buttons.map(({ button }) => button));
    this.el = element("div", { class: "cv-mistakes-list" }, chooser, this.#list);
  }

  /** @param {Gradient} of @param {string} chosen id of a mistake, or nothing @param {(mistake: Mistake) => boolean} isUnseen */
  set(of, chosen, isUnseen) {
    this.#tabs.forEach((button) => {
      const on = button.dataset.gradient === of;
      button.setAttribute("aria-checked", String(on));
      button.tabIndex = on ? 0 : -1;
    });
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

/** Scroll a list, and nothing around it, to one of its buttons if that is out of sight. @param {HTMLElement} list @param {HTMLElement} button */
function bringWithin(list, button) {
  const [box, at] = [list.getBoundingClientRect(), button.getBoundingClientRect()];
  if (at.top < box.top || at.bottom > box.bottom) list.scrollTop += at.top - box.top;
}

/**
 * Let arrow keys walk from button to button.
 * @param {HTMLElement} el @param {() => HTMLElement[]} buttons @param {(next: HTMLElement) => void} reached
 */
function walked(el, buttons, reached) {
  el.addEventListener("keydown", (event) => {
    const [all, at] = [buttons(), buttons().indexOf(/** @type {HTMLElement} */ (event.target))];
    const ends = { Home: 0, End: all.length - 1 };
    const to = event.key in STEPS ? (at + STEPS[event.key] + all.length) % all.length : ends[event.key];
    if (to === undefined || at < 0) return;
    reached(all[to]);
    all[to].focus();
    event.preventDefault();
    event.stopPropagation(); // a notebook would take the arrow keys for its own cells
  });
}
