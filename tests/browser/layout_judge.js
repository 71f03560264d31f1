// Judges one screen: does anything that speaks or can be pressed overlap, is it cut, can it be reached, is every
// digit there that has room, and is a lesson's card read without scrolling. It is evaluated in the page.
import { forget, isEmpty, meet, parentOf, styleOf, within } from "./layout_place.js";
import { isSeen, isShown, isTooNarrow, nameOf, thingsIn } from "./layout_things.js";
import { judgeCells } from "./layout_cells.js";

/**
 * @import { Thing } from "./layout_things.js"
 * @typedef {{ kind: string, who: string, why: string }} Fault
 */

const TOLERATED = 1.5; // pixels: edges are rounded
const LEAST_TEXT = 14; // pixels of a lesson's letters
const READ = ".cv-lesson h3, .cv-lesson-text, .cv-lesson-found";

/**
 * @param {Element} root the app @param {number} end where the view ends: a notebook's cell, or the window
 * @returns {Fault[]} one for each kind and element
 */
export function judge(root, end) {
  forget();
  const things = thingsIn(root);
  const seen = things.filter(isSeen);
  const faults = [
    ...overlaps(seen),
    ...things.flatMap(cut),
    ...things.flatMap(unreached),
    ...seen.flatMap(covered),
    ...judgeCells(root, end),
    ...card(things),
  ];
  return [...new Map(faults.map((fault) => [`${fault.kind} ${fault.who}`, fault])).values()];
}

/** @param {string} kind @param {Thing} thing @param {string} why @returns {Fault} */
const fault = (kind, thing, why) => ({ kind, who: nameOf(thing.node), why });

/** @param {Thing[]} seen @returns {Fault[]} */
function overlaps(seen) {
  return seen.flatMap((one, index) =>
    seen.slice(index + 1).flatMap((other) => {
      const common = meet(one.place.seen, other.place.seen);
      const [width, height] = [common.right - common.left, common.bottom - common.top];
      if (width <= TOLERATED || height <= TOLERATED || belong(one, other)) return [];
      return fault("overlap", one, `${width.toFixed(0)} × ${height.toFixed(0)} px of ${nameOf(other.node)}`);
    }),
  );
}

/** What is inside the other, or one line of the other's words. @param {Thing} one @param {Thing} other */
const belong = ({ node: one }, { node: other }) => one.contains(other) || other.contains(one);

/** @param {Thing} thing @returns {Fault[]} */
function cut(thing) {
  const { kind, node, own, place } = thing;
  if (kind === "control") return isTooNarrow(node) ? [fault("cut", thing, "its words need more room")] : [];
  const [width, height] = [own.right - own.left, own.bottom - own.top];
  if (kind === "grid" && (width < 4 || height < 4)) return [fault("cut", thing, "it has no room at all")];
  if (place.lostX > TOLERATED || place.lostY > TOLERATED) {
    const lost = `${place.lostX.toFixed(0)} × ${place.lostY.toFixed(0)} px lost in ${nameOf(/** @type {Element} */ (place.by))}`;
    const isGone = place.lostX >= width - TOLERATED || place.lostY >= height - TOLERATED;
    return [fault(isGone ? "missing" : "cut", thing, `${thing.words.slice(0, 40)}: ${lost}`)];
  }
  if (place.bare && !isEmpty(place.seen) && isPart(thing))
    return [fault("no cue", thing, `cut where ${nameOf(place.bare)} scrolls without a scrollbar`)];
  return [];
}

/** Some of it is seen, not all. @param {Thing} thing */
function isPart({ own, place: { seen } }) {
  return seen.right - seen.left < own.right - own.left - TOLERATED || seen.bottom - seen.top < own.bottom - own.top - TOLERATED;
}

