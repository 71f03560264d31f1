// Copies text, even where the page may not use the clipboard (no https, a frame, an old browser).
import { element, focusOf, listen } from "./dom.js";
import { say } from "./board_sentences.js";

export const NOT_COPIED = say("copy.selected");

/**
 * @returns {{ el: HTMLElement, copy: (text: string) => Promise<boolean>, close: () => void }} copy: whether
 *   it worked; else `el` shows the text selected
 */
export function createClipboard() {
  const box = element("textarea.cv-copybox", {
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

  // It hangs over the board. Another window takes no focus from it within the page.
  listen(box, "blur", () => void (focusOf(box) === box || close()));

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
      // Forbidden as well: the text stays selected, for Ctrl+C.
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
