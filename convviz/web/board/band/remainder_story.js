// The remainder's story, with a button for each size nearby.
import { element, focusOf, makeButton } from "../../base/dom.js";

/** @import { NearSize, RemainderStory } from "../../picture/remainder_sentences.js" */

/** @param {(size: number[]) => void} onSize */
export function createRemainder(onSize) {
  const text = element("div");
  const sizes = element("div.cv-sizes", { role: "group" });
  const el = element("div.cv-remainder", { hidden: "" }, text, sizes);
  let drawn = "";

  /** @param {NearSize} near */
  function createSize({ label, note, size, current }) {
    return makeButton(
      { "data-size": size.join(), "aria-pressed": String(current) },
      [label, element("span", note)],
      () => onSize(size),
    );
  }

  return {
    el,
    /** @param {RemainderStory | null} story */
    set(story) {
      el.hidden = !story;
      if (JSON.stringify(story) === drawn) return;
      drawn = JSON.stringify(story);
      sizes.setAttribute("aria-label", story?.named ?? "");
      text.replaceChildren(...(story?.paragraphs ?? []).map((paragraph) => element("p", paragraph)));
      const held = sizes.contains(focusOf(sizes))
        ? /** @type {HTMLElement} */ (focusOf(sizes)).dataset.size
        : null;
      sizes.replaceChildren(...(story?.sizes ?? []).map(createSize));
      // Focus stays on the same size.
      if (held)
        /** @type {HTMLElement | null} */ (sizes.querySelector(`[data-size="${held}"]`))?.focus({
          preventScroll: true,
        });
    },
  };
}
