// Where a part of the page is seen: what its ancestors clip of it, and whether a visitor can scroll to it.

/**
 * @typedef {{ left: number, top: number, right: number, bottom: number }} Box
 * @typedef {{ node: Element, box: Box, x: "cut" | "scroll" | "", y: "cut" | "scroll" | "", bare: boolean }} Clip
 *   bare: it scrolls, and shows no scrollbar
 * @typedef {{ seen: Box, lostX: number, lostY: number, by: Element | null, scrolled: Element | null,
 *   bare: Element | null }} Place seen: what is seen now; lostX, lostY: pixels that no scrolling reaches, by:
 *   who cuts them; scrolled: where one has to scroll for the rest; bare: the same, without a scrollbar
 */

/** @type {WeakMap<Element, CSSStyleDeclaration>} */
let styles = new WeakMap();
/** @type {WeakMap<Element, Clip | null>} */
let clips = new WeakMap();

/** The page may have changed. */
export function forget() {
  [styles, clips] = [new WeakMap(), new WeakMap()];
}

/** @param {Element} node */
export function styleOf(node) {
  const known = styles.get(node) ?? getComputedStyle(node);
  styles.set(node, known);
  return known;
}

/** Out of a shadow root, too. @param {Element} node @returns {Element | null} */
export function parentOf(node) {
  const root = node.parentElement ? null : node.getRootNode();
  return node.parentElement ?? (root instanceof ShadowRoot ? root.host : null);
}

/** @param {Element} node @param {Element} other */
export function within(node, other) {
  for (let at = /** @type {Element | null} */ (node); at; at = parentOf(at)) if (at === other) return true;
  return false;
}

/** @param {Box} one @param {Box} other @returns {Box} */
export const meet = (one, other) => ({
  left: Math.max(one.left, other.left),
  top: Math.max(one.top, other.top),
  right: Math.min(one.right, other.right),
  bottom: Math.min(one.bottom, other.bottom),
});

/** @param {Box} box */
export const extentOf = ({ left, top, right, bottom }) => ({ width: right - left, height: bottom - top });

/** @param {Box} box */
export const isEmpty = (box) => box.right - box.left <= 0 || box.bottom - box.top <= 0;

/** @param {Element} node @returns {Clip | null} */
function clipOf(node) {
  const known = clips.get(node);
  if (known !== undefined) return known;
  const style = styleOf(node);
  /** @param {string} overflow @param {boolean} more */
  const kind = (overflow, more) =>
    /auto|scroll/.test(overflow) ? (more ? "scroll" : "") : /hidden|clip/.test(overflow) ? "cut" : "";
  const x = kind(style.overflowX, node.scrollWidth > node.clientWidth);
  const y = kind(style.overflowY, node.scrollHeight > node.clientHeight);
  const found = x || y ? { node, x, y, box: paddingBox(node, style), bare: isBare(style) } : null;
  clips.set(node, /** @type {Clip | null} */ (found));
  return /** @type {Clip | null} */ (found);
}

/** @param {CSSStyleDeclaration} style */
const isBare = (style) => style.scrollbarWidth === "none";

/** @param {Element} node @param {CSSStyleDeclaration} style @returns {Box} */
function paddingBox(node, style) {
  const { left, top } = node.getBoundingClientRect();
  const margin = style.overflowX === "clip" ? parseFloat(style.overflowClipMargin) || 0 : 0;
  const [x, y] = [left + node.clientLeft - margin, top + node.clientTop - margin];
  return {
    left: x,
    top: y,
    right: x + node.clientWidth + 2 * margin,
    bottom: y + node.clientHeight + 2 * margin,
  };
}

/** Whether what is placed absolutely within it is placed by it. @param {CSSStyleDeclaration} style */
const holdsAbsolute = (style) => style.position !== "static" || holdsFixed(style);

/** @param {CSSStyleDeclaration} style */
const holdsFixed = (style) =>
  style.transform !== "none" ||
  style.filter !== "none" ||
  style.perspective !== "none" ||
  /paint|layout|strict|content/.test(style.contain);

/**
 * Of a box that belongs to a node: a line of its text, or its own edges. Each ancestor that clips takes what
 * lies outside; one that scrolls brings it inside.
 * @param {Element} node @param {Box} own @param {boolean} [ofText] the node itself clips its text
 * @returns {Place}
 */
export function placeOf(node, own, ofText = false) {
  const place = { seen: own, lostX: 0, lostY: 0, by: null, scrolled: null, bare: null };
  let moved = own; // as if scrolled to
  let waits = ofText ? "static" : styleOf(node).position;
  for (let at = ofText ? node : parentOf(node); at && at !== document.body; at = parentOf(at)) {
    const style = styleOf(at);
    const escapes =
      (waits === "absolute" && !holdsAbsolute(style)) || (waits === "fixed" && !holdsFixed(style));
    if (escapes) continue;
    waits = style.position;
    const clip = clipOf(at);
    if (clip) moved = clipped(place, moved, clip);
  }
  lastClip(place, moved, waits === "fixed");
  return /** @type {Place} */ (place);
}

/** @param {any} place @param {Box} moved @param {Clip} clip @returns {Box} where it is once scrolled to */
function clipped(place, moved, { node, box, x, y, bare }) {
  const outX = Math.max(0, box.left - moved.left) + Math.max(0, moved.right - box.right);
  const outY = Math.max(0, box.top - moved.top) + Math.max(0, moved.bottom - box.bottom);
  const next = { ...moved };
  const seen = { ...place.seen };
  if (x) [seen.left, seen.right] = [Math.max(seen.left, box.left), Math.min(seen.right, box.right)];
  if (y) [seen.top, seen.bottom] = [Math.max(seen.top, box.top), Math.min(seen.bottom, box.bottom)];
  place.seen = seen;
  if (x === "cut" && outX > place.lostX) [place.lostX, place.by] = [outX, node];
  if (y === "cut" && outY > place.lostY) [place.lostY, place.by] = [outY, node];
  if ((x === "scroll" && outX > 1) || (y === "scroll" && outY > 1)) {
    place.scrolled = node;
    if (bare) place.bare = node;
  }
  if (x) [next.left, next.right] = brought(moved.left, moved.right, box.left, box.right);
  if (y) [next.top, next.bottom] = brought(moved.top, moved.bottom, box.top, box.bottom);
  return next;
}

/** Of a line, what lies between two ends once it is moved there. @returns {[number, number]} */
function brought(start, end, least, most) {
  const length = Math.min(end - start, most - least);
  const from = Math.min(Math.max(start, least), most - length);
  return [from, from + length];
}

/** The window's: it scrolls as far as the document is long, and nobody looks for what lies beside it. */
function lastClip(place, moved, isFixed) {
  const page = /** @type {Element} */ (document.scrollingElement);
  const view = { left: 0, top: 0, right: page.clientWidth, bottom: innerHeight };
  const scrolls = !isFixed && !/hidden|clip/.test(styleOf(document.documentElement).overflowY);
  const [start, end] = scrolls ? [-scrollY, page.scrollHeight - scrollY] : [0, innerHeight];
  const lostX = Math.max(0, -moved.left) + Math.max(0, moved.right - view.right);
  const lostY = Math.max(0, start - moved.top) + Math.max(0, moved.bottom - end);
  if (lostX > place.lostX) [place.lostX, place.by] = [lostX, page];
  if (lostY > place.lostY) [place.lostY, place.by] = [lostY, page];
  if (scrolls && (moved.bottom > innerHeight + 1 || moved.top < -1)) place.scrolled ??= page;
  place.seen = meet(place.seen, view);
}
