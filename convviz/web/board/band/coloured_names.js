// Tensor names in formulas and sentences, in their panels' hues.
import PICTURE from "../../../facts/data/picture.json" with { type: "json" };
import { element } from "../../base/dom.js";
import { mathElement, piecesOf } from "../../base/mathml.js";
import { quantityOf } from "../../picture/colour_scales.js";

const NAMES = Object.values(PICTURE.quantities).flat();
const [long, short] = [true, false].map((is) => NAMES.filter((name) => name.includes("_") === is).join("|"));
// Short names are also words: tensors only before an index, or first.
const NAME = new RegExp(`(\\b(?:${long})\\b|\\b(?:${short})(?=\\[)|^(?:${short})\\b)`);

/** @param {string} text @returns {(HTMLElement | string)[]} */
export const coloured = (text) =>
  text
    .split(NAME)
    .map((part, index) => (index % 2 ? element("span", { "data-quantity": quantityOf(part) }, part) : part));

/**
 * Writes a text with coloured names, unless the node already shows it.
 * @param {HTMLElement} node @param {string} text
 */
export function setColoured(node, text) {
  if (node.textContent === text) return;
  const [parts, there] = [coloured(text), [...node.childNodes]];
  /** @param {HTMLElement | string} part @param {number} at */
  const stands = (part, at) =>
    typeof part === "string"
      ? there[at] instanceof Text
      : there[at] instanceof Element && there[at].textContent === part.textContent;
  // Only letters change while a number moves.
  if (parts.length !== there.length || !parts.every(stands)) return node.replaceChildren(...parts);
  parts.forEach((part, at) => {
    if (typeof part === "string") /** @type {Text} */ (there[at]).data = part;
  });
}

/** @param {string} name @returns {Record<string, string>} */
const hueOf = (name) => (quantityOf(name) ? { "data-quantity": quantityOf(name) } : {});

/** Typeset; read out as code. */
export const createFormula = () => element("span.cv-formula", { role: "math" });

/** Typesets a formula, unless the node already shows it. @param {HTMLElement} node @param {string} text */
export function setFormula(node, text) {
  if (node.getAttribute("aria-label") === text) return;
  node.setAttribute("aria-label", text);
  const pieces = piecesOf(text).map((row) => mathElement(row, hueOf));
  node.replaceChildren(...pieces.flatMap((piece, index) => (index ? [" ", piece] : [piece])));
}
