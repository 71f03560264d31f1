// @ts-check
// The numbers of every panel as tables, for those who cannot see the heatmaps or want to read on. They are
// made and kept up while they are open only: closed, they cost a slider nothing. export/tables.py writes the
// same without scripts.
import WORDS from "../../facts/words/board.json" with { type: "json" };
import { element, setText } from "../base/dom.js";
import { formatNumber } from "../base/format.js";
import { roleOf } from "./grid_marks.js";
import { sentences } from "../base/words.js";

/** @import { Structure } from "../numbers/view.js" */

const say = sentences(WORDS);

export class Tables {
  // It scrolls sideways by itself, so the keyboard must get there.
  #body = element("div", {
    class: "cv-tables-body",
    role: "region",
    tabindex: "0",
    "aria-label": say("tables"),
  });
  el = element("details", { class: "cv-tables" }, element("summary", {}, say("tables")), this.#body);
  /** @type {Map<string, HTMLElement[]>} every panel's cells, row by row */
  #cells = new Map();
  /** @type {Structure | null} the structure that they were made for */
  #made = null;

  /** @param {() => void} onOpen they want to be shown something */
  constructor(onOpen) {
    this.el.addEventListener("toggle", () => this.el.open && onOpen());
  }

  /** @param {Structure} structure */
  #build(structure) {
    this.#made = structure;
    this.#cells.clear();
    const tables = [];
    for (const item of structure.equations.flatMap(({ items }) => items)) {
      // one table a tensor, though two equations show it
      if (!item.key || this.#cells.has(item.name)) continue;
      const { rows, columns } = item;
      const head = [...columns].map((_, column) =>
        createHeader("col", column, roleOf({ ...item, rows: "d", unread_rows: [] }, 0, column)),
      );
      const own = /** @type {HTMLElement[]} */ ([]);
      const lines = [...rows].map((_, row) => {
        const line = [...columns].map(() => element("td"));
        own.push(...line);
        const role = roleOf({ ...item, columns: "d", unread_columns: [] }, row, 0);
        return element("tr", {}, createHeader("row", row, role), ...line);
      });
      this.#cells.set(item.name, own);
      tables.push(
        element(
          "table",
          { "data-table": item.name },
          element("caption", {}, say("panel.shape", { name: item.label, shape: item.shape })),
          element("thead", {}, element("tr", {}, element("td"), ...head)),
          element("tbody", {}, ...lines),
        ),
      );
    }
    this.#body.replaceChildren(...tables);
  }

  /**
   * @param {Structure} structure
   * @param {Record<string, ArrayLike<number>>} planes the numbers of every panel
   */
  show(structure, planes) {
    if (!this.el.open) return;
    if (this.#made !== structure) this.#build(structure);
    for (const [name, own] of this.#cells)
      own.forEach((cell, index) => setText(cell, formatNumber(planes[name][index])));
  }
}

/**
 * A row's or column's number, and what it is where it is not data.
 * @param {string} scope @param {number} index @param {string} role
 */
function createHeader(scope, index, role) {
  return element("th", { scope }, String(index), ...(role ? [" ", element("small", {}, role)] : []));
}
