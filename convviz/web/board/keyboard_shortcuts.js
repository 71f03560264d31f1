import { isBare, isUndo, keepKeys } from "../base/keys.js";

/**
 * Ctrl+Z, Ctrl+Shift+Z or Ctrl+Y, a band's number, Esc: everywhere in the app but in fields.
 * @param {Shared} board @param {HTMLElement} root @param {boolean} own the page is the app's: they work
 * without focus, too
 */
export function followKeys(board, root, own) {
  const app = /** @type {HTMLElement} */ (root.closest(".cv-app") ?? root);
  /** @param {KeyboardEvent} event */
  const onKey = (event) => {
    const target = /** @type {HTMLElement} */ (event.target);
    if (
      target.closest("input:not([type=range], [type=checkbox]), textarea, [contenteditable=true]") ||
      event.defaultPrevented
    )
      return;
    const bands = [...root.querySelectorAll(".cv-equation")].map(
      (band) => /** @type {HTMLElement} */ (band).dataset.equation ?? "",
    );
    if (isUndo(event))
      board.model.send({ type: event.key.toLowerCase() === "y" || event.shiftKey ? "redo" : "undo" });
    else if (isBare(event) && bands[Number(event.key) - 1]) board.focusBand(bands[Number(event.key) - 1]);
    else if (!(event.key === "Escape" && board.escape())) return;
    event.preventDefault();
  };
  /** @param {KeyboardEvent} event */
  const onBody = (event) => own && event.target === document.body && onKey(event);
  const letGo = keepKeys(app, (event) => isBare(event) || isUndo(event));
  app.addEventListener("keydown", onKey);
  document.addEventListener("keydown", onBody);
  return () => {
    letGo();
    document.removeEventListener("keydown", onBody);
    app.removeEventListener("keydown", onKey);
  };
}
