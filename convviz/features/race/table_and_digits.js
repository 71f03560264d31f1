// What a race comes to: the article's table, and the digits that somebody misclassified, each a button.
import { bytesOf } from "../../web/base/base64_bytes.js";
import { element, setText } from "../../web/base/dom.js";
import { tableHead, tableRow, button } from "../../web/tabs/pane_elements.js";
import { say, sayOfRace } from "./sentences.js";

const SIDE = 28;

/**
 * @typedef {{ headings: string[], rows: string[][], theirs: number, note: string }} Table
 * @typedef {{ at: number, label: string, found: string }} Digit
 * @typedef {{ seed: number, of: number, images: Record<string, string>, layers: { name: string, count:
 *   number, digits: Digit[] }[] }} Mistakes by lab/page_data.py
 */

/** The article's rows come last. A recorded race has its words in English. */
export function createTable() {
  const table = element("table");
  const note = element("p.cv-muted", sayOfRace("table.note"));
  const attributes = { tabindex: "0", role: "group", "aria-label": say("table") };
  const wide = element("div.cv-race-wide", attributes, table);
  return {
    el: element("section", { "data-part": "table" }, element("h4", say("table")), wide, note),
    /** @param {Table} data */
    set({ headings, rows, theirs }) {
      const own = rows.length - theirs;
      const head = headings.map((_, at) =>
        sayOfRace(/** @type {"table.heading.0"} */ (`table.heading.${at}`)),
      );
      const made = rows.map(([first, ...rest], at) =>
        at < own
          ? tableRow([first, ...rest])
          : tableRow([sayOfRace(/** @type {"table.theirs.0"} */ (`table.theirs.${at - own}`)), ...rest], {
              class: "cv-theirs",
            }),
      );
      table.replaceChildren(tableHead(head), element("tbody", ...made));
    },
  };
}

/** @param {(layer: string, digit: Digit) => void} onOpen */
export function createMistakes(onOpen) {
  const title = element("h4");
  const about = element("p");
  const list = element("div");
  const el = element("section.cv-race-mistakes", title, about, list);
  let shown = "";
  return {
    el,
    /** @param {Mistakes | null} data */
    set(data) {
      el.hidden = !data;
      const now = JSON.stringify(data);
      if (!data || now === shown) return; // replaced buttons would lose the focus
      shown = now;
      setText(title, say("mistakes", { seed: data.seed }));
      const { layers, images, of } = data;
      const any = layers.some(({ count }) => count);
      setText(about, any ? say("mistakes.about") : say("mistakes.none", { of }));
      list.replaceChildren(
        ...layers.flatMap(({ name, count, digits }) => {
          const buttons = digits.map((digit) => createDigit(name, digit, images[digit.at], onOpen));
          return [
            element("h5", say("mistakes.of", { layer: name, count, of })),
            element("div.cv-buttons", ...buttons),
          ];
        }),
      );
    },
  };
}

/**
 * @param {string} layer @param {Digit} digit @param {string} pixels
 * @param {(layer: string, digit: Digit) => void} onOpen
 */
function createDigit(layer, digit, pixels, onOpen) {
  const { at, label, found } = digit;
  const canvas = element("canvas", { width: String(SIDE), height: String(SIDE), "aria-hidden": "true" });
  const context = canvas.getContext("2d");
  const image = context?.createImageData(SIDE, SIDE);
  bytesOf(pixels).forEach((ink, cell) => image?.data.set([255 - ink, 255 - ink, 255 - ink, 255], 4 * cell));
  if (image) context?.putImageData(image, 0, 0);
  const words = say("mistake.read", { layer, label, found });
  const names = { "data-layer": layer, "data-at": String(at), "aria-label": words, title: words };
  const seen = element("span", { "aria-hidden": "true" }, say("mistake", { label, found }));
  return button([canvas, seen], () => onOpen(layer, digit), { class: "cv-mistake", ...names });
}
