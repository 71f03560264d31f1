// What is pointed at, sent between the widgets of an app: board and panes know nothing of each other.

import { listen } from "./dom.js";

const EVENT = "convviz:point";

/**
 * cell: with all that belongs to it; cells: as they are; panels: framed.
 * @typedef {{ cell: Place | null, cells: Place[], panels: string[] }} Pointed
 */

/** Nothing: the pointer has left. @param {HTMLElement} el @param {Partial<Pointed>} [pointed] */
export function pointAt(el, pointed = {}) {
  const detail = { cell: null, cells: [], panels: [], ...pointed };
  el.dispatchEvent(new CustomEvent(EVENT, { bubbles: true, composed: true, detail }));
}

/** @param {HTMLElement} el @param {(pointed: Pointed) => void} listener */
export function followPointer(el, listener) {
  return listen(document, EVENT, ({ target, detail }) => {
    if (!el.contains(target) && target.closest(".cv-app") === el.closest(".cv-app")) listener(detail);
  });
}
