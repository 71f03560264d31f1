// @ts-check
// The sum behind a cell, written out: every product with its two factors, each in the colour of its cell.
import WORDS from "../../../facts/words/board.json" with { type: "json" };
import { element, focusOf } from "../base/dom.js";
import { formatNumber, needsWhiteInk } from "../base/format.js";
import { tinted } from "./quantities.js";
import { sentences } from "../base/words.js";

const say = sentences(WORDS);
const FOLD_ABOVE = 10;
const FOLDED = 6;

/**
 * Make the line that writes a sum out.
 * @param {(cells: any[] | null) => void} onTerm what to light while the pointer or the focus is on a term
 */
export function createSum(onTerm) {
  const el = element("div", { class: "cv-sum", role: "group", "aria-label": say("sum") });
  let open = false;
  let shown = ""; // which cell: a long sum stays open while its numbers move
  let standing = ""; // all that is written: a button that is replaced under the pointer hears no click

  /** @param {any} factor @param {any} colors */
  function createFactor(factor, colors) {
    const color = colors(factor.panel, factor.value);
    const ink = needsWhiteInk(color) ? "#fff" : "#000";
    const text = formatNumber(factor.value);
    return element(
      "span",
      {
        class: "cv-factor",
        "data-panel": factor.panel,
        "data-cell": `${factor.row},${factor.column}`,
        "data-value": String(factor.value),
        style: `background: rgb(${color.map(Math.round).join()}); color: ${ink}`,
      },
      factor.value < 0 ? `(${text})` : text,
    );
  }

  function createTerm(factors, colors) {
    const term = element("button", { type: "button", class: "cv-product" });
    factors.forEach((factor, index) =>
      term.append(...(index ? ["\u00b7"] : []), createFactor(factor, colors)),
    );
    const light = (on) => () => onTerm(on ? factors.filter((factor) => factor.shown) : null);
    for (const name of ["pointerenter", "focus"]) term.addEventListener(name, light(true));
    for (const name of ["pointerleave", "blur"]) term.addEventListener(name, light(false));
    return term;
  }

  return {
    el,

    /** @param {string} text shown instead of a sum */
    say(text) {
      shown = "";
      el.removeAttribute("data-open");
      el.removeAttribute("data-terms");
      onTerm(null);
      if (standing !== text) el.replaceChildren(...tinted(text));
      standing = text;
    },

    /**
     * @param {{ cell: any, label: string, factors: string, value: number, terms: any[][], nothing?: string,
     *   minus?: boolean, after?: string }} sum `factors`: the product in words; terms as lists of factors; nothing: why there
     *   are none; minus: the second is taken away from the first, and `factors` says so; after: what is said behind it
     * @param {(panel: string, value: number) => number[]} colors
     */
    show(sum, colors) {
      const { cell, label, factors, value, terms, nothing = "", minus = false, after = "" } = sum;
      const key = `${cell.panel} ${cell.row},${cell.column}`;
      open = open && key === shown;
      shown = key;
      const folded = terms.length > FOLD_ABOVE && !open;
      const visible = folded ? terms.slice(0, FOLDED) : terms;
      const tints = visible.flat().map((factor) => colors(factor.panel, factor.value));
      // All terms, for those that are folded away are opened from here; in JSON, nan and infinity would be the same.
      const wanted = JSON.stringify([label, factors, value, after, folded, terms, tints], (_, part) =>
        typeof part === "number" ? String(part) : part,
      );
      if (wanted === standing) return;
      standing = wanted;
      const held = el.contains(focusOf(el))
        ? [...el.querySelectorAll("button")].indexOf(/** @type {any} */ (focusOf(el)))
        : -1;
      const rule = element(
        "span",
        { class: "cv-sum-rule" },
        ...tinted(factors ? `${minus ? "" : "\u03a3 "}${factors} = ` : ""),
      );
      const head = element("code", {}, ...tinted(`${label} = `), rule);
      onTerm(null); // a term that is replaced never tells that the pointer has left it
      const products = visible.flatMap((term, index) => [
        ...(index ? [minus ? " \u2212 " : " + "] : []),
        createTerm(term, colors),
      ]);
      const total = element("output", { "data-value": String(value) }, formatNumber(value));
      const more = element(
        "button",
        { type: "button", class: "cv-more" },
        folded ? say("sum.all", { count: terms.length }) : say("sum.fewer"),
      );
      more.addEventListener("click", () => {
        open = !open;
        this.show(sum, colors);
        /** @type {HTMLElement | null} */ (el.querySelector(".cv-more"))?.focus({ preventScroll: true });
      });
      const rest = terms.length > FOLD_ABOVE ? [folded ? " + \u2026 " : " ", more] : [];
      el.replaceChildren(
        head,
        ...(products.length ? products : [nothing]),
        ...rest,
        " = ",
        total,
        ...(after ? [` \u00b7 ${after}`] : []),
      );
      el.dataset.terms = String(terms.length);
      el.toggleAttribute("data-open", open);
      if (held >= 0) el.querySelectorAll("button")[held]?.focus({ preventScroll: true });
    },
  };
}
