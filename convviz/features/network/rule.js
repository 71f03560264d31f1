// An opened operation over the maps: its numbers at one place, forward and backward, and why. Back keeps the place.
import { element, setStyle } from "../../web/base/dom.js";
import { cssColor, formatNumber, needsWhiteInk } from "../../web/base/format.js";
import { rich } from "../../web/base/rich_text.js";
import { button } from "../../web/tabs/pane_elements.js";
import { partsOf, readPlanes } from "./planes.js";
import { openedAt } from "./rule_data.js";
import { cellText, nameOf, say } from "./sentences.js";

/**
 * @import { Colours } from "./column.js"
 * @import { RuleCell, RulePart } from "./rule_data.js"
 * @import { Seen } from "./reader_sentences.js"
 */

export class Rule {
  #title = element("h4");
  #back = button(`\u2190 ${say("rule.back")}`, () => void this.close());
  #body = element("div.cv-network-rule-body");
  el = element(
    "section.cv-network-rule",
    { hidden: "" },
    element("header", this.#back, this.#title),
    this.#body,
  );
  #closed;
  /** @type {{ operation: number, cell: number[] } | null} */
  #at = null;

  /** @param {() => void} closed */
  constructor(closed) {
    this.#closed = closed;
  }

  isOpen = () => !this.el.hidden;

  /** @returns {boolean} whether it was open */
  close() {
    if (this.el.hidden) return false;
    this.el.hidden = true;
    this.#at = null;
    this.#closed();
    return true;
  }

  /** @param {Seen} seen @param {Colours} colours @param {number} operation @param {number[]} cell */
  open(seen, colours, operation, cell) {
    this.#at = { operation, cell };
    this.el.hidden = false;
    this.refresh(seen, colours);
    this.#back.focus({ preventScroll: true });
  }

  /** @param {Seen} seen @param {Colours} colours */
  refresh(seen, colours) {
    if (!this.#at) return;
    const { operation, cell } = this.#at;
    const { operations } = seen.network;
    const { sources, output, told } = openedAt(seen, operation, cell);
    this.#title.textContent = cellText(operations[operation], cell);
    this.el.setAttribute("aria-label", say("rule.label", { cell: cellText(operations[operation], cell) }));
    const side = (/** @type {"value" | "gradient"} */ which) => {
      const table = (/** @type {RulePart} */ part) => numbers(seen, colours, part, which);
      const arrow = element(
        "span.cv-symbol",
        { "aria-hidden": "true" },
        which === "value" ? "\u2192" : "\u2190",
      );
      const word = element("h5", say(which === "value" ? "rule.forward" : "rule.backward"));
      return element("div.cv-network-rule-row", word, ...sources.map(table), arrow, table(output));
    };
    const words = element("div.cv-network-rule-words", ...told.map((line) => rich("p", line)));
    this.#body.replaceChildren(words, side("value"), side("gradient"));
  }
}

/** @param {Seen} seen @param {Colours} colours @param {RulePart} part @param {"value" | "gradient"} which */
function numbers({ network, back }, colours, { operation, rows, left }, which) {
  const packed = which === "value" ? network.planes[operation] : back.planes[operation];
  const limit = packed ? readPlanes(packed).limit : 1;
  const shade = which === "value" ? colours.value : colours.gradient;
  const cellOf = (/** @type {RuleCell | null} */ cell) => {
    const read = cell?.[which];
    if (!cell || !read) return element("td", cell ? "?" : "");
    const color = partsOf(shade(read.value / limit));
    const box = element("td", formatNumber(read.value));
    setStyle(box, "--fill", cssColor(color));
    box.classList.toggle("cv-white", needsWhiteInk(color));
    box.classList.toggle("cv-here", cell.here);
    box.classList.toggle("cv-unread", !cell.read);
    return box;
  };
  const body = element("tbody", ...rows.map((row) => element("tr", ...row.map(cellOf))));
  const name = nameOf(network.operations[operation]);
  const more = left ? say("rule.left", { count: left }) : "";
  const caption = element("caption", [name, more].filter(Boolean).join(" "));
  return element("table.cv-network-numbers", caption, body);
}
