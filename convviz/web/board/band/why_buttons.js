// "why?" beside what raises the question: a sentence with "Because", and a lesson if there is one.
import { askQuestion } from "../../base/question_events.js";
import { element, makeButton, setText } from "../../base/dom.js";
import { closeWithEscape } from "../../base/keys.js";
import { rove } from "../../base/roving_tabindex.js";
import { sayWhy } from "../../picture/why_button_sentences.js";
import { becauseWords, topicsOf } from "../../picture/why_topics.js";

/** @import { Shown, Topic } from "../../picture/why_topics.js" */

export class WhyButtons {
  el = element("div.cv-whys", { role: "group", "aria-label": sayWhy("why") });
  #words = element("span");
  #show = makeButton("cv-why-show", sayWhy("show"), () => this.#open && askQuestion(this.el, this.#open));
  answer = element("p.cv-because", { role: "status", hidden: "" }, this.#words, " ", this.#show);
  /** @type {(answered: boolean) => void} */
  #onAnswer = () => {};
  /** @type {Topic[]} */
  #topics = [];
  /** @type {Topic | null} */
  #open = null;
  /** @type {Geometry | null} */
  #geometry = null;
  #band;
  #taught;
  #renew;

  /** @param {string} band @param {string[]} taught topics that a lesson shows */
  constructor(band, taught) {
    [this.#band, this.#taught] = [band, taught];
    this.#renew = rove(this.el, this.#buttons);
    closeWithEscape(
      () => /** @type {HTMLElement | null} */ (this.el.querySelector("[aria-expanded=true]")),
      this.el,
      this.answer,
    );
  }

  #buttons = () => [...this.el.querySelectorAll("button")];

  /** @param {Topic | null} topic */
  #turnTo(topic) {
    this.#open = topic;
    this.answer.hidden = !topic;
    this.#onAnswer(Boolean(topic));
    if (topic && this.#geometry) setText(this.#words, becauseWords(topic, this.#geometry));
    this.#show.hidden = !topic || !this.#taught.includes(topic);
    for (const button of this.#buttons())
      button.setAttribute("aria-expanded", String(button.dataset.why === topic));
  }

  /** @param {Topic} topic */
  #button(topic) {
    const attributes = { class: "cv-why", "data-why": topic, "aria-expanded": "false" };
    return makeButton(attributes, sayWhy(`why.${topic}`), () =>
      this.#turnTo(this.#open === topic ? null : topic),
    );
  }

  /** @param {(answered: boolean) => void} listener */
  onAnswer = (listener) => void (this.#onAnswer = listener);

  /** @param {Shown[]} panels @param {Geometry} next */
  set(panels, next) {
    this.#geometry = next;
    const found = topicsOf(this.#band, panels, next);
    this.el.hidden = !found.length;
    if (found.join() !== this.#topics.join()) {
      const [first, ...others] = found.map((topic) => this.#button(topic));
      const word = element("span", { "aria-hidden": "true" }, sayWhy("why"));
      // The word goes with the first button.
      this.el.replaceChildren(element("span.cv-whys-first", word, first ?? ""), ...others);
      this.#renew();
    }
    this.#topics = found;
    this.#turnTo(this.#open && found.includes(this.#open) ? this.#open : null);
  }
}
