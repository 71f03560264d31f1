// A finger that scrolls the page by a slider's track does not move it.
import { listen } from "./dom.js";

/**
 * A browser sets a slider where a finger comes down, before it knows that the finger scrolls: then it cancels the
 * pointer, and the slider goes back.
 * @param {HTMLElement} root @returns {() => void} stop
 */
export function keepSliders(root) {
  /** @type {Map<number, { slider: HTMLInputElement, value: string }>} */
  const touched = new Map(); // by the pointer's id
  const ends = [
    listen(root, "pointerdown", ({ pointerId, pointerType, target }) => {
      const isSlider = target instanceof HTMLInputElement && target.type === "range";
      if (isSlider && pointerType === "touch")
        touched.set(pointerId, { slider: target, value: target.value });
    }),
    listen(root, "pointerup", ({ pointerId }) => touched.delete(pointerId)),
    listen(root, "pointercancel", ({ pointerId }) => {
      const { slider, value } = touched.get(pointerId) ?? {};
      touched.delete(pointerId);
      if (!slider || value === undefined || slider.value === value) return;
      slider.value = value;
      slider.dispatchEvent(new Event("input", { bubbles: true }));
    }),
  ];
  return () => {
    for (const end of ends) end();
  };
}
