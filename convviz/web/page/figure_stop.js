// A bare figure is one tab stop: arrows leave a grid at its edge for the panel, the planes or the sum that lies there.
import { ARROWS } from "../base/keys.js";

const ITEMS = ".cv-grid, .cv-thumbs, .cv-sum";
const STOPS = ".cv-cell[tabindex='0'], .cv-sum button, .cv-thumb";

/** @typedef {[number, number]} Step down and right */

/** @param {Element} node */
const buttonsOf = (node) => /** @type {HTMLElement[]} */ ([...node.querySelectorAll("button")]);

/** @param {number} at @param {number} count */
const clamp = (at, count) => Math.min(Math.max(at, 0), count - 1);

/** @param {Element} grid */
const sizeOf = (grid) => ["aria-rowcount", "aria-colcount"].map((name) => Number(grid.getAttribute(name)));

/**
 * Returns where a key would go within an item, or null where it would leave it.
 * @param {Element} item @param {Element} from @param {Step} by
 */
function within(item, from, by) {
  if (item.matches(".cv-grid")) {
    const [at, size] = [placeOf(from), sizeOf(item)];
    // Through sliders one walks as one reads; up and down are their values.
    const isLast = from.getAttribute("role") !== "slider" || at[0] === (by[1] > 0 ? size[0] - 1 : 0);
    const isOut = size.some((count, axis) => clamp(at[axis] + by[axis], count) !== at[axis] + by[axis]);
    return isOut && isLast ? null : from;
  }
  const all = buttonsOf(item);
  const to = all.indexOf(/** @type {HTMLElement} */ (from)) + by[1];
  if (by[0]) return null;
  return item.matches(".cv-sum") ? all[(to + all.length) % all.length] : (all[to] ?? null);
}

/** @param {Element} cell */
const placeOf = (cell) => (cell.getAttribute("data-cell") ?? "0,0").split(",").map(Number);

/** @param {Element} item @param {Element} from @param {Step} by @returns {HTMLElement | SVGElement | null} */
function entryOf(item, from, [down, right]) {
  if (!item.matches(".cv-grid")) {
    const all = buttonsOf(item);
    return all.find((button) => button.ariaPressed === "true") ?? all[0] ?? null;
  }
  const [rows, columns] = sizeOf(item);
  const [row, column] = placeOf(from);
  const at = [
    down ? (down > 0 ? 0 : rows - 1) : clamp(row, rows),
    right ? (right > 0 ? 0 : columns - 1) : clamp(column, columns),
  ];
  // In a large grid one cell stands for all.
  return item.querySelector(`[data-cell="${at}"]`) ?? item.querySelector(".cv-cell");
}

/**
 * Across, the next in the order of reading; down and up, the nearest that lies there.
 * @param {Element[]} items @param {Element} own @param {Step} by
 */
function beside(items, own, [down, right]) {
  if (right) {
    const grids = items.filter((item) => item.matches(".cv-grid"));
    return grids[grids.indexOf(own) + right] ?? null;
  }
  const box = own.getBoundingClientRect();
  const far = (/** @type {Element} */ item) => {
    const other = item.getBoundingClientRect();
    const gap = down > 0 ? other.top - box.bottom : box.top - other.bottom;
    const aside = Math.max(other.left - box.right, box.left - other.right, 0);
    return gap < -2 ? Infinity : gap + aside;
  };
  const [nearest] = items.filter((item) => item !== own).sort((one, other) => far(one) - far(other));
  return nearest && far(nearest) < Infinity ? nearest : null;
}

/**
 * Returns what a key moves the focus to; null means that the grid moves it, or that nothing does.
 * @param {HTMLElement} picture @param {KeyboardEvent} event @returns {HTMLElement | SVGElement | null}
 */
function targetOf(picture, event) {
  const from = /** @type {Element} */ (event.target);
  const [item, by] = [from.closest(ITEMS), ARROWS[event.key]];
  const isTyped = !from.matches(".cv-cell, button");
  if (!item || !by || isTyped || event.shiftKey || event.altKey || event.ctrlKey || event.metaKey)
    return null;
  if (by[0] && from.getAttribute("role") === "slider") return null;
  const inside = within(item, from, by);
  if (inside) return inside === from ? null : /** @type {HTMLElement} */ (inside);
  const there = [...picture.querySelectorAll(ITEMS)].filter(
    (each) => each.checkVisibility() && each.querySelector(".cv-cell, button"),
  );
  const next = beside(there, item, by);
  return next && entryOf(next, from, by);
}

/** @param {HTMLElement} picture @returns {() => void} the end of it */
export function keepOneStop(picture) {
  /** @type {Element | null} */
  let stop = null;
  const keep = () => {
    if (!stop || !picture.contains(stop)) stop = picture.querySelector(".cv-cell");
    for (const other of picture.querySelectorAll(STOPS))
      if (other !== stop && other.getAttribute("tabindex") !== "-1") other.setAttribute("tabindex", "-1");
    if (stop && stop.getAttribute("tabindex") !== "0") stop.setAttribute("tabindex", "0");
  };
  picture.addEventListener("focusin", ({ target }) => {
    if (!(/** @type {Element} */ (target).matches(".cv-cell, .cv-sum button, .cv-thumb"))) return;
    stop = /** @type {Element} */ (target);
    keep();
  });
  picture.addEventListener(
    "keydown",
    (event) => {
      const to = targetOf(picture, event);
      if (!to) return;
      to.focus({ preventScroll: true });
      event.preventDefault();
      event.stopPropagation();
    },
    { capture: true },
  );
  const watcher = new MutationObserver(keep); // a grid and a sum have a stop of their own wherever they stand
  watcher.observe(picture, { subtree: true, childList: true, attributeFilter: ["tabindex"] });
  return () => watcher.disconnect();
}
