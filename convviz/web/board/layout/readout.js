// The line that says what a cell is and what was done; spoken where the keyboard is.
import { element, setLine, setText } from "../../base/dom.js";
import { samePlace } from "../../base/cell_place.js";

export class Readout {
  el = element("p.cv-readout");
  live = element("p.cv-live", { role: "status", "aria-live": "polite" });
  #saying = () => ""; // evaluated each time the line is written
  /** @type {Place | null} */
  #of = null; // the cell that the line describes
  #pointed = false; // whether the pointer is still on that cell
  // Whether words are still to be spoken because their number was missing.
  #owed = false;
  #model;

  /** @param {Model} model */
  constructor(model) {
    this.#model = model;
  }

  /** A cell's text leaves with the pointer; the sum's cell is not said twice. */
  refresh() {
    const twice = Boolean(this.#of) && samePlace(this.#of, this.#model.get("selected"));
    this.el.classList.toggle("cv-twice", twice);
    if (!this.#of || this.#pointed || twice) return;
    [this.#saying, this.#of] = [() => "", null];
    setLine(this.el, "");
  }

  /**
   * Shows words, which are evaluated again as numbers change, and speaks them if `aloud`.
   * @param {() => string} words @param {boolean} aloud @param {Place | null} [cell]
   */
  read = (words, aloud, cell = null) => {
    [this.#saying, this.#of, this.#pointed] = [words, cell, Boolean(cell)];
    setLine(this.el, words());
    if (aloud) setText(this.live, words());
    this.#owed = aloud && !words();
    this.refresh();
  };

  unread = () => {
    this.#pointed = false;
    this.refresh();
  };

  /** Shows and speaks a text until the settings change. @param {string} text */
  say = (text) => {
    const settings = () => JSON.stringify(this.#model.get("state"));
    const now = settings();
    this.read(() => (settings() === now ? text : ""), true);
  };

  /** Says the sentence again, with new numbers. */
  sayAgain() {
    setLine(this.el, this.#saying());
    if (this.#owed) setText(this.live, this.#saying());
    this.#owed = false;
  }
}
