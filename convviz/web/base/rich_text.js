// @ts-check
// Sentences with names in them: what stands between backticks becomes code, and between
// double asterisks strong.
import { element } from "./dom.js";

/** Write a sentence, if it is another one. @param {HTMLElement} node @param {string} text */
export function setRich(node, text) {
  if (node.dataset.text === text) return;
  node.dataset.text = text;
  const parts = text.split(/\x60([^\x60]+)\x60|\*\*([^*]+)\*\*/); // plain, code, strong, plain …
  node.replaceChildren(
    ...parts.map((part, index) =>
      part && index % 3 ? element(index % 3 === 1 ? "code" : "b", {}, part) : (part ?? ""),
    ),
  );
}

/** The sentence as it is spoken. @param {string} text */
export function plainText(text) {
  return text.replaceAll("`", "");
}
