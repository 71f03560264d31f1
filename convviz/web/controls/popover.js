// A list below its button; Esc closes it.
import { element } from "../base/dom.js";
import { closeWithEscape } from "../base/keys.js";

/** @param {string} className @param {string} words @param {...HTMLElement} children */
export function createPopover(className, words, ...children) {
  const summary = element("summary", words);
  const body = element("div.cv-popover", ...children);
  const el = element(`details.cv-hanging.${className}`, summary, body);
  closeWithEscape(() => (el.open ? summary : null), el);
  return el;
}
