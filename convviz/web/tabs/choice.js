// @ts-check
// A row of buttons of which one is pressed.
import { element, makeButton } from "../base/dom.js";

/**
 * @param {string} title @param {string[][]} choices value and words of each @param {(value: string) => void}
 *   onChoose
 */
export function createChoice(title, choices, onChoose) {
  const buttons = choices.map(([value, words]) => {
    return makeButton({ class: "cv-button", "data-value": value }, words, () => onChoose(value));
  });
  return {
    el: element(
      "div",
      { class: "cv-buttons", role: "group", "aria-label": title },
      element("span", { class: "cv-muted" }, title),
      ...buttons,
    ),
    /** @param {string} chosen @param {number} [possible] how many of the first can be chosen */
    set(chosen, possible = buttons.length) {
      buttons.forEach((button, index) => {
        button.setAttribute("aria-pressed", String(button.dataset.value === chosen));
        button.disabled = index >= possible;
      });
    },
  };
}
