// A number to predict: typed, checked, explained.
import { element, makeButton, setText } from "../base/dom.js";
import { say } from "./sentences.js";

/**
 * @import { SeenQuestion } from "./answer_feedback.js"
 * @param {Player} player
 */
export class QuestionForm {
  #words = element("span");
  #input = element("input", {
    type: "text",
    inputmode: "decimal",
    autocomplete: "off",
    "aria-label": say("question.label"),
    placeholder: say("question.label"),
  });
  #check = element("button", { type: "submit" }, say("question.check"));
  #show = makeButton({}, say("question.show"), () => this.#player.show());
  #feedback = element("p.cv-lesson-feedback");
  #row = element("div.cv-lesson-answer", this.#input, this.#check, this.#show);
  #reasons;
  el;
  #player;

  constructor(player) {
    this.#player = player;
    this.#reasons = createReasonsList(player);
    this.el = element(
      "form.cv-lesson-question",
      { hidden: "" },
      element("p", this.#words),
      this.#row,
      this.#feedback,
      this.#reasons.el,
    );
    this.el.addEventListener("submit", (event) => {
      event.preventDefault();
      player.check(this.#input.value);
    });
    this.#input.addEventListener("focus", () => this.#input.select());
  }

  /** @param {SeenQuestion | null} question */
  show(question) {
    if (this.el.hidden !== !question) this.#input.value = "";
    this.el.hidden = !question;
    if (!question) return;
    setText(this.#words, question.words);
    const news = this.#feedback.textContent !== question.feedback;
    setText(this.#feedback, question.feedback);
    this.#reasons.show(question.reasons);
    if (news && question.feedback) bringWithin(this.#row, this.el);
    this.el.dataset.state = question.state;
    const open = question.state === "asked" || question.state === "wrong";
    this.#input.readOnly = !open;
    for (const button of [this.#check, this.#show]) button.hidden = !open;
  }
}

/** @param {Player} player */
function createReasonsList(player) {
  const el = element("ul.cv-lesson-reasons", { hidden: "" });
  let shown = "[]";
  return {
    el,
    /** @param {SeenQuestion["reasons"]} reasons */
    show(reasons) {
      const key = JSON.stringify(reasons);
      if (key === shown) return; // buttons keep the focus
      shown = key;
      el.hidden = !reasons.length;
      el.replaceChildren(
        ...reasons.map(({ words, mistake, show, label }) => {
          const item = element("li", words);
          if (!mistake) return item;
          const button = makeButton({ "aria-label": label }, show, () => player.showMistake(mistake));
          item.append(" ", button);
          return item;
        }),
      );
    },
  };
}

/**
 * Only the card's text, until the answer is in sight below what was typed.
 * @param {HTMLElement} from @param {HTMLElement} to
 */
function bringWithin(from, to) {
  const text = from.closest(".cv-lesson-text");
  if (!text) return;
  const box = text.getBoundingClientRect();
  const hidden = to.getBoundingClientRect().bottom - box.bottom;
  if (hidden > 0) text.scrollTop += Math.min(hidden, from.getBoundingClientRect().top - box.top);
}
