// @ts-check
// The names of tensors in formulas and sentences, in the hues of their panels: a variable and its gradient
// have one.
import PICTURE from "../../facts/picture.json" with { type: "json" };
import { element } from "../base/dom.js";
import { mathElement, piecesOf } from "../base/mathml.js";
import { quantityOf } from "../picture/scales.js";

const NAMES = Object.values(PICTURE.quantities).flat();
const [long, short] = [true, false].map((is) => NAMES.filter((name) => name.includes("_") === is).join("|"));
// A name of one word is also a word of a sentence: it is a tensor's before an index, and where a text begins
// with it.
const NAME = new RegExp(`(\\b(?:${long})\\b|\\b(?:${short})(?=\\[)|^(?:${short})\\b)`);

/** A text with its tensors' names in colour. @param {string} text @returns {(HTMLElement | string)[]} */
export const tinted = (text) =>
  text
    .split(NAME)
    .map((part, index) => (index % 2 ? element("span", { "data-quantity": quantityOf(part) }, part) : part));

/** Write such a text, if it is another one. @param {HTMLElement} node @param {string} text */
export function setTinted(node, text) {
  if (node.textContent === text) return;
  const [parts, there] = [tinted(text), [...node.childNodes]];
  /** @param {HTMLElement | string} part @param {number} at */
  const stands = (part, at) =>
    typeof part === "string"
      ? there[at] instanceof Text
      : there[at] instanceof Element && there[at].textContent === part.textContent;
  // While a number of it moves its letters change, and no node comes or goes.
  if (parts.length !== there.length || !parts.every(stands)) return node.replaceChildren(...parts);
  parts.forEach((part, at) => {
    if (typeof part === "string") /** @type {Text} */ (there[at]).data = part;
  });
}

/** @param {string} name @returns {Record<string, string>} */
function hueOf(name) {
  const quantity = quantityOf(name);
  return quantity ? { "data-quantity": quantity } : {};
}

/** The place of a formula: it is typeset, and read as it is written in code. */
export const createFormula = () => element("span", { class: "cv-formula", role: "math" });

/** Write such a formula, if it is another one. @param {HTMLElement} node @param {string} text */
export function setFormula(node, text) {
  if (node.getAttribute("aria-label") === text) return;
  node.setAttribute("aria-label", text);
  const pieces = piecesOf(text).map((row) => mathElement(row, hueOf));
  node.replaceChildren(...pieces.flatMap((piece, index) => (index ? [" ", piece] : [piece])));
}
