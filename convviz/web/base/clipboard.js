// @ts-check
// Copying text where the page may not use the clipboard: on a host without https, in a frame that was not
// given the right, in an old browser.
import WORDS from "../../facts/words/board.json" with { type: "json" };
import { element } from "./dom.js";
import { sentences } from "./words.js";

const say = sentences(WORDS);

/** What to say when the text stays selected. */
export const NOT_COPIED = say("copy.selected");

/**
 * @returns {{ el: HTMLElement, copy: (text: string) => Promise<boolean>, close: () => void }} `el`: out of
 *   sight, and shown with the whole text selected when nothing else helps; `copy`: whether the
 *   text is on the clipboard
 */
export function createCopier() {
  const box = element("textarea", {
    class: "cv-copybox",
    readonly: "",
    tabindex: "-1",
    "aria-label": say("copy.box"),
    rows: "5",
    hidden: "",
  });

  function close() {
    box.hidden = true;
    box.value = "";
  }

  /** @param {string} text */
  function copySelected(text) {
    const before = /** @type {HTMLElement | null} */ (document.activeElement);
    box.value = text;
    box.hidden = false;
    box.focus();
    box.select();
    let copied = false;
    try {
      copied = document.execCommand("copy");
    } catch {
      // Forbidden as well: the text stays selected, for the person's own Ctrl+C.
    }
    if (!copied) return false;
    close();
    before?.focus();
    return true;
  }

  return {
    el: box,
    close,
    async copy(text) {
      close();
      try {
        await navigator.clipboard.writeText(text);
        return true;
      } catch {
        return copySelected(text);
      }
    },
  };
}
