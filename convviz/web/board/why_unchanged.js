// The line that says why a panel's numbers stayed, beside it and over no cell or name.
import { element, setText } from "../base/dom.js";

// pixels: to the panel, to the band's edge; width if wrapped
const [GAP, INSET, NARROW] = [3, 8, 130];

/** @typedef {{ left: number, top: number, right: number, bottom: number }} Box */

/** @param {Box} one @param {Box} other */
const meet = (one, other) =>
  one.left < other.right && other.left < one.right && one.top < other.bottom && other.top < one.bottom;

/**
 * Below the cells, else above or beside the name; null: no room.
 * @param {{ width: number, height: number }} note @param {Box} panel @param {Box} bounds
 * @param {Box[]} obstacles @returns {[number, number] | null}
 */
export function placeFor({ width, height }, panel, bounds, obstacles) {
  const [below, above] = [panel.bottom + GAP, panel.top - height - GAP];
  const starts = [(panel.left + panel.right - width) / 2, panel.left, panel.right - width];
  const near = [below, above].flatMap((top) =>
    starts.map((left) => [Math.max(bounds.left, Math.min(left, bounds.right - width)), top]),
  );
  for (const [left, top] of [...near, [panel.right + 3 * GAP, panel.top]]) {
    const box = { left, top, right: left + width, bottom: top + height };
    const inside =
      top >= bounds.top && box.bottom <= bounds.bottom && left >= bounds.left && box.right <= bounds.right;
    if (inside && !obstacles.some((each) => meet(box, each))) return [left, top];
  }
  return null;
}

/** @param {HTMLElement} panel */
export function createWhySame(panel) {
  const el = element("span.cv-why-same", { hidden: "" });
  panel.append(el);

  /**
   * @param {string} text @param {() => Iterable<Element>} obstacles
   * @returns {boolean} false: not seen, or no room
   */
  return function say(text, obstacles) {
    setText(el, text);
    el.hidden = !text || !panel.getClientRects().length;
    panel.classList.toggle("cv-noted", !el.hidden); // a hint gives way
    if (el.hidden) return false;
    const band = panel.closest(".cv-equation") ?? panel;
    const own = panel.getBoundingClientRect();
    const { left, top, right, bottom } = band.getBoundingClientRect();
    const bounds = { left: left + INSET, top, right: right - INSET, bottom };
    const boxes = [...obstacles()].map((each) => each.getBoundingClientRect());
    for (const most of ["none", `${NARROW}px`]) {
      Object.assign(el.style, { maxWidth: most, whiteSpace: most === "none" ? "nowrap" : "normal" });
      const place = placeFor(el.getBoundingClientRect(), own, bounds, boxes);
      if (!place) continue;
      Object.assign(el.style, {
        left: `${place[0] - own.left}px`,
        top: `${place[1] - own.top}px`,
      });
      return true;
    }
    el.hidden = true;
    panel.classList.remove("cv-noted");
    return false;
  };
}
