// @ts-check
// What is pointed at, told from widget to widget of one app, in the page: the board and the panes in the tabs
// are modules of their own and know nothing of each other.

const EVENT = "convviz:point";

/**
 * `cell`: the cell under the pointer, to be shown with all that belongs to it.
 * `cells`: to be lit as they are.
 * `panels`: to be framed whole. Panels are named as the stages are.
 * @typedef {{ panel: string, row: number, column: number }} PanelCell
 * @typedef {{ cell: PanelCell | null, cells: PanelCell[], panels: string[] }} Pointed
 */

/**
 * Tell the other widgets of the app what is pointed at; nothing when the pointer has left.
 * @param {HTMLElement} el of the widget that tells it @param {Partial<Pointed>} [pointed]
 */
export function pointAt(el, pointed = {}) {
  const detail = { cell: null, cells: [], panels: [], ...pointed };
  el.dispatchEvent(new CustomEvent(EVENT, { bubbles: true, composed: true, detail }));
}

/**
 * Hear what the other widgets of the app point at.
 * @param {HTMLElement} el of the widget that listens @param {(pointed: Pointed) => void} listener
 * @returns {() => void} stop listening
 */
export function followPointer(el, listener) {
  /** @param {Event} event */
  const hear = (event) => {
    const from = /** @type {HTMLElement} */ (event.target);
    if (!el.contains(from) && from.closest(".cv-app") === el.closest(".cv-app")) {
      listener(/** @type {CustomEvent<Pointed>} */ (event).detail);
    }
  };
  document.addEventListener(EVENT, hear);
  return () => document.removeEventListener(EVENT, hear);
}
