// Parts of a band's header and row.
import { element, makeButton, setText } from "../../base/dom.js";
import { explain } from "../../base/help.js";
import { closeWithEscape } from "../../base/keys.js";
import { say } from "../../base/board_sentences.js";

/** Estimates the width of a word in pixels; Chinese letters are wider. @param {string} word */
const widthOf = (word) =>
  [...word].reduce((sum, letter) => sum + (/[\u2e80-\uffef]/.test(letter) ? 13.2 : 7.1), 0);

/** @param {{ note: string }} item */
export const signWidth = ({ note }) =>
  Math.max(20, ...note.split(" ").map((word) => Math.ceil(widthOf(word))));

/** @param {{ symbol: string, note: string, width: number }} item */
export function createSign(item) {
  const symbol = element("span.cv-symbol", item.symbol);
  explain(symbol, `symbol.${item.symbol}`);
  return element(
    "div.cv-sign",
    { style: `--cv-sign: ${item.width}px` },
    symbol,
    element("span.cv-sign-note", item.note),
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
  const letter = element("span", String(choice.word.split(" ").at(-1))); // the axis as the formula has it
  explain(letter, "axis");
  return element("label", letter, " ", select);
}

/** Hangs below its button: formula and notes. */
export function createSymbols() {
  const el = element("div.cv-symbols", { hidden: "" });
  const button = makeButton({ class: "cv-symbols-open", "aria-expanded": "false" }, say("symbols"), () => {
    el.hidden = !el.hidden;
    button.setAttribute("aria-expanded", String(!el.hidden));
  });
  closeWithEscape(() => (el.hidden ? null : button), button, el);
  return { el, button };
}

const SHOWN = /** @type {const} */ (["input", "weight", "output"]);

/** The scales of the variables as a background, one below the other. @param {Hues} hues */
export const rampsOf = (hues) =>
  SHOWN.map((quantity, row) => {
    const stops = hues[quantity].map(([at, color]) => `${color} ${at * 100}%`);
    return `linear-gradient(to right, ${stops.join()}) 0 ${row * 50}% / 100% 34% no-repeat`;
  }).join();

/** The fill: hue is variable and sign, strength is size, up to one end if the row has one. */
export function createLegend() {
  const low = element("span");
  const high = element("span");
  const el = element(
    "div.cv-scale",
    { title: say("key.scale"), "aria-hidden": "true" },
    low,
    element("i"),
    high,
  );
  return {
    el,
    /** @param {number | null} limit null: no common end */
    set(limit) {
      el.toggleAttribute("data-once", limit === null);
      const text =
        limit === null ? "" : limit >= 99.5 ? limit.toFixed(0) : String(Number(limit.toPrecision(2)));
      setText(low, `\u2212${text}`);
      setText(high, text || "+");
    },
  };
}

/** A panel already placed stays. @param {HTMLElement} panel @param {HTMLElement[]} signs */
export function createTerm(panel, signs) {
  const term = /** @type {HTMLElement} */ (panel.parentElement ?? element("div.cv-term", panel));
  while (term.firstChild !== panel) term.firstChild?.remove();
  panel.before(...signs);
  return term;
}

/**
 * Terms that stay are not moved: they would lose focus and typing.
 * @param {HTMLElement} row @param {HTMLElement[]} terms
 */
export function putInOrder(row, terms) {
  for (const term of [...row.children]) if (!terms.includes(/** @type {HTMLElement} */ (term))) term.remove();
  terms.forEach((term, index) => {
    if (row.children[index] !== term) row.insertBefore(term, row.children[index] ?? null);
  });
}
