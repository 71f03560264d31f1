// DOM helpers.

const SVG = "http://www.w3.org/2000/svg";

/**
 * A style through the CSSOM, which a strict Content-Security-Policy allows.
 * @template {HTMLElement | SVGElement} Made @param {Made} node @param {string[]} classes
 * @param {Record<string, string | number> | Node | string} first attributes, which may be left out
 * @param {(Node | string)[]} children
 */
function filled(node, classes, first, children) {
  if (classes.length) node.setAttribute("class", classes.join(" "));
  if (first instanceof Node || typeof first === "string") children.unshift(first);
  else
    for (const [name, value] of Object.entries(first))
      if (name === "style") node.style.cssText = String(value);
      else node.setAttribute(name, String(value));
  node.append(...children);
  return node;
}

/**
 * "p.cv-muted" is a p of that class.
 * @template {keyof HTMLElementTagNameMap} Tag @param {Tag | `${Tag}.${string}`} name
 * @param {Record<string, string> | Node | string} [first] @param {...(Node | string)} children
 */
export function element(name, first = {}, ...children) {
  const [tag, ...classes] = name.split(".");
  return filled(document.createElement(/** @type {Tag} */ (tag)), classes, first, children);
}

/**
 * @template {keyof SVGElementTagNameMap} Tag @param {Tag | `${Tag}.${string}`} name
 * @param {Record<string, string | number> | Node | string} [first] @param {...(Node | string)} children
 */
export function svgElement(name, first = {}, ...children) {
  const [tag, ...classes] = name.split(".");
  return filled(document.createElementNS(SVG, /** @type {Tag} */ (tag)), classes, first, children);
}

/**
 * @param {string | Record<string, string>} look its class, or attributes
 * @param {string | Node | (string | Node)[]} content @param {(event: MouseEvent) => void} act
 */
export function makeButton(look, content, act) {
  const attributes = typeof look === "string" ? { class: look } : look;
  const node = element("button", { type: "button", ...attributes }, ...[content].flat());
  node.addEventListener("click", act);
  return node;
}

/** An id that is new in the page. */
export const makeId = () => Math.random().toString(36).slice(2, 8);

/**
 * @param {EventTarget} target @param {string | readonly string[]} names
 * @param {(event: any) => void} listener @param {AddEventListenerOptions} [options]
 * @returns {() => void} ends it
 */
export function listen(target, names, listener, options) {
  const end = new AbortController();
  for (const name of [names].flat())
    target.addEventListener(name, listener, { ...options, signal: end.signal });
  return () => end.abort();
}

/** An unchanged text costs no layout. @param {Element} node @param {string} text */
export function setText(node, text) {
  const [only, second] = node.childNodes;
  if (node.textContent === text) return;
  if (only instanceof Text && !second) only.data = text;
  else node.textContent = text;
}

/**
 * Writing an attribute restyles the element, also unchanged.
 * @param {Element} node @param {string} name @param {string} value
 */
export function setAttribute(node, name, value) {
  if (node.getAttribute(name) !== value) node.setAttribute(name, value);
}

/** @param {HTMLElement} node @param {boolean} isHidden */
export function setHidden(node, isHidden) {
  if (node.hidden !== isHidden) node.hidden = isHidden;
}

/** @param {HTMLElement | SVGElement} node @param {string} name @param {string} value */
export function setStyle(node, name, value) {
  if (node.style.getPropertyValue(name) !== value) node.style.setProperty(name, value);
}

/** A line that is cut has its title whole. @param {HTMLElement} line @param {string} words */
export function setLine(line, words) {
  setText(line, words);
  setAttribute(line, "title", words);
}

/** In a shadow root, of which the document knows the host, too. @param {Node} node */
export function focusOf(node) {
  return /** @type {Document | ShadowRoot} */ (node.getRootNode()).activeElement ?? null;
}
