// Judges one screen: does anything that speaks or can be pressed overlap, is it cut, can it be reached, is every
// digit there that has room, and is a lesson's card read without scrolling. It is evaluated in the page.
import { judgeCells } from "./layout_cells.js";
import { extentOf, forget, meet, parentOf, styleOf, within } from "./layout_place.js";
import { isSeen, isTooNarrow, nameOf, shortName, thingsIn } from "./layout_things.js";

/**
 * @import { Thing } from "./layout_things.js"
 * @typedef {{ kind: string, who: string, why: string }} Fault
 */

const TOLERATED = 1.5; // pixels: edges are rounded
const TOUCHING = 2.5; // pixels by which two may touch
const PADDED = 6; // pixels of a button beside its words
const SLOT = 160; // pixels: what is lower and scrolls is no place to read in
const LEAST_TEXT = 14; // pixels of a lesson's letters
const SCROLLS = ".cv-slot, .cv-lesson"; // a drawer, and what is judged by itself
const OPENED = ".cv-popover, .cv-symbols, .cv-because, .cv-menu-list"; // a visitor closes it
const STAYS = ".cv-sum-end"; // the end of a line that scrolls below it
const SLIVER = 0.25; // of what is cut: less of it is as good as nothing
const READ = ".cv-lesson h3, .cv-lesson-text, .cv-lesson-found";

/**
 * What sticks to an edge of the window lies over what is scrolled there: all but a lesson's card is judged
 * where it stands in the page, and the card where it sticks.
 * @param {Element} root the app @param {number} end where the view ends: a notebook's cell, or the window
 * @returns {Fault[]} one for each kind and element
 */
export function judge(root, end) {
  const stuck = [...root.querySelectorAll(".cv-controls, .cv-foot, .cv-said, .cv-lesson-place")].filter(
    (each) => getComputedStyle(each).position === "sticky",
  );
  const sheet = stuck.find((each) => each.matches(".cv-lesson-place"));
  const isOnCard = (/** @type {Thing} */ { node }) => Boolean(sheet?.contains(node));
  for (const each of stuck)
    Object.assign(/** @type {HTMLElement} */ (each).style, { position: "relative", bottom: "auto" });
  const faults = [...judgeThings(root, (thing) => !isOnCard(thing)), ...judgeCells(root, end)];
  for (const each of stuck)
    Object.assign(/** @type {HTMLElement} */ (each).style, { position: "", bottom: "" });
  if (sheet) faults.push(...judgeThings(root, isOnCard));
  return [...new Map(faults.map((each) => [`${each.kind} ${each.who}`, each])).values()];
}

/** @param {Element} root @param {(thing: Thing) => boolean} isJudged @returns {Fault[]} */
function judgeThings(root, isJudged) {
  forget();
  const things = thingsIn(root).filter(isJudged);
  const seen = things.filter(isSeen);
  const outOfReach = things.filter(({ kind }) => kind === "control").flatMap(unreached);
  const lost = outOfReach.map(({ node }) => node);
  const faults = [
    ...outOfReach,
    ...things.filter(({ node }) => !lost.some((each) => each.contains(node))).flatMap(cut),
    ...overlaps(seen),
    ...seen.flatMap(covered),
    ...things.flatMap(card),
  ];
  return faults.map(({ kind, node, why }) => ({ kind, who: nameOf(node), why }));
}

/** @param {string} kind @param {Thing} thing @param {string} why */
const fault = (kind, thing, why) => ({ kind, node: blockOf(thing), why });

/** A sentence, not the name in it. @param {Thing} thing */
const blockOf = ({ kind, node }) =>
  (kind === "text" && node.closest("p, button, summary, label, h1, h2, h3")) || node;

/** @param {Thing[]} seen */
function overlaps(seen) {
  return seen.flatMap((one, index) =>
    seen.slice(index + 1).flatMap((other) => {
      const { width, height } = extentOf(meet(one.place.seen, other.place.seen));
      if (width <= TOUCHING || height <= TOUCHING || belong(one.node, other.node)) return [];
      return fault("overlap", one, `${width.toFixed(0)} × ${height.toFixed(0)} px of ${nameOf(other.node)}`);
    }),
  );
}

/**
 * One is in the other; or lies below what was opened, or below an end that stays in sight where both scroll.
 * @param {Element} one @param {Element} other
 */
function belong(one, other) {
  if (one.contains(other) || other.contains(one)) return true;
  if (one.closest(OPENED) !== other.closest(OPENED)) return true;
  const [end, others] = [one, other].map((node) => node.closest(STAYS));
  return end !== others && (end ?? others)?.parentElement?.contains(end ? other : one) === true;
}

