// A cell's sum: each product with its factors in their cells' colours.
import { element, focusOf, listen, makeButton } from "../../base/dom.js";
import { formatNumber, inked } from "../../base/format.js";
import { rove } from "../../base/roving_tabindex.js";
import { setColoured, coloured } from "../band/coloured_names.js";
import { say } from "../../base/board_sentences.js";

const FOLD_ABOVE = 10;
const FOLDED = 6;

/**
 * @import { Factor } from "../../picture/cell_products.js"
 * @typedef {(cells: Factor[] | null) => void} OnTerm lit while pointed at
 * @typedef {(panel: string, value: number | undefined) => number[]} Colors
 * @typedef {{ cell: Place, label: string, factors: string, value: number | undefined, terms: Factor[][],
 *   nothing?: string, minus?: boolean, after?: string }} WrittenSum factors: in words; terms: lists of
 *   factors; nothing: why none; minus: the second is subtracted; after: said behind
 */

/** @param {Factor & { value: number }} factor @param {Colors} colors */
function createFactor({ panel, row, column, value }, colors) {
  return factorSpan(value, colors(panel, value), { "data-panel": panel, "data-cell": `${row},${column}` });
}

/** @param {number} value @param {number[]} color @param {Record<string, string>} attributes */
export function factorSpan(value, color, attributes) {
  const text = formatNumber(value);
  const { fill, ink } = inked(color);
  const style = `background: ${fill}; color: ${ink}`;
  const all = { style, "data-value": String(value), ...attributes };
  return element("span.cv-factor", all, value < 0 ? `(${text})` : text);
}

/** @param {Factor[]} factors @param {Colors} colors @param {OnTerm} onTerm */
function createTerm(factors, colors, onTerm) {
  const parts = factors.flatMap((factor, index) => [
    ...(index ? ["\u00b7"] : []),
    createFactor(/** @type {Factor & { value: number }} */ (factor), colors),
  ]);
  const term = element("button.cv-product", { type: "button" }, ...parts);
  listen(term, ["pointerenter", "focus"], () => onTerm(factors.filter(({ shown }) => shown)));
  listen(term, ["pointerleave", "blur"], () => onTerm(null));
  return term;
}

/** @param {WrittenSum} sum */
function createHead({ label, factors, minus }) {
  const rule = coloured(factors ? `${minus ? "" : "\u03a3 "}${factors} = ` : "");
  return element("code", ...coloured(`${label} = `), element("span.cv-sum-rule", ...rule));
}

export class Sum {
  el = element("div.cv-sum", { role: "group", "aria-label": say("sum") });
  #open = false;
  #shown = ""; // a long sum stays open while its numbers move
  #standing = ""; // all that is written: replaced buttons hear no click
  #onTerm;
  #buttons = () => [...this.el.querySelectorAll("button")];
  /** The products are one stop. */
  #beginStop = rove(this.el, () => this.#buttons().filter((button) => button.className === "cv-product"));

  /** @param {OnTerm} onTerm */
  constructor(onTerm) {
    this.#onTerm = onTerm;
  }

  /** @param {WrittenSum} sum @param {Colors} colors @param {Factor[][]} visible @param {boolean} folded */
  #write(sum, colors, visible, folded) {
    const { value, terms, nothing = "", minus, after } = sum;
    const held = this.#buttons().indexOf(/** @type {HTMLButtonElement} */ (focusOf(this.el)));
    this.#onTerm(null); // replaced terms hear no leave
    const products = visible.flatMap((term, index) => [
      ...(index ? [minus ? " \u2212 " : " + "] : []),
      createTerm(term, colors, this.#onTerm),
    ]);
    const words = folded ? say("sum.all", { count: terms.length }) : say("sum.fewer");
    const more = makeButton("cv-more", words, () => {
      this.#open = !this.#open;
      this.show(sum, colors);
      /** @type {HTMLElement | null} */ (this.el.querySelector(".cv-more"))?.focus({ preventScroll: true });
    });
    this.el.replaceChildren(
      createHead(sum),
      ...(products.length ? products : [nothing]),
      element(
        "span.cv-sum-end",
        ...(terms.length > FOLD_ABOVE ? [folded ? " + \u2026 " : " ", more] : []),
        " = ",
        element("output", { "data-value": String(value) }, formatNumber(/** @type {number} */ (value))),
        ...(after ? [` \u00b7 ${after}`] : []),
      ),
    );
    this.el.dataset.terms = String(terms.length);
    this.el.toggleAttribute("data-open", this.#open);
    this.#beginStop();
    this.#buttons()[held]?.focus({ preventScroll: true });
  }

  /** @param {WrittenSum} sum @param {Colors} colors */
  show(sum, colors) {
    const { cell, label, factors, value, terms, after = "" } = sum;
    const key = `${cell.panel} ${cell.row},${cell.column}`;
    this.#open = this.#open && key === this.#shown;
    this.#shown = key;
    const folded = terms.length > FOLD_ABOVE && !this.#open;
    const visible = folded ? terms.slice(0, FOLDED) : terms;
    const tints = visible.flat().map((factor) => colors(factor.panel, factor.value));
    // All terms, folded ones too; JSON would merge nan and infinity.
    const wanted = JSON.stringify([label, factors, value, after, folded, terms, tints], (_, part) =>
      typeof part === "number" ? String(part) : part,
    );
    if (wanted === this.#standing) return;
    this.#standing = wanted;
    this.#write(sum, colors, visible, folded);
  }

  /** @param {string} text */
  say(text) {
    this.#shown = "";
    this.el.removeAttribute("data-open");
    this.el.removeAttribute("data-terms");
    this.#onTerm(null);
    setColoured(this.el, text);
    this.#standing = text;
  }
}
