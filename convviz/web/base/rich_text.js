// `code` and **strong** in sentences.
import { element } from "./dom.js";

/** @param {HTMLElement} node @param {string} text */
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

/**
 * An element with such a sentence.
 * @template {keyof HTMLElementTagNameMap} Tag @param {Tag} tag @param {string} text
 * @param {Record<string, string>} [attributes]
 */
export function rich(tag, text, attributes) {
  const node = element(tag, attributes);
  setRich(node, text);
  return node;
}

/** @param {string} text */
export function plainText(text) {
  return text.replaceAll("`", "");
}
