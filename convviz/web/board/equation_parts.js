// @ts-check
// The small things that stand in an equation's header and between its panels.
import WORDS from "../../facts/words/board.json" with { type: "json" };
import { element, makeButton, setText } from "../base/dom.js";
import { explain } from "../base/help.js";
import { closeWithEscape } from "../base/keys.js";
import { sentences } from "../base/words.js";

const say = sentences(WORDS);

/** How wide a word below a sign is; a Chinese letter takes more. @param {string} word */
const widthOf = (word) =>
  [...word].reduce((sum, letter) => sum + (/[\u2e80-\uffef]/.test(letter) ? 13.2 : 7.1), 0);

/** How wide a sign is on the stage: its longest word decides. @param {{ note: string }} item */
export const signWidth = ({ note }) =>
  Math.max(20, ...note.split(" ").map((word) => Math.ceil(widthOf(word))));

/** @param {{ symbol: string, note: string }} item */
export function createSign(item) {
  const symbol = element("span", { class: "cv-symbol" }, item.symbol);
  explain(symbol, `symbol.${item.symbol}`);
  return element(
    "div",
    { class: "cv-sign", style: `--cv-sign: ${signWidth(item)}px` },
    symbol,
    element("span", { class: "cv-sign-note" }, item.note),
  );
}

export function createChoice(board, choice) {
  const select = element("select", { "aria-label": choice.word });
  for (let index = 0; index < choice.count; index++) {
    select.append(element("option", { value: String(index) }, String(index)));
  }
  select.addEventListener("change", () => {
    const value = Number(/** @type {HTMLSelectElement} */ (select).value);
    board.model.send({ type: "axis", axis: choice.axis, index: value });
  });
  // its letter in the formula
  return element("label", { title: choice.word }, `${choice.word.split(" ").at(-1)} `, select);
}

/** What is seldom asked for, formula and exact terms: it hangs below its button while that is down. */
export function createSymbols() {
  const el = element("div", { class: "cv-symbols", hidden: "" });
  const button = makeButton({ class: "cv-symbols-open", "aria-expanded": "false" }, say("symbols"), () => {
    el.hidden = !el.hidden;
    button.setAttribute("aria-expanded", String(!el.hidden));
  });
  closeWithEscape(() => (el.hidden ? null : button), button, el);
  return { el, button };
}

/**
 * What the fill of cells means: its hue the sign, how strong it is the size; and how far it reaches where a
 * row has one end.
 */
export function createLegend() {
  const low = element("span", {});
  const high = element("span", {});
  const el = element(
    "div",
    { class: "cv-scale", title: say("key.scale"), "aria-hidden": "true" },
    low,
    element("i", {}),
    high,
  );
  return {
    el,
    /** @param {number | null} limit null when the row has no one end: then it is told once */
    set(limit) {
      el.toggleAttribute("data-once", limit === null);
      const text =
        limit === null ? "" : limit >= 99.5 ? limit.toFixed(0) : String(Number(limit.toPrecision(2)));
      setText(low, `\u2212${text}`);
      setText(high, text || "+");
    },
  };
}

/**
 * A panel with the signs before it; a panel that stands in the page already stays where it is.
 * @param {HTMLElement} panel @param {HTMLElement[]} signs
 */
export function createTerm(panel, signs) {
  const term = /** @type {HTMLElement} */ (
    panel.parentElement ?? element("div", { class: "cv-term" }, panel)
  );
  while (term.firstChild !== panel) term.firstChild?.remove();
  panel.before(...signs);
  return term;
}

/**
 * Make the terms the row's children without moving those that stay: moved, an element loses the focus and
 * what is being
 * typed in it.
 * @param {HTMLElement} row @param {HTMLElement[]} terms
 */
export function putInOrder(row, terms) {
  for (const term of [...row.children]) if (!terms.includes(/** @type {HTMLElement} */ (term))) term.remove();
  terms.forEach((term, index) => {
    if (row.children[index] !== term) row.insertBefore(term, row.children[index] ?? null);
  });
}
