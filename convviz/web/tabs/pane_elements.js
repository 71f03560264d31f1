// What several panes are built of: choices, menus, tables, signs between planes.
import { element, makeButton, setText } from "../base/dom.js";
import { checkOne, walkAlong } from "../base/roving_tabindex.js";
import { largestOf } from "../rules/shapes_and_indices.js";

/** @param {string[]} one @param {string[]} other */
const sameTexts = (one, other) => JSON.stringify(one) === JSON.stringify(other);

/**
 * @param {string} title @param {string[][]} choices value, words @param {(value: string) => void} onChoose
 */
export function createChoice(title, choices, onChoose) {
  const buttons = choices.map(([value, words]) =>
    button(words, () => onChoose(value), { "data-value": value }),
  );
  const heading = element("span.cv-muted", title);
  return {
    el: element("div.cv-buttons", { role: "group", "aria-label": title }, heading, ...buttons),
    /** @param {string} chosen @param {number} [possible] how many of the first */
    set(chosen, possible = buttons.length) {
      buttons.forEach((button, index) => {
        button.setAttribute("aria-pressed", String(button.dataset.value === chosen));
        button.disabled = index >= possible;
      });
    },
  };
}

/**
 * One tab stop, where an arrow chooses, too.
 * @param {string} label @param {string} name of the attribute data-<name>
 * @param {(value: string) => void} onChoose
 */
export function createRadios(label, name, onChoose) {
  const el = element("div.cv-buttons", { role: "radiogroup", "aria-label": label });
  const buttons = () => /** @type {HTMLElement[]} */ ([...el.children]);
  const valueOf = (/** @type {HTMLElement} */ button) => button.dataset[name] ?? "";
  walkAlong(el, buttons, (next) => onChoose(valueOf(next)));
  return {
    el,
    /** @param {string} chosen @param {string[][]} choices value, words */
    set(chosen, choices) {
      const values = choices.map(([value]) => value);
      if (!sameTexts(values, buttons().map(valueOf)))
        el.replaceChildren(
          ...values.map((value) =>
            button([], () => onChoose(value), { role: "radio", [`data-${name}`]: value }),
          ),
        );
      buttons().forEach((button, index) => setText(button, choices[index][1]));
      checkOne(buttons(), (button) => valueOf(button) === chosen);
    },
  };
}

/**
 * An unknown `chosen` leaves the first.
 * @param {HTMLSelectElement} menu @param {string[][]} choices value, words or value alone
 * @param {string} [chosen]
 */
export function fillMenu(menu, choices, chosen) {
  const values = choices.map(([value]) => value);
  const offered = [...menu.options].map(({ value }) => value);
  if (!sameTexts(values, offered))
    menu.replaceChildren(...choices.map(([value, words = value]) => element("option", { value }, words)));
  if (chosen !== undefined && values.includes(chosen)) menu.value = chosen;
}

/** @param {(Node | string)[]} words */
export const tableHead = (words) =>
  element("thead", element("tr", ...words.map((each) => element("th", { scope: "col" }, each))));

/**
 * @param {(Node | string)[]} cells the first is the row's head @param {Record<string, string>} [attributes]
 */
export const tableRow = ([first, ...cells], attributes) =>
  element(
    "tr",
    attributes,
    element("th", { scope: "row" }, first),
    ...cells.map((each) => element("td", each)),
  );

/**
 * A button of a pane.
 * @param {Parameters<typeof makeButton>[1]} content @param {(event: MouseEvent) => void} act
 * @param {Record<string, string>} [attributes]
 */
export const button = (content, act, { class: kind = "", ...attributes } = {}) =>
  makeButton({ class: `cv-button ${kind}`.trim(), ...attributes }, content, act);

/** @param {string | Node} text */
export const code = (text) => element("code", text);

/** @param {string} symbol @param {string} [note] */
export function signOf(symbol, note) {
  const below = note ? [element("span.cv-sign-note", note)] : [];
  return element("span.cv-sign", element("span.cv-symbol", symbol), ...below);
}

/** Returns the largest absolute value, or 1 where all are 0. @param {Iterable<number | null>} values */
export const limitOf = (values) => largestOf(/** @type {Iterable<number>} */ (values)) || 1;

/** @param {(number | null)[][]} rows null: no number */
export const numbersOf = (rows) => rows.map((row) => row.map((value) => value ?? NaN));
