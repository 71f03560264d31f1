// @ts-check
// A window on a drawing: dragged, scrolled and zoomed. It scrolls as any box does, so touch and keys work by
// themselves.
import { element } from "../base/dom.js";

const [LEAST, MOST_ZOOM, STEP] = [0.05, 3, 1.25];
const READABLE = 0.5; // below this the text in a box is too small: the drawing is then larger than the window
const DRAG_FROM = 4; // pixels: a shorter movement is a click
const MARGIN = 24;

/** Scroll what is dragged, but by a finger, which scrolls by itself. @param {HTMLElement} el */
function dragToScroll(el) {
  /** @type {{ x: number, y: number, left: number, top: number, moved: boolean } | null} */
  let drag = null;

  /** @param {PointerEvent} event */
  function onDown(event) {
    if (event.button !== 0 || event.pointerType === "touch") return;
    drag = { x: event.clientX, y: event.clientY, left: el.scrollLeft, top: el.scrollTop, moved: false };
  }

  /** @param {PointerEvent} event */
  function onMove(event) {
    if (!drag) return;
    if (!event.buttons) return onUp();
    const [x, y] = [event.clientX - drag.x, event.clientY - drag.y];
    if (!drag.moved && Math.hypot(x, y) < DRAG_FROM) return;
    if (!drag.moved) el.setPointerCapture(event.pointerId);
    drag.moved = true;
    el.classList.add("cv-dragged");
    el.scrollTo({ left: drag.left - x, top: drag.top - y, behavior: "instant" });
  }

  function onUp() {
    el.classList.remove("cv-dragged");
    if (drag?.moved)
      el.addEventListener("click", (event) => event.stopPropagation(), { capture: true, once: true });
    drag = null;
  }

  el.addEventListener("pointerdown", onDown);
  el.addEventListener("pointermove", onMove);
  el.addEventListener("pointerup", onUp);
  el.addEventListener("pointercancel", onUp);
}

/** @param {string} label what is seen in it */
export function createViewport(label) {
  const el = element("div", { class: "cv-viewport", tabindex: "0", role: "region", "aria-label": label });
  /** @type {SVGSVGElement | null} */
  let svg = null;
  let scale = 0; // 0: not placed yet
  let size = { width: 1, height: 1 };

  /**
   * @param {number} next @param {number} [x] what stays where it is, in pixels of the window
   * @param {number} [y]
   */
  function setScale(next, x = el.clientWidth / 2, y = el.clientHeight / 2) {
    const before = scale || 1;
    scale = Math.min(Math.max(next, LEAST), MOST_ZOOM);
    const [left, top] = [
      (el.scrollLeft + x) * (scale / before) - x,
      (el.scrollTop + y) * (scale / before) - y,
    ];
    apply();
    el.scrollTo({ left, top, behavior: "instant" });
  }

  function apply() {
    if (!svg) return;
    svg.style.width = `${size.width * scale}px`;
    svg.style.height = `${size.height * scale}px`;
    el.dataset.scale = scale.toFixed(3);
  }

  const fitting = () => Math.min(1, (el.clientWidth - 2) / size.width, (el.clientHeight - 2) / size.height);

  /** All of it, but never too small to read. */
  function place() {
    if (scale || !svg || !el.clientWidth) return;
    setScale(Math.max(READABLE, fitting()), 0, 0);
    el.scrollTo({ left: (size.width * scale - el.clientWidth) / 2, top: 0, behavior: "instant" });
    // The part around the output is thousands of pixels high: it is looked at from the output.
    const output = svg.querySelector('[data-kind="rest"]') && svg.querySelector('[data-kind="output"]');
    if (output) viewport.reveal([output]);
  }

  dragToScroll(el);
  el.addEventListener(
    "wheel",
    (event) => {
      if (!event.ctrlKey && !event.metaKey) return; // the wheel alone scrolls
      const box = el.getBoundingClientRect();
      setScale(scale * Math.exp(-event.deltaY * 0.002), event.clientX - box.left, event.clientY - box.top);
      event.preventDefault();
    },
    { passive: false },
  );
  const watcher = new ResizeObserver(place);
  watcher.observe(el);

  const viewport = {
    el,
    scale: () => scale,

    /** Show a drawing; the place that was looked at stays. @param {SVGSVGElement} next */
    set(next) {
      svg = next;
      size = { width: next.viewBox.baseVal.width, height: next.viewBox.baseVal.height };
      if (next.parentNode !== el) el.replaceChildren(next);
      if (scale) apply();
      else place();
    },

    /** @param {number} direction 1 larger, -1 smaller */
    zoom: (direction) => setScale(scale * STEP ** direction),

    /** Show all of it. */
    fit: () => setScale(fitting()),

    /**
     * Scroll, inside the window only, until parts of the drawing are seen; where there is no room for all,
     *   the first is.
     * @param {Element[]} parts
     */
    reveal(parts) {
      for (const part of [...parts].reverse()) scrollTo(el, part);
    },
    close: () => watcher.disconnect(),
  };
  return viewport;
}

/** @param {HTMLElement} el @param {Element} part */
function scrollTo(el, part) {
  const [box, room] = [part.getBoundingClientRect(), el.getBoundingClientRect()];
  const left = shiftInto(box.left, box.right, room.left, room.right);
  el.scrollBy({ left, top: shiftInto(box.top, box.bottom, room.top, room.bottom), behavior: "instant" });
}

/** How far to scroll, so that what lies from low to high is within the window, with a margin. */
function shiftInto(low, high, from, to) {
  if (low < from + MARGIN || high - low > to - from - 2 * MARGIN) return low - from - MARGIN;
  return high > to - MARGIN ? high - to + MARGIN : 0;
}
