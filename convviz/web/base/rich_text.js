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

/** @template {keyof HTMLElementTagNameMap} Tag @param {Tag | `${Tag}.${string}`} name @param {string} text */
export function rich(name, text) {
  const node = element(name);
  setRich(node, text);
  return node;
}

/** @param {string} text */
export function plainText(text) {
  return text.replaceAll("`", "");
}