/** @param {Thing} thing */
function cut(thing) {
  const { kind, node, own, place, words } = thing;
  if (kind === "control" && isTooNarrow(node)) return [fault("cut", thing, "its words need more room")];
  const { width, height } = extentOf(own);
  if (place.lostX > TOLERATED || place.lostY > TOLERATED) {
    const lost = `${place.lostX.toFixed(0)} × ${place.lostY.toFixed(0)} px of “${words.slice(0, 40)}”`;
    const left = isSeen(thing) ? extentOf(place.seen) : { width: 0, height: 0 };
    const isGone = left.width * left.height < SLIVER * width * height;
    return [fault(isGone ? "left out" : "cut", thing, `${lost} are lost in ${shortName(place.by)}`)];
  }
  if (!place.scrolled || isWhole(thing, kind === "control" ? PADDED : TOLERATED)) return [];
  if (place.bare) return [{ kind: "no cue", node: place.bare, why: "it scrolls, and shows no scrollbar" }];
  const isSlot = kind === "text" && place.scrolled.clientHeight < SLOT && !node.closest(SCROLLS);
  return isSlot
    ? [fault("cut", thing, `“${words.slice(0, 40)}” is scrolled in ${shortName(place.scrolled)}`)]
    : [];
}

/** All of it is in sight. @param {Thing} thing */
function isWhole({ own, place: { seen } }, tolerated = TOLERATED) {
  const [all, part] = [extentOf(own), extentOf(seen)];
  return part.width >= all.width - tolerated && part.height >= all.height - tolerated;
}

/** A control that cannot be pressed, scrolled to or not. @param {Thing} thing */
function unreached(thing) {
  const { node, own, place } = thing;
  const { width, height } = extentOf(own);
  if (place.lostX > width / 2 || place.lostY > height / 2)
    return [fault("unreachable", thing, `outside ${shortName(place.by)}`)];
  const restore = place.scrolled ? scrolledTo(node) : null;
  const box = node.getBoundingClientRect();
  const hit = hitAt(node, (box.left + box.right) / 2, (box.top + box.bottom) / 2);
  restore?.();
  if (hit && (belong(node, hit) || isLabel(hit, node))) return [];
  return [fault("unreachable", thing, hit ? `under ${shortName(hit)}` : "outside the window")];
}

/** @param {Element} hit @param {Element} node */
const isLabel = (hit, node) => hit.closest("label")?.control === node;

/** @param {Element} node @param {number} x @param {number} y */
const hitAt = (node, x, y) =>
  /** @type {Document | ShadowRoot} */ (node.getRootNode()).elementFromPoint(x, y);

/** @param {Element} node @returns {() => void} puts all back */
function scrolledTo(node) {
  /** @type {[Element, number, number][]} */
  const places = [];
  for (let at = /** @type {Element | null} */ (node); at; at = parentOf(at))
    places.push([at, at.scrollLeft, at.scrollTop]);
  node.scrollIntoView({ block: "center", inline: "center", behavior: "instant" });
  return () => {
    for (const [at, left, top] of places)
      if (at.scrollLeft !== left || at.scrollTop !== top) at.scrollTo({ left, top, behavior: "instant" });
  };
}

/** Something that is painted lies over it. @param {Thing} thing */
function covered(thing) {
  const { node, kind, place } = thing;
  if (kind === "control" || place.scrolled || styleOf(node).pointerEvents === "none") return [];
  return spotsOf(thing).flatMap(([x, y]) => {
    const hit = hitAt(node, x, y);
    if (!hit || belong(node, hit)) return [];
    const by = painted(hit, node);
    return by ? [fault("overlap", thing, `under ${shortName(by)}`)] : [];
  });
}

/** @param {Thing} thing @returns {[number, number][]} */
function spotsOf({ kind, place: { seen } }) {
  const [x, y] = [(seen.left + seen.right) / 2, (seen.top + seen.bottom) / 2];
  if (kind === "text") return [[x, y]];
  const xs = [seen.left + 4, x, seen.right - 4];
  return [seen.top + 4, y, seen.bottom - 4].flatMap((down) =>
    xs.map((across) => /** @type {[number, number]} */ ([across, down])),
  );
}

/**
 * What is painted over a node: from what was hit up to what both lie in.
 * @param {Element} hit @param {Element} node
 */
function painted(hit, node) {
  for (let at = /** @type {Element | null} */ (hit); at && !within(node, at); at = parentOf(at)) {
    const { backgroundColor, backgroundImage } = styleOf(at);
    if (backgroundImage !== "none" || !/, 0\)$|^transparent$/.test(backgroundColor)) return at;
    if (at.matches("input, select, svg.cv-grid, img, canvas")) return at;
  }
  return null;
}

/**
 * A lesson's card: letters large enough, and all of a step in sight. What stands there at the end is read as a
 * page is: where a window is low, it scrolls with it.
 * @param {Thing} thing
 */
function card(thing) {
  const { node, kind, words, place } = thing;
  if (kind !== "text" || !node.closest(READ)) return [];
  const size = parseFloat(styleOf(node).fontSize);
  const isSmall = !node.closest("button") && size < LEAST_TEXT - 0.1;
  return [
    ...(isSmall ? [fault("card text", thing, `letters of ${size} px`)] : []),
    ...(isWhole(thing) || (place.scrolled === document.scrollingElement && node.closest("[data-left]"))
      ? []
      : [fault("card", thing, `“${words.slice(0, 40)}” is not seen without scrolling`)]),
  ];
}
