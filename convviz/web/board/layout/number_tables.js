// All numbers as tables, kept up only while open. export/still_picture.py writes them without scripts.
import { element, setText } from "../../base/dom.js";
import { formatNumber } from "../../base/format.js";
import { roleOf } from "../grid/grid_marks.js";
import { say } from "../../base/board_sentences.js";

export class Tables {
  // It scrolls: the keyboard must reach it.
  #body = element("div.cv-tables-body", { role: "region", tabindex: "0", "aria-label": say("tables") });
  el = element("details.cv-tables", element("summary", say("tables")), this.#body);
  /** @type {Map<string, HTMLElement[]>} row by row */
  #cells = new Map();
  /** @type {Structure | null} */
  #made = null;

  /** @param {() => void} onOpen */
  constructor(onOpen) {
    this.el.addEventListener("toggle", () => this.el.open && onOpen());
  }

  /** @param {Structure} structure */
  #build(structure) {
    this.#made = structure;
    this.#cells.clear();
    const tables = [];
    for (const item of structure.equations.flatMap(({ items }) => items)) {
      // Each tensor has one table, even if several panels show it.
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
        return element("tr", createHeader("row", row, role), ...line);
      });
      this.#cells.set(item.name, own);
      tables.push(
        element(
          "table",
          { "data-table": item.name },
          element("caption", say("panel.shape", { name: item.label, shape: item.shape })),
          element("thead", element("tr", element("td"), ...head)),
          element("tbody", ...lines),
        ),
      );
    }
    this.#body.replaceChildren(...tables);
  }

  /** @param {Structure} structure @param {Record<string, ArrayLike<number>>} planes */
  show(structure, planes) {
    if (!this.el.open) return;
    if (this.#made !== structure) this.#build(structure);
    for (const [name, own] of this.#cells)
      own.forEach((cell, index) => setText(cell, formatNumber(planes[name][index])));
  }
}

/** With its role unless data. @param {string} scope @param {number} index @param {string} role */
function createHeader(scope, index, role) {
  return element("th", { scope }, String(index), ...(role ? [" ", element("small", role)] : []));
}
