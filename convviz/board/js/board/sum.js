// @ts-check
// The sum behind a cell, written out: every product with its two factors, each in the colour of its cell.
import WORDS from "../../../facts/words/board.json" with { type: "json" };
import { element, focusOf, makeButton } from "../base/dom.js";
import { formatNumber, needsWhiteInk } from "../base/format.js";
import { setTinted, tinted } from "./quantities.js";
import { sentences } from "../base/words.js";

const say = sentences(WORDS);
const FOLD_ABOVE = 10;
const FOLDED = 6;

/**
 * @import { Factor } from "../picture/terms.js"
 * @typedef {(cells: Factor[] | null) => void} OnTerm what to light while the pointer or the focus is on a
 *   term
 * @typedef {(panel: string, value: number | undefined) => number[]} Colors
 * @typedef {{ cell: import("../base/cell_place.js").Place, label: string, factors: string, value: number |
 *   undefined, terms: Factor[][], nothing?: string, minus?: boolean, after?: string }} WrittenSum factors:
 *   the product in words; terms: as lists of factors;
 * nothing: why there are none; minus: the second is taken away from the first, and `factors` says so; after:
 *   what
 *   is said behind it
 */

/** @param {Factor & { value: number }} factor @param {Colors} colors */
function createFactor({ panel, row, column, value }, colors) {
  const color = colors(panel, value);
  const text = formatNumber(value);
  const attributes = {
    class: "cv-factor",
    "data-panel": panel,
    "data-cell": `${row},${column}`,
    "data-value": String(value),
    style: `background: rgb(${color.map(Math.round).join()}); color: ${needsWhiteInk(color) ? "#fff" : "#000"}`,
  };
  return element("span", attributes, value < 0 ? `(${text})` : text);
}

/** @param {Factor[]} factors @param {Colors} colors @param {OnTerm} onTerm */
function createTerm(factors, colors, onTerm) {
  const term = element("button", { type: "button", class: "cv-product" });
  factors.forEach((factor, index) =>
    term.append(
      ...(index ? ["\u00b7"] : []),
      createFactor(/** @type {Factor & { value: number }} */ (factor), colors),
    ),
  );
  const light = (on) => () => onTerm(on ? factors.filter((factor) => factor.shown) : null);
  for (const name of ["pointerenter", "focus"]) term.addEventListener(name, light(true));
  for (const name of ["pointerleave", "blur"]) term.addEventListener(name, light(false));
  return term;
}

/** What stands before its terms. @param {WrittenSum} sum */
function createHead({ label, factors, minus }) {
  const rule = tinted(factors ? `${minus ? "" : "\u03a3 "}${factors} = ` : "");
  return element("code", {}, ...tinted(`${label} = `), element("span", { class: "cv-sum-rule" }, ...rule));
}

/** @param {OnTerm} onTerm */
export function createSum(onTerm) {
  const el = element("div", { class: "cv-sum", role: "group", "aria-label": say("sum") });
  let open = false;
  let shown = ""; // which cell: a long sum stays open while its numbers move
  let standing = ""; // all that is written: a button that is replaced under the pointer hears no click

  /** @param {WrittenSum} sum @param {Colors} colors @param {Factor[][]} visible @param {boolean} folded */
  function write(sum, colors, visible, folded) {
    const { value, terms, nothing = "", minus, after } = sum;
    const held = [...el.querySelectorAll("button")].indexOf(/** @type {HTMLButtonElement} */ (focusOf(el)));
    onTerm(null); // a term that is replaced never tells that the pointer has left it
    const products = visible.flatMap((term, index) => [
      ...(index ? [minus ? " \u2212 " : " + "] : []),
      createTerm(term, colors, onTerm),
    ]);
    const words = folded ? say("sum.all", { count: terms.length }) : say("sum.fewer");
    const more = makeButton({ class: "cv-more" }, words, () => {
      open = !open;
      show(sum, colors);
      /** @type {HTMLElement | null} */ (el.querySelector(".cv-more"))?.focus({ preventScroll: true });
    });
    el.replaceChildren(
      createHead(sum),
      ...(products.length ? products : [nothing]),
      ...(terms.length > FOLD_ABOVE ? [folded ? " + \u2026 " : " ", more] : []),
      " = ",
      element("output", { "data-value": String(value) }, formatNumber(/** @type {number} */ (value))),
      ...(after ? [` \u00b7 ${after}`] : []),
    );
    el.dataset.terms = String(terms.length);
    el.toggleAttribute("data-open", open);
    el.querySelectorAll("button")[held]?.focus({ preventScroll: true });
  }

  /** @param {WrittenSum} sum @param {Colors} colors */
  function show(sum, colors) {
    const { cell, label, factors, value, terms, after = "" } = sum;
    const key = `${cell.panel} ${cell.row},${cell.column}`;
    open = open && key === shown;
    shown = key;
    const folded = terms.length > FOLD_ABOVE && !open;
    const visible = folded ? terms.slice(0, FOLDED) : terms;
    const tints = visible.flat().map((factor) => colors(factor.panel, factor.value));
    // All terms, for those that are folded away are opened from here; in JSON, nan and infinity would be the
    // same.
    const wanted = JSON.stringify([label, factors, value, after, folded, terms, tints], (_, part) =>
      typeof part === "number" ? String(part) : part,
    );
    if (wanted === standing) return;
    standing = wanted;
    write(sum, colors, visible, folded);
  }

  /** @param {string} text shown instead of a sum */
  function tell(text) {
    shown = "";
    el.removeAttribute("data-open");
    el.removeAttribute("data-terms");
    onTerm(null);
    setTinted(el, text);
    standing = text;
  }

  return { el, show, say: tell };
}
