// @ts-check
// What the hatchings mean: the key of the marks that cells have.
import { element } from "../base/dom.js";
import { BANDS } from "./grid_marks.js";

export const KINDS = /** @type {const} */ (["padding", "inserted", "remainder", "unread"]);

/** What the hatchings mean; those alone that are there. */
export function createMarksKey() {
  const entry = (kind) => element("span", { class: `cv-key-${kind}`, hidden: "" }, element("i", { "aria-hidden": "true" }), "…");
  return element("p", { class: "cv-key" }, ...KINDS.map(entry));
}

/** The kinds of cells in the picture that are no data. @param {any} structure @returns {Set<string>} */
export function marksOf({ equations }) {
  const found = new Set();
  for (const item of equations.flatMap(({ items }) => items)) {
    if (!item.key) continue;
    for (const letter of item.rows + item.columns) if (letter !== "d") found.add(BANDS[letter]);
    if (item.unread_rows.length + item.unread_columns.length) found.add("unread");
  }
  return found;
}
