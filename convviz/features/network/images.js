// Images to choose from, where the page computes the network itself.
import { element } from "../../web/base/dom.js";
import { checkOne, walkAlong } from "../../web/base/roving_tabindex.js";
import { say } from "./sentences.js";

/** Ink by its strength; the sheet turns it over in the dark. @param {ArrayLike<number>} ink 0 to 1 @param {number[]} size */
function imageOf(ink, [height, width]) {
  const canvas = element("canvas", { width: String(width), height: String(height) });
  const pixels = new ImageData(width, height);
  for (let at = 0; at < ink.length; at++) pixels.data[4 * at + 3] = Math.round(255 * ink[at]);
  canvas.getContext("2d")?.putImageData(pixels, 0, 0);
  return canvas;
}

/** @param {(index: number) => void} choose */
export function createImages(choose) {
  const row = element("div.cv-seg", { role: "radiogroup", "aria-label": say("images") });
  const el = element("div.cv-network-images", element("span.cv-network-label", say("images")), row);
  const buttons = () => /** @type {HTMLElement[]} */ ([...row.children]);
  let chosen = 0;
  const pick = (/** @type {number} */ index) => {
    chosen = index;
    mark();
    choose(index);
  };
  const mark = () => checkOne(buttons(), (_, index) => index === chosen);
  walkAlong(row, buttons, (next) => pick(buttons().indexOf(next)));
  return {
    el,
    /** @param {NetworkSource} source */
    set({ inputs, chosen: now = 0 }) {
      chosen = now;
      el.hidden = !inputs?.length;
      if (!inputs || row.childElementCount === inputs.length) return;
      row.replaceChildren(
        ...inputs.map(({ label, ink, size }, index) => {
          const words = say("image", { number: index + 1, label });
          const each = element(
            "button",
            {
              type: "button",
              role: "radio",
              title: words,
              "aria-label": words,
              "data-variant": `image_${index}`,
            },
            ink && size ? imageOf(ink, size) : String(label),
          );
          each.addEventListener("click", () => pick(index));
          return each;
        }),
      );
      mark();
    },
  };
}
