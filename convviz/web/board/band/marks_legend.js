// The key of marks, in the band where each occurs first.
import { element, setHidden, setText } from "../../base/dom.js";
import { BANDS } from "../grid/grid_marks.js";
import { explain } from "../../base/help.js";
import { say } from "../../base/board_sentences.js";

const KINDS = /** @type {const} */ (["padding", "copy", "inserted", "remainder", "unread", "beyond", "pair"]);

export function createMarksKey() {
  const entries = KINDS.map((kind) =>
    element(`span.cv-key-${kind}`, { hidden: "" }, element("i", { "aria-hidden": "true" }), element("span")),
  );
  const el = element("p.cv-key", { role: "group", "aria-label": say("key") }, ...entries);
  const show = (kind, there) => setHidden(entries[KINDS.indexOf(kind)], !there);
  return {
    el,
    /**
     * "met": explained by a band before.
     * @param {RowItem[]} items @param {Set<string>} met @param {Record<string, string>} words
     * @param {boolean} transposed
     */
    set(items, met, words, transposed) {
      const found = marksOf(items);
      KINDS.forEach((kind, index) => {
        const label = /** @type {HTMLElement} */ (entries[index].lastChild);
        explain(label, `key.${kind}`, transposed);
        setText(label, kind === "remainder" || kind === "unread" ? words[kind] : say(`key.${kind}`));
        // shown by beyond() and pair()
        if (kind === "beyond" || kind === "pair") return;
        show(kind, found.has(kind));
        entries[index].classList.toggle("cv-met", met.has(kind));
      });
      for (const kind of found) met.add(kind);
    },
    /** @param {boolean} there */
    beyond: (there) => show("beyond", there),
    /**
     * It comes with the pointer: where it needed a line of its own, as beside two others or without any, what is
     * pointed at would move.
     * @param {boolean} there
     */
    pair(there) {
      show(
        "pair",
        there && el.querySelectorAll(":scope > :not([hidden], .cv-met, .cv-key-pair)").length === 1,
      );
    },
  };
}

/** @param {RowItem[]} items @returns {Set<string>} */
function marksOf(items) {
  const found = new Set();
  for (const item of items) {
    if (!item.key) continue;
    for (const letter of item.rows + item.columns) if (letter !== "d") found.add(BANDS[letter]);
    if (item.unread_rows.length + item.unread_columns.length) found.add("unread");
  }
  return found;
}
