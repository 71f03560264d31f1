// @ts-check
// The line below the board that says what a cell is, and what was just done; a screen reader hears it where
// the keyboard is.
import { element, setLine, setText } from "../base/dom.js";
import { samePlace } from "../base/cell_place.js";

/**
 * @import { Place } from "../base/cell_place.js"
 */

/** @param {import("../numbers/model.js").Model} model */
export function createReadout(model) {
  const el = element("p", { class: "cv-readout" });
  const live = element("p", { class: "cv-live", role: "status", "aria-live": "polite" });
  let saying = () => ""; // what the line says, whenever it is asked
  /** @type {Place | null} */
  let of = null; // the cell that it is said of
  let pointed = false; // whether that cell is still pointed at
  // whether it is still to be spoken: the focus moved to a cell whose number was not there yet
  let owed = false;

  /**
   * What is said of a cell goes with the pointer, and what the sum says of the chosen one is not said twice.
   */
  function refresh() {
    const twice = Boolean(of) && samePlace(of, model.get("selected"));
    el.classList.toggle("cv-twice", twice);
    if (!of || pointed || twice) return;
    [saying, of] = [() => "", null];
    setLine(el, "");
  }

  /**
   * Show what a cell is, and what it is by then when its numbers change; speak it when the keyboard is there.
   * @param {() => string} words @param {boolean} aloud @param {Place | null} [cell] that they are said of
   */
  function read(words, aloud, cell = null) {
    [saying, of, pointed] = [words, cell, Boolean(cell)];
    setLine(el, words());
    if (aloud) setText(live, words());
    owed = aloud && !words();
    refresh();
  }

  return {
    el,
    live,
    refresh,
    read,
    /** The cell that was read is no longer pointed at. */
    unread() {
      pointed = false;
      refresh();
    },
    /**
     * Speak a sentence about what was just done and show it, until something else is done.
     * @param {string} text
     */
    say(text) {
      const settings = () => JSON.stringify(model.get("state"));
      const now = settings();
      read(() => (settings() === now ? text : ""), true);
    },
    /** Say it again: the numbers are others. */
    retell() {
      setLine(el, saying());
      if (owed) setText(live, saying());
      owed = false;
    },
  };
}
