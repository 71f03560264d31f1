// Lists behind a word: Esc closes them, a menu also when the focus goes elsewhere.
import { element } from "./dom.js";
import { closeWithEscape } from "./keys.js";

/** @param {string} kind classes @param {HTMLElement} summary @param {...HTMLElement} children */
export function createPopover(kind, summary, ...children) {
  const el = element(`details.${kind}`, summary, ...children);
  closeWithEscape(() => (el.open ? summary : null), el);
  return el;
}

/**
 * @param {string} kind @param {HTMLElement} summary @param {HTMLElement[]} items @param {"ul" | "ol"} [list]
 */
export function createMenu(kind, summary, items, list = "ul") {
  const el = createPopover(kind, summary, element(list, ...items));
  el.addEventListener("focusout", ({ relatedTarget }) => {
    if (relatedTarget && !el.contains(/** @type {Node} */ (relatedTarget))) el.open = false;
  });
  return el;
}