/** A control that cannot be pressed, scrolled to or not. @param {Thing} thing @returns {Fault[]} */
function unreached(thing) {
  const { kind, node, own, place } = thing;
  if (kind !== "control") return [];
  const [width, height] = [own.right - own.left, own.bottom - own.top];
  if (place.lostX > width / 2 || place.lostY > height / 2)
    return [fault("unreachable", thing, `outside ${nameOf(/** @type {Element} */ (place.by))}`)];
  const restore = place.scrolled ? scrolledTo(node) : null;
  const box = node.getBoundingClientRect();
  const hit = hitAt(node, (box.left + box.right) / 2, (box.top + box.bottom) / 2);
  restore?.();
  if (hit && (node.contains(hit) || isLabel(hit, node))) return [];
  return [fault("unreachable", thing, hit ? `under ${nameOf(hit)}` : "outside the window")];
}

/** @param {Element} hit @param {Element} node */
const isLabel = (hit, node) => hit.closest("label")?.control === node;

/** @param {Element} node @param {number} x @param {number} y */
function hitAt(node, x, y) {
  const root = /** @type {Document | ShadowRoot} */ (node.getRootNode());
  return root.elementFromPoint(x, y);
}

/** @param {Element} node @returns {() => void} puts all back */
function scrolledTo(node) {
  const places = [];
  for (let at = /** @type {Element | null} */ (node); at; at = parentOf(at))
    places.push(/** @type {const} */ ([at, at.scrollLeft, at.scrollTop]));
  node.scrollIntoView({ block: "center", inline: "center", behavior: "instant" });
  return () => {
    for (const [at, left, top] of places) if (at.scrollLeft !== left || at.scrollTop !== top) at.scrollTo(left, top);
  };
}

/** Something that is painted lies over it. @param {Thing} thing @returns {Fault[]} */
function covered(thing) {
  const { node, kind, place } = thing;
  if (kind === "control" || place.scrolled || styleOf(node).pointerEvents === "none") return [];
  return spotsOf(thing).flatMap(([x, y]) => {
    const hit = hitAt(node, x, y);
    if (!hit || belong(thing, { ...thing, node: hit })) return [];
    const by = painted(hit, node);
    return by ? [fault("overlap", thing, `under ${nameOf(by)}`)] : [];
  });
}

/** @param {Thing} thing @returns {[number, number][]} */
function spotsOf({ kind, place: { seen } }) {
  const [x, y] = [(seen.left + seen.right) / 2, (seen.top + seen.bottom) / 2];
  if (kind === "text") return [[x, y]];
  const xs = [seen.left + 4, x, seen.right - 4];
  return [seen.top + 4, y, seen.bottom - 4].flatMap((down) => xs.map((across) => /** @type {[number, number]} */ ([across, down])));
}

/** What is painted over a node, from what was hit up to what both lie in. @param {Element} hit @param {Element} node */
function painted(hit, node) {
  for (let at = /** @type {Element | null} */ (hit); at && !within(node, at); at = parentOf(at)) {
    const { backgroundColor, backgroundImage } = styleOf(at);
    if (backgroundImage !== "none" || !/, 0\)$|^transparent$/.test(backgroundColor)) return at;
    if (at.matches("input, select, svg.cv-grid, img, canvas")) return at;
  }
  return null;
}

/** A lesson's card: letters large enough, and all of it in sight. @param {Thing[]} things @returns {Fault[]} */
function card(things) {
  return things.flatMap((thing) => {
    const { node, kind, own, place } = thing;
    if (kind !== "text" || !node.closest(".cv-lesson") || !isShown(node)) return [];
    const found = [];
    const size = parseFloat(styleOf(node).fontSize);
    if (node.closest(READ) && !node.closest("button") && size < LEAST_TEXT - 0.1)
      found.push(fault("card text", thing, `letters of ${size} px`));
    const gone = own.right - own.left - (place.seen.right - place.seen.left) > TOLERATED ||
      own.bottom - own.top - (place.seen.bottom - place.seen.top) > TOLERATED;
    if (gone) found.push(fault("card", thing, `“${thing.words.slice(0, 40)}” is not seen without scrolling`));
    return found;
  });
}
