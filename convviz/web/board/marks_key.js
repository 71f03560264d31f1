// @ts-check
// What the marks of cells mean, beside the band where one meets them first.
import WORDS from "../../facts/words/board.json" with { type: "json" };
import { element, setHidden, setText } from "../base/dom.js";
import { BANDS } from "./grid_marks.js";
import { explain } from "../base/help.js";
import { sentences } from "../base/words.js";

/** @import { RowItem } from "../picture/payload.js" */

const say = sentences(WORDS);
const KINDS = /** @type {const} */ (["padding", "copy", "inserted", "remainder", "unread", "beyond", "pair"]);

/** @param {string} kind */
function createEntry(kind) {
  const sample = element("i", { "aria-hidden": "true" });
  return element("span", { class: `cv-key-${kind}`, hidden: "" }, sample, element("span", {}));
}

/** The key of one band. */
export function createMarksKey() {
  const entries = KINDS.map(createEntry);
  const el = element("p", { class: "cv-key", role: "group", "aria-label": say("key") }, ...entries);
  const show = (kind, there) => setHidden(entries[KINDS.indexOf(kind)], !there);
  return {
    el,
    /**
     * Those alone that are there; "met" are those that a band before has explained.
     * @param {RowItem[]} items of the equation @param {Set<string>} met
     * @param {Record<string, string>} words of this kind of layer
     * @param {boolean} transposed which of the two it is
     */
    set(items, met, words, transposed) {
      const found = marksOf(items);
      KINDS.forEach((kind, index) => {
        const label = /** @type {HTMLElement} */ (entries[index].lastChild);
        explain(label, `key.${kind}`, transposed);
        setText(label, kind === "remainder" || kind === "unread" ? words[kind] : say(`key.${kind}`));
        // these come and go with the numbers, and with what is pointed at
        if (kind === "beyond" || kind === "pair") return;
        show(kind, found.has(kind));
        entries[index].classList.toggle("cv-met", met.has(kind));
      });
      for (const kind of found) met.add(kind);
    },
    /** @param {boolean} there whether a number is larger than the colours tell */
    beyond: (there) => show("beyond", there),
    /** @param {boolean} there whether small numbers pair the factors of a sum */
    pair: (there) => show("pair", there),
  };
}

/**
 * The kinds of cells in a row that are no data, or never read.
 * @param {RowItem[]} items @returns {Set<string>}
 */
function marksOf(items) {
  const found = new Set();
  for (const item of items) {
    if (!item.key) continue;
    for (const letter of item.rows + item.columns) if (letter !== "d") found.add(BANDS[letter]);
    if (item.unread_rows.length + item.unread_columns.length) found.add("unread");
  }
  return found;
}
