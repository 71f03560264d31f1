// @ts-check
// A list that hangs below its button, over what is there: it closes with Esc, or when one
// turns to something else.
import { element } from "../base/dom.js";

/**
 * @param {string} className @param {string} words of the button @param {...HTMLElement} children
 * @returns {HTMLDetailsElement}
 */
export function createPopover(className, words, ...children) {
  const summary = element("summary", {}, words);
  const body = element("div", { class: "cv-popover" }, ...children);
  const el = element("details", { class: `cv-hanging ${className}` }, summary, body);
  el.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !el.open || event.defaultPrevented) return;
    el.open = false;
    summary.focus();
    event.preventDefault();
    event.stopPropagation();
  });
  return el;
}
