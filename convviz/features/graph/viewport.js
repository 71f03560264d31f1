// A window on a drawing: dragged, scrolled as any box is, with touch and keys, and zoomed.
import { element } from "../../web/base/dom.js";

const [LEAST, MAX_ZOOM, STEP] = [0.05, 3, 1.25];
const READABLE = 0.5;
const DRAG_FROM = 4; // pixels: less is a click
const MARGIN = 24;

/** Scrolls an element by dragging with a mouse or a pen; browsers already scroll by touch. @param {HTMLElement} el */
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

export class Viewport {
  /** All of it, but readable. */
  #place = () => {
    if (this.#scale || !this.#svg || !this.el.clientWidth) return;
    this.#setScale(Math.max(READABLE, this.#fitting()), 0, 0);
    this.el.scrollTo({
      left: (this.#size.width * this.#scale - this.el.clientWidth) / 2,
      top: 0,
      behavior: "instant",
    });
    // The part around the output is thousands of pixels high.
    const output =
      this.#svg.querySelector('[data-kind="rest"]') && this.#svg.querySelector('[data-kind="output"]');
    if (output) this.reveal([output]);
  };
  el;
  /** @type {SVGSVGElement | null} */
  #svg = null;
  #scale = 0; // 0: not placed yet
  #size = { width: 1, height: 1 };
  #fitting = () =>
    Math.min(1, (this.el.clientWidth - 2) / this.#size.width, (this.el.clientHeight - 2) / this.#size.height);
  #watcher = new ResizeObserver(this.#place);

  /** @param {string} label */
  constructor(label) {
    this.el = element("div.cv-viewport", { tabindex: "0", role: "region", "aria-label": label });
    dragToScroll(this.el);
    this.el.addEventListener(
      "wheel",
      (event) => {
        if (!event.ctrlKey && !event.metaKey) return; // the wheel alone scrolls
        const box = this.el.getBoundingClientRect();
        this.#setScale(
          this.#scale * Math.exp(-event.deltaY * 0.002),
          event.clientX - box.left,
          event.clientY - box.top,
        );
        event.preventDefault();
      },
      { passive: false },
    );
    this.#watcher.observe(this.el);
  }

  /**
   * @param {number} next @param {number} [x] stays where it is, in pixels of the window @param {number} [y]
   */
  #setScale(next, x = this.el.clientWidth / 2, y = this.el.clientHeight / 2) {
    const before = this.#scale || 1;
    this.#scale = Math.min(Math.max(next, LEAST), MAX_ZOOM);
    const [left, top] = [
      (this.el.scrollLeft + x) * (this.#scale / before) - x,
      (this.el.scrollTop + y) * (this.#scale / before) - y,
    ];
    this.#apply();
    this.el.scrollTo({ left, top, behavior: "instant" });
  }

  #apply() {
    if (!this.#svg) return;
    this.#svg.style.width = `${this.#size.width * this.#scale}px`;
    this.#svg.style.height = `${this.#size.height * this.#scale}px`;
    this.el.dataset.scale = this.#scale.toFixed(3);
  }

  /** What was looked at stays in place. @param {SVGSVGElement} next */
  set(next) {
    this.#svg = next;
    this.#size = { width: next.viewBox.baseVal.width, height: next.viewBox.baseVal.height };
    if (next.parentNode !== this.el) this.el.replaceChildren(next);
    if (this.#scale) this.#apply();
    else this.#place();
  }

  /** @param {number} direction */
  zoom = (direction) => this.#setScale(this.#scale * STEP ** direction);

  fit = () => this.#setScale(this.#fitting());

  /** Scroll the window only; to the first part at least. @param {Element[]} parts */
  reveal(parts) {
    for (const part of [...parts].reverse()) scrollTo(this.el, part);
  }

  close = () => this.#watcher.disconnect();
}

/** @param {HTMLElement} el @param {Element} part */
function scrollTo(el, part) {
  const [box, room] = [part.getBoundingClientRect(), el.getBoundingClientRect()];
  const left = shiftInto(box.left, box.right, room.left, room.right);
  el.scrollBy({ left, top: shiftInto(box.top, box.bottom, room.top, room.bottom), behavior: "instant" });
}

/** How far to scroll to show low to high, with a margin. */
function shiftInto(low, high, from, to) {
  if (low < from + MARGIN || high - low > to - from - 2 * MARGIN) return low - from - MARGIN;
  return high > to - MARGIN ? high - to + MARGIN : 0;
}
