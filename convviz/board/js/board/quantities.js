// @ts-check
// The names of tensors in formulas and sentences, in the colours of their panels: value, weight, gradient.
import PICTURE from "../../../facts/picture.json" with { type: "json" };
import { element } from "../base/dom.js";
import { quantityOf } from "../picture/scales.js";

const NAMES = Object.values(PICTURE.quantities).flat();
const [long, short] = [true, false].map((is) => NAMES.filter((name) => name.includes("_") === is).join("|"));
// A name of one word is also a word of a sentence: it is a tensor's before an index, and where a text begins with it.
const NAME = new RegExp(`(\\b(?:${long})\\b|\\b(?:${short})(?=\\[)|^(?:${short})\\b)`);

/** A text with its tensors' names in colour. @param {string} text @returns {(HTMLElement | string)[]} */
export const tinted = (text) =>
  text
    .split(NAME)
    .map((part, index) => (index % 2 ? element("span", { "data-quantity": quantityOf(part) }, part) : part));

/** Write such a text, if it is another one. @param {HTMLElement} node @param {string} text */
export function setTinted(node, text) {
  if (node.textContent !== text) node.replaceChildren(...tinted(text));
}
