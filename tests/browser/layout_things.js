// What speaks or can be pressed on a screen: lines of text, controls, grids. What waits behind a menu is not there.
import { isEmpty, placeOf, styleOf } from "./layout_place.js";

/**
 * @typedef {import("./layout_place.js").Box} Box
 * @typedef {import("./layout_place.js").Place} Place
 * @typedef {{ kind: "text" | "control" | "grid", node: Element, own: Box, place: Place, words: string }} Thing
 */

const CONTROLS = "button, summary, select, input, textarea, a[href], [role=slider]";
const pen = /** @type {CanvasRenderingContext2D} */ (document.createElement("canvas").getContext("2d"));
const INK = 0.36; // of the letters' size, above and below their middle

/** @param {Element} node */
export const isShown = (node) => node.checkVisibility({ opacityProperty: true, visibilityProperty: true });

/** As a reader of a report finds it. @param {Element} node */
export function nameOf(node) {
  const panel = node.closest("[data-panel]");
  const band = node.closest("[data-equation]");
  const where = [band?.getAttribute("data-equation"), panel?.getAttribute("data-panel")].filter(Boolean);
  if (node.matches("svg.cv-grid")) return [...where, "grid"].join(" ");
  const own = [node.localName, ...node.classList].join(".");
  const label = node.matches("select, input") ? node.getAttribute("aria-label") : node.textContent?.trim();
  const words = (label || node.getAttribute("aria-label") || "").replace(/\s+/g, " ");
  return `${[...where, own].join(" ")}${words ? ` “${words.slice(0, 40)}”` : ""}`;
}

/** Of what lies around or over others. @param {Element | null} node */
export const shortName = (node) =>
  !node || node === document.scrollingElement ? "the window" : nameOf(node).replace(/ “.*/, "");

/** Said to a screen reader alone. @param {Element} node */
const isSpokenOnly = (node) =>
  Boolean(node.closest(".cv-live")) || styleOf(node).clipPath !== "none" || Boolean(node.closest(".cv-help"));

/** @param {Element} root @returns {Thing[]} */
export function thingsIn(root) {
  return [...textsIn(root), ...controlsIn(root), ...gridsIn(root)];
}

/** @param {Element} root @returns {Thing[]} */
function textsIn(root) {
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT, {
    acceptNode: (node) =>
      node instanceof Element && node.matches("svg, script, style, option, .cv-live, .cv-help")
        ? NodeFilter.FILTER_REJECT
        : NodeFilter.FILTER_ACCEPT,
  });
  const found = [];
  const range = document.createRange();
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const parent = node.parentElement;
    if (node.nodeType !== Node.TEXT_NODE || !parent || !/[^\s\u200b]/.test(node.nodeValue ?? "")) continue;
    if (!isShown(parent) || isSpokenOnly(parent)) continue;
    range.selectNodeContents(node);
    for (const line of range.getClientRects()) {
      if (line.width < 0.5) continue;
      const own = inkOf(line, parent);
      const words = (node.nodeValue ?? "").trim();
      found.push({ kind: "text", node: parent, own, place: placeOf(parent, own, true), words });
    }
  }
  return /** @type {Thing[]} */ (found);
}

/** Of a line of text: its letters, without the leading. @param {DOMRect} line @param {Element} node */
function inkOf({ left, right, top, bottom }, node) {
  const middle = (top + bottom) / 2;
  const half = parseFloat(styleOf(node).fontSize) * INK;
  return { left, right, top: middle - half, bottom: middle + half };
}

/** @param {Element} root @returns {Thing[]} */
function controlsIn(root) {
  return [...root.querySelectorAll(CONTROLS)]
    .filter((node) => !node.closest("svg") && isShown(node) && !isSpokenOnly(node))
    .map((node) => thingOf("control", node, node));
}

/** @param {Element} root @returns {Thing[]} */
function gridsIn(root) {
  return [...root.querySelectorAll(".cv-panel svg.cv-grid")]
    .filter(isShown)
    .map((svg) => thingOf("grid", svg, /** @type {Element} */ (svg.parentElement)));
}

/** @param {Thing["kind"]} kind @param {Element} node @param {Element} area @returns {Thing} */
function thingOf(kind, node, area) {
  const { left, top, right, bottom } = area.getBoundingClientRect();
  const own = { left, top, right, bottom };
  return { kind, node, own, place: placeOf(area, own), words: "" };
}

/** @param {Thing} thing */
export const isSeen = ({ place }) => !isEmpty(place.seen);

/** The words that a menu shows, and that a field holds, have less room than they need. @param {Element} node */
export function isTooNarrow(node) {
  if (node instanceof HTMLInputElement && node.type === "text")
    return node.scrollWidth > node.clientWidth + 1;
  if (!(node instanceof HTMLSelectElement) || !node.selectedOptions.length) return false;
  const style = styleOf(node);
  pen.font = style.font;
  const { width } = pen.measureText(node.selectedOptions[0].text);
  const edges = parseFloat(style.paddingLeft) + parseFloat(style.paddingRight);
  const arrow = style.appearance === "none" ? 0 : 14;
  return width > node.clientWidth - edges - arrow + 1;
}
