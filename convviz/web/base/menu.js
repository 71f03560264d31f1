// A quiet list behind a word: it closes with Esc, or when the focus goes elsewhere.
import { element } from "./dom.js";
import { closeWithEscape } from "./keys.js";

/**
 * @param {string} kind class @param {HTMLElement} summary @param {HTMLElement[]} items
 * @param {"ul" | "ol"} [list]
 */
export function createMenu(kind, summary, items, list = "ul") {
  const el = element("details", { class: kind }, summary, element(list, {}, ...items));
  closeWithEscape(() => (el.open ? summary : null), el);
  el.addEventListener("focusout", ({ relatedTarget }) => {
    if (relatedTarget && !el.contains(/** @type {Node} */ (relatedTarget))) el.open = false;
  });
  return el;
}
