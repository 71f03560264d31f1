// @ts-check
// Sentences with names in them: what stands between backticks becomes code.
import { element } from "./dom.js";

/** Write a sentence, if it is another one. @param {HTMLElement} node @param {string} text */
export function setRich(node, text) {
  if (node.dataset.text === text) return;
  node.dataset.text = text;
  node.replaceChildren(...text.split("`").map((part, index) => (index % 2 ? element("code", {}, part) : part)));
}

/** The sentence as it is spoken. @param {string} text */
export function plainText(text) {
  return text.replaceAll("`", "");
}
