// @ts-check
// The few lines of DOM code that everything else would repeat.

const SVG = "http://www.w3.org/2000/svg";

/**
 * Set an attribute; a style as the page's own script may, where a strict
 * Content-Security-Policy forbids it as text.
 * @param {HTMLElement | SVGElement} node @param {string} name @param {string} value
 */
function attribute(node, name, value) {
  if (name === "style") node.style.cssText = value;
  else node.setAttribute(name, value);
}

/**
 * Make an HTML element.
 * @template {keyof HTMLElementTagNameMap} Tag @param {Tag} tag @param {Record<string, string>} [attributes]
 * @param {...(Node | string)} children @returns {HTMLElementTagNameMap[Tag]}
 */
export function element(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) attribute(node, name, value);
  node.append(...children);
  return node;
}

/**
 * Make a button.
 * @param {Record<string, string>} attributes @param {string | Node | (string | Node)[]} content
 * @param {(event: MouseEvent) => void} act when it is clicked
 */
export function makeButton(attributes, content, act) {
  const node = element("button", { type: "button", ...attributes }, ...[content].flat());
  node.addEventListener("click", act);
  return node;
}

/**
 * Make an SVG element.
 * @template {keyof SVGElementTagNameMap} Tag @param {Tag} tag
 * @param {Record<string, string | number>} [attributes]
 * @param {...(Node | string)} children @returns {SVGElementTagNameMap[Tag]}
 */
export function svgElement(tag, attributes = {}, ...children) {
  const node = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) attribute(node, name, String(value));
  node.append(...children);
  return node;
}

/**
 * Set a text only when it changed, so that an unchanged line costs no layout.
 * @param {Element} node
 * @param {string} text
 */
export function setText(node, text) {
  const [only, second] = node.childNodes;
  if (node.textContent === text) return;
  // Its letters change, and no node comes or goes.
  if (only instanceof Text && !second) only.data = text;
  else node.textContent = text;
}

/**
 * Set an attribute only when it changed: to write the same again has its element styled anew.
 * @param {Element} node @param {string} name @param {string} value
 */
export function setAttribute(node, name, value) {
  if (node.getAttribute(name) !== value) node.setAttribute(name, value);
}

/** Hide or show an element, if it is not so already. @param {HTMLElement} node @param {boolean} isHidden */
export function setHidden(node, isHidden) {
  if (node.hidden !== isHidden) node.hidden = isHidden;
}

/**
 * Set a property only when it changed, so that nothing is styled or laid out anew for it.
 * @param {HTMLElement} node @param {string} name @param {string} value
 */
export function setStyle(node, name, value) {
  if (node.style.getPropertyValue(name) !== value) node.style.setProperty(name, value);
}

/**
 * Write a line that is cut where it is too long: it is whole under the pointer.
 * @param {HTMLElement} line @param {string} words
 */
export function setLine(line, words) {
  setText(line, words);
  setAttribute(line, "title", words);
}

/**
 * What has the focus, seen from a node: in a shadow root, the document knows only who holds the root.
 * @param {Node} node
 * @returns {Element | null}
 */
export function focusOf(node) {
  return /** @type {Document | ShadowRoot} */ (node.getRootNode()).activeElement ?? null;
}
