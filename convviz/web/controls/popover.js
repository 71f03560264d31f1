// A list below its button; Esc closes it.
import { element } from "../base/dom.js";

/** @param {string} className @param {string} words @param {...HTMLElement} children */
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
