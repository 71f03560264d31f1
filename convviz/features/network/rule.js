// An opened operation over the maps: its numbers at one place, forward and backward, and why. Back keeps the place.
import { element, setStyle } from "../../web/base/dom.js";
import { cssColor, formatNumber, needsWhiteInk } from "../../web/base/format.js";
import { rich } from "../../web/base/rich_text.js";
import { button } from "../../web/tabs/pane_elements.js";
import { upTo } from "../../web/rules/shapes_and_indices.js";
import { partsOf, readPlanes } from "./planes.js";
import { openedAt } from "./rule_data.js";
import { cellText, nameOf, say } from "./sentences.js";

/**
 * @import { Colours } from "./column.js"
 * @import { RuleCell, RulePart } from "./rule_data.js"
 * @import { Seen } from "./reader_sentences.js"
 */

const LINES = [10, 6]; // numbers of a list in a line; in a narrow page
const NARROW = 600; // pixels

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
    const { sources, output, sentences } = openedAt(seen, operation, cell);
    this.#title.textContent = cellText(operations[operation], cell);
    this.el.setAttribute("aria-label", say("rule.label", { cell: cellText(operations[operation], cell) }));
    const side = (/** @type {"value" | "gradient"} */ which) => {
      const table = (/** @type {RulePart} */ part) =>
        numbers(seen, colours, part, which, LINES[Number(this.el.clientWidth < NARROW)]);
      const arrow = element(
        "span.cv-symbol",
        { "aria-hidden": "true" },
        which === "value" ? "\u2192" : "\u2190",
      );
      const word = element("h5", say(which === "value" ? "rule.forward" : "rule.backward"));
      const tables = element("div.cv-network-rule-tables", ...sources.map(table), arrow, table(output));
      return element("div.cv-network-rule-row", word, tables);
    };
    const words = element("div.cv-network-rule-words", ...sentences.map((line) => rich("p", line)));
    this.#body.replaceChildren(words, side("value"), side("gradient"));
  }
}

/** @param {Seen} seen @param {Colours} colours @param {RulePart} part @param {"value" | "gradient"} which @param {number} line */
function numbers({ network, back }, colours, { operation, rows, left, weight }, which, line) {
  const packed = (weight ? network.weights : which === "value" ? network.planes : back.planes)?.[operation];
  const largest = Math.max(...rows.flat().map((cell) => Math.abs(cell?.gradient?.value ?? 0)));
  const limit = weight && which === "gradient" ? largest || 1 : packed ? readPlanes(packed).limit : 1;
  const shade = which === "value" ? colours.value : colours.gradient;
  const cellOf = (/** @type {RuleCell | null} */ cell) => {
    const read = cell?.[which];
    if (!cell || !read) return element("td", cell ? "?" : "");
    const color = partsOf(shade(read.value / limit));
    const isKnown = !Number.isNaN(read.value) || !read.rounding;
    const box = element("td", isKnown ? formatNumber(read.value) : "?");
    setStyle(box, "--fill", cssColor(color));
    box.classList.toggle("cv-white", needsWhiteInk(color));
    box.classList.toggle("cv-here", cell.here);
    box.classList.toggle("cv-unread", !cell.read);
    return box;
  };
  const [list, ...others] = rows;
  const lines = others.length
    ? rows
    : upTo(Math.ceil(list.length / line)).map((at) => list.slice(at * line, (at + 1) * line));
  const body = element("tbody", ...lines.map((row) => element("tr", ...row.map(cellOf))));
  const name = weight ?? nameOf(network.operations[operation]);
  const more = left ? say("rule.left", { count: left }) : "";
  const caption = element("caption", [name, more].filter(Boolean).join(" "));
  return element("table.cv-network-numbers", caption, body);
}
