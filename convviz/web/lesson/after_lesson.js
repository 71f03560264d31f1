// What stands there when a lesson was left: the way back; at its end, what was found and what to try next.
import { element, makeButton, setText } from "../base/dom.js";
import { say } from "./sentences.js";

/** @param {string} id @param {() => void} onClick @param {string} [name] a sign */
export function createButton(id, onClick, name) {
  const words = say(/** @type {"back"} */ (id));
  return makeButton(
    { class: `cv-lesson-${id}`, ...(name ? { "aria-label": words, title: words } : {}) },
    name ?? words,
    onClick,
  );
}

/**
 * @import { Gone } from "./player.js"
 * @param {Player} player @param {() => void} onStart turns to the next lesson
 */
export class AfterLesson {
  #following = "";
  #heading = element("h3", { tabindex: "-1" });
  #found = element("ul");
  #next = element("div.cv-lesson-offers");
  #exercise = element("p.cv-lesson-exercise");
  #words = element("p");
  #after = makeButton(
    "cv-lesson-after",
    [],
    () =>
      this.#player.play(this.#following)?.then(() => this.el.hidden && this.#onStart()) ?? this.#onStart(),
  );
  #back = createButton("return", () => this.#player.afterwards(true));
  el;
  #player;
  #onStart;

  constructor(player, onStart) {
    [this.#player, this.#onStart] = [player, onStart];
    const stay = createButton("stay", () => this.#player.afterwards(false));
    this.el = element(
      "section.cv-lesson.cv-lesson-gone",
      { hidden: "" },
      this.#heading,
      element("div.cv-lesson-found", this.#found, this.#exercise, this.#next, this.#words),
      element("footer", this.#after, this.#back, stay),
    );
  }

  /** @param {Gone | null} gone */
  show(gone) {
    this.el.hidden = !gone;
    if (!gone) return;
    const ended = gone.words.length > 0;
    for (const part of [this.#heading, this.#found, this.#next]) part.hidden = !ended;
    this.#following = gone.after;
    this.#after.hidden = !this.#following;
    if (this.#following)
      setText(this.#after, say("after", { title: this.#player.shelf.title(this.#following) }));
    this.#exercise.hidden = !gone.exercise;
    this.#exercise.replaceChildren(
      say("exercise"),
      element("code", `import convviz\nconvviz.check(yours, "${gone.exercise}")`),
      say("exercise.says"),
    );
    setText(this.#heading, say("ended"));
    setText(this.#words, say(ended ? "stays" : "left"));
    this.el.setAttribute("aria-label", say(ended ? "ended" : "left"));
    this.#found.replaceChildren(...gone.words.map((each) => element("li", each)));
    this.#next.hidden = !gone.next.length;
    this.#next.replaceChildren(
      element("span", say("offers")),
      ...gone.next.map((offer, index) => makeButton({}, offer, () => this.#player.tryNext(index))),
    );
  }

  focus = () => (this.#heading.hidden ? this.#back : this.#heading).focus();
}
