// @ts-check
// The line below the board that says what a cell is, and what was just done; a screen reader hears it where
// the keyboard is.
import { element, setLine, setText } from "../base/dom.js";
import { samePlace } from "../base/cell_place.js";

/**
 * @import { Place } from "../base/cell_place.js"
 */

export class Readout {
  el = element("p", { class: "cv-readout" });
  live = element("p", { class: "cv-live", role: "status", "aria-live": "polite" });
  #saying = () => ""; // what the line says, whenever it is asked
  /** @type {Place | null} */
  #of = null; // the cell that it is said of
  #pointed = false; // whether that cell is still pointed at
  // whether it is still to be spoken: the focus moved to a cell whose number was not there yet
  #owed = false;
  #model;

  /** @param {import("../numbers/model.js").Model} model */
  constructor(model) {
    this.#model = model;
  }

  /**
   * What is said of a cell goes with the pointer, and what the sum says of the chosen one is not said twice.
   */
  refresh() {
    const twice = Boolean(this.#of) && samePlace(this.#of, this.#model.get("selected"));
    this.el.classList.toggle("cv-twice", twice);
    if (!this.#of || this.#pointed || twice) return;
    [this.#saying, this.#of] = [() => "", null];
    setLine(this.el, "");
  }

  /**
   * Show what a cell is, and what it is by then when its numbers change; speak it when the keyboard is there.
   * @param {() => string} words @param {boolean} aloud @param {Place | null} [cell] that they are said of
   */
  read = (words, aloud, cell = null) => {
    [this.#saying, this.#of, this.#pointed] = [words, cell, Boolean(cell)];
    setLine(this.el, words());
    if (aloud) setText(this.live, words());
    this.#owed = aloud && !words();
    this.refresh();
  };

  /** The cell that was read is no longer pointed at. */
  unread = () => {
    this.#pointed = false;
    this.refresh();
  };

  /**
   * Speak a sentence about what was just done and show it, until something else is done.
   * @param {string} text
   */
  say = (text) => {
    const settings = () => JSON.stringify(this.#model.get("state"));
    const now = settings();
    this.read(() => (settings() === now ? text : ""), true);
  };

  /** Say it again: the numbers are others. */
  retell() {
    setLine(this.el, this.#saying());
    if (this.#owed) setText(this.live, this.#saying());
    this.#owed = false;
  }
}
