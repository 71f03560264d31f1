// @ts-check
// Keys in a notebook, which has commands of its own on bare keys: x cuts the cell, and with it the app.

// An element that has it ends Lumino's search for commands, which begins at the target of the key and goes
// upwards: on the root alone it comes too late, because Jupyter's commands are for whatever has the focus.
const NO_COMMANDS = "data-lm-suppress-shortcuts";

/** Whether a key asks for undo or redo. @param {KeyboardEvent} event */
export const isUndo = (event) =>
  (event.ctrlKey || event.metaKey) && !event.altKey && ["z", "y"].includes(event.key.toLowerCase());

/** Whether a key is a bare one, but not Shift+Enter, which runs the cell. @param {KeyboardEvent} event */
export const isBare = (event) =>
  !event.ctrlKey && !event.metaKey && !event.altKey && !(event.shiftKey && event.key === "Enter");

/**
 * Keep a notebook from taking the keys that are pressed inside an element. JupyterLab hears a key last, after
 * all that it bubbles through; Notebook 7 hears it first, at the document: only the window is before it.
 * @param {HTMLElement} root
 * @param {(event: KeyboardEvent) => boolean} [isOurs] which keys
 * @returns {() => void} let go of them
 */
export function keepKeys(root, isOurs = isBare) {
  /** @param {KeyboardEvent} event */
  const mark = (event) => {
    const target = /** @type {Element} */ (event.target);
    if (root.contains(target)) target.toggleAttribute(NO_COMMANDS, isOurs(event));
  };
  /** @param {KeyboardEvent} event */
  const stop = (event) => {
    if (isOurs(event)) event.stopPropagation();
  };
  window.addEventListener("keydown", mark, true);
  root.addEventListener("keydown", stop);
  return () => {
    window.removeEventListener("keydown", mark, true);
    root.removeEventListener("keydown", stop);
  };
}

/**
 * Let Escape close what a button has opened; the button gets the focus back.
 * @param {() => HTMLElement | null | undefined} opener the button that closes it, while it is open
 * @param {...HTMLElement} places where the key is heard
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
