// @ts-check
// What a race comes to: the article's table, and the digits that somebody misclassified, each a button.
import WORDS from "../../../facts/words/race.json" with { type: "json" };
import { element, makeButton, setText } from "../../base/dom.js";
import { sentences } from "../../base/words.js";

const say = sentences(WORDS);
const SIDE = 28;

/**
 * @typedef {{ headings: string[], rows: string[][], theirs: number, note: string }} Table as lab/shown.py
 * makes it
 */
/** @typedef {{ at: number, label: string, found: string }} Digit */
/**
 * @typedef {{ seed: number, of: number, images: Record<string, string>, layers: { name: string, count:
 * number, digits: Digit[] }[] }} Mistakes
 */

/**
 * Make the table; the article's own rows come last, and look other. A race that was recorded has its words in
 * English: they are said anew.
 */
export function createTable() {
  const head = element("tr");
  const rows = element("tbody");
  const note = element("p", { class: "cv-muted" });
  const table = element("table", {}, element("thead", {}, head), rows);
  const el = element(
    "section",
    { "data-part": "table" },
    element("h4", {}, say("table")),
    element(
      "div",
      { class: "cv-race-wide", tabindex: "0", role: "group", "aria-label": say("table") },
      table,
    ),
    note,
  );
  return {
    el,
    /** @param {Table} data */
    set(data) {
      head.replaceChildren(
        ...data.headings.map((_, at) =>
          element("th", { scope: "col" }, say(/** @type {"table.heading.0"} */ (`table.heading.${at}`))),
        ),
      );
      const own = data.rows.length - data.theirs;
      rows.replaceChildren(
        ...data.rows.map(([first, ...rest], at) =>
          element(
            "tr",
            at < own ? {} : { class: "cv-theirs" },
            element(
              "th",
              { scope: "row" },
              at < own ? first : say(/** @type {"table.theirs.0"} */ (`table.theirs.${at - own}`)),
            ),
            ...rest.map((cell) => element("td", {}, cell)),
          ),
        ),
      );
      setText(note, say("table.note"));
    },
  };
}

/** The bytes of a text in base64. @param {string} text */
export const bytesOf = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));

/** @param {(layer: string, digit: Digit) => void} onOpen called with the one that was chosen */
export function createMistakes(onOpen) {
  const title = element("h4");
  const about = element("p");
  const list = element("div");
  const el = element("section", { class: "cv-race-mistakes" }, title, about, list);
  let shown = "";
  return {
    el,
    /** @param {Mistakes | null} data */
    set(data) {
      el.hidden = !data;
      const now = JSON.stringify(data);
      if (!data || now === shown) return; // a button that is about to be pressed stays
      shown = now;
      setText(title, say("mistakes", { seed: data.seed }));
      setText(
        about,
        data.layers.some(({ count }) => count)
          ? say("mistakes.about")
          : say("mistakes.none", { of: data.of }),
      );
      list.replaceChildren(
        ...data.layers.flatMap(({ name, count, digits }) => [
          element("h5", {}, say("mistakes.of", { layer: name, count, of: data.of })),
          element(
            "div",
            { class: "cv-buttons" },
            ...digits.map((digit) => createDigit(name, digit, data.images[digit.at], onOpen)),
          ),
        ]),
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
  return makeButton(
    {
      class: "cv-button cv-mistake",
      "data-layer": layer,
      "data-at": String(at),
      "aria-label": words,
      title: words,
    },
    [canvas, element("span", { "aria-hidden": "true" }, say("mistake", { label, found }))],
    () => onOpen(layer, digit),
  );
}
