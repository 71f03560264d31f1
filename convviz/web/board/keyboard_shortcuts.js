import { listen } from "../base/dom.js";
import { TYPING, isBare, isUndo, isUnfocused, keepKeys } from "../base/keys.js";

/**
 * Ctrl+Z, Ctrl+Shift+Z or Ctrl+Y, a band's number, Esc: everywhere in the app but in fields.
 * @param {Shared} board @param {HTMLElement} root @param {boolean} own the page is the app's: they work
 * without focus, too
 */
export function followShortcuts(board, root, own) {
  const app = /** @type {HTMLElement} */ (root.closest(".cv-app") ?? root);
  /** @param {KeyboardEvent} event */
  const onKey = (event) => {
    const target = /** @type {HTMLElement} */ (event.target);
    if (target.closest(TYPING) || event.defaultPrevented) return;
    const bands = [...root.querySelectorAll(".cv-equation")].map(
      (band) => /** @type {HTMLElement} */ (band).dataset.equation ?? "",
    );
    if (isUndo(event))
      board.model.send({ type: event.key.toLowerCase() === "y" || event.shiftKey ? "redo" : "undo" });
    else if (isBare(event) && bands[Number(event.key) - 1]) board.focusBand(bands[Number(event.key) - 1]);
    else if (!(event.key === "Escape" && board.escape())) return;
    event.preventDefault();
  };
  const ends = [
    keepKeys(app, (event) => isBare(event) || isUndo(event)),
    listen(app, "keydown", onKey),
    listen(document, "keydown", (event) => own && isUnfocused(event.target, app) && onKey(event)),
  ];
  return () => ends.forEach((end) => end());
}
