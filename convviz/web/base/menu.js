// A quiet list behind a word: it closes with Esc, or when the focus goes elsewhere.
import { element } from "./dom.js";

/**
 * @param {string} kind its class @param {HTMLElement} summary @param {HTMLElement[]} items
 * @param {"ul" | "ol"} [list]
 */
export function createMenu(kind, summary, items, list = "ul") {
  const el = element("details", { class: kind }, summary, element(list, {}, ...items));
  el.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !el.open) return;
    el.open = false;
    summary.focus();
    event.preventDefault();
    event.stopPropagation();
  });
  el.addEventListener("focusout", ({ relatedTarget }) => {
    if (relatedTarget && !el.contains(/** @type {Node} */ (relatedTarget))) el.open = false;
  });
  return el;
}
