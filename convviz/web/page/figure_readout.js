// What a bare figure says of the cell that is pointed at, over the name of the cell's panel.
import { listen } from "../base/dom.js";

/** @param {HTMLElement} picture */
export function sayBesidePanel(picture) {
  listen(picture, ["pointermove", "focusin"], ({ target }) => {
    const panel = /** @type {Element} */ (target).closest(".cv-panel");
    const area = panel?.querySelector(".cv-area");
    const under = /** @type {HTMLElement | null} */ (picture.querySelector(".cv-under"));
    if (!area || !under) return;
    const [box, frame] = [area, picture].map((node) => node.getBoundingClientRect());
    under.style.setProperty("--cv-at-x", `${box.left - frame.left}px`);
    under.style.setProperty("--cv-at-y", `${box.top - frame.top}px`);
  });
}
