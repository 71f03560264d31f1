// On a phone bars stick to the lower edge of the window: what is spoken of comes into the part above them.

/**
 * Scrolls a page of a phone by as little as shows all of it; of what is too high, its upper end.
 * @param {Element} part
 * @param {{ after?: number, end?: number }} [room] after: pixels below it that belong to it; end: where more room
 *   than the bars take now ends
 * @returns {boolean} whether it is a phone's page, upright or lying
 */
export function bringInSight(part, { after = 0, end = window.innerHeight } = {}) {
  const body = part.closest("[data-stage=narrow], [data-low] [data-stage=medium]");
  if (!body) return false;
  const sticks = "[data-stage=narrow] > :is(.cv-controls, .cv-lesson-place)"; // that lies: nothing below
  const bars = [...(body.parentElement ?? body).querySelectorAll(sticks)].filter(
    (bar) => getComputedStyle(bar).position === "sticky",
  );
  const edge = Math.min(end, ...bars.map((bar) => bar.getBoundingClientRect().top));
  const { top, bottom } = part.getBoundingClientRect();
  const margin = parseFloat(getComputedStyle(part).scrollMarginTop) || 0;
  const left = edge - after - (bottom - top);
  const highest = Math.max(Math.min(left, margin), 0);
  const by = top < 0 ? top - highest : Math.min(Math.max(top - left, 0), top);
  if (by) window.scrollBy({ top: by, behavior: "instant" });
  return true;
}
