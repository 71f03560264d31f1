// A notebook has commands on bare keys: x cuts the cell, and the app with it. Lumino looks for commands from
// the key's target upwards; this attribute on the target ends its search.
import { listen } from "./dom.js";

const NO_COMMANDS = "data-lm-suppress-shortcuts";

/** Fields in which keys write. */
export const TYPING = "input:not([type=range], [type=checkbox]), textarea, [contenteditable=true]";
/** Says how many rows down and columns to the right each key goes. @type {Record<string, [number, number]>} */
export const ARROWS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };

/** @param {KeyboardEvent} event */
export const isUndo = (event) =>
  (event.ctrlKey || event.metaKey) && !event.altKey && ["z", "y"].includes(event.key.toLowerCase());

/** Not Shift+Enter, which runs the cell. @param {KeyboardEvent} event */
export const isBare = (event) =>
  !event.ctrlKey && !event.metaKey && !event.altKey && !(event.shiftKey && event.key === "Enter");

/**
 * Nothing has the focus, or only what the app lies in: a page's main part takes it from a click beside the grids.
 * @param {EventTarget | null} target @param {Element} app
 */
export const isUnfocused = (target, app) =>
  target === document.body || (target instanceof Element && target !== app && target.contains(app));

/**
 * Keep keys from a notebook: JupyterLab hears them last; Notebook 7 first, at the document, after the window.
 * @param {HTMLElement} root @param {(event: KeyboardEvent) => boolean} [isOurs]
 */
export function keepKeys(root, isOurs = isBare) {
  /** @param {KeyboardEvent} event */
  const mark = (event) => {
    const target = /** @type {Element} */ (event.target);
    if (root.contains(target)) target.toggleAttribute(NO_COMMANDS, isOurs(event));
  };
  const ends = [
    listen(window, "keydown", mark, { capture: true }),
    listen(root, "keydown", (event) => isOurs(event) && event.stopPropagation()),
  ];
  return () => ends.forEach((end) => end());
}

/**
 * Escape presses what opened these places, and focuses it.
 * @param {() => HTMLElement | null | undefined} opener while open @param {...HTMLElement} places
 */
export function closeWithEscape(opener, ...places) {
  /** @param {KeyboardEvent} event */
  const onKey = (event) => {
    const button = event.key === "Escape" && !event.defaultPrevented && opener();
    if (!button) return;
    button.click();
    button.focus();
    event.preventDefault();
    event.stopPropagation();
  };
  for (const place of places) place.addEventListener("keydown", onKey);
}
