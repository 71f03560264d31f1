// What several panes are built of: choices, menus, tables, signs between planes.
import { element, makeButton, setText } from "../base/dom.js";
import { checkOne, walkAlong } from "../base/roving.js";

/** @param {string[]} one @param {string[]} other */
const sameTexts = (one, other) => JSON.stringify(one) === JSON.stringify(other);

/**
 * A row of buttons of which one is pressed.
 * @param {string} title @param {string[][]} choices value and words of each
 * @param {(value: string) => void} onChoose
 */
export function createChoice(title, choices, onChoose) {
  const buttons = choices.map(([value, words]) =>
    makeButton({ class: "cv-button", "data-value": value }, words, () => onChoose(value)),
  );
  const heading = element("span", { class: "cv-muted" }, title);
  return {
    el: element("div", { class: "cv-buttons", role: "group", "aria-label": title }, heading, ...buttons),
    /** @param {string} chosen @param {number} [possible] how many of the first can be chosen */
    set(chosen, possible = buttons.length) {
      buttons.forEach((button, index) => {
        button.setAttribute("aria-pressed", String(button.dataset.value === chosen));
        button.disabled = index >= possible;
      });
    },
  };
}

/**
 * The same as one stop of the Tab key, where an arrow key chooses, too.
 * @param {string} label @param {string} name of the attribute data-<name> that has a choice's value
 * @param {(value: string) => void} onChoose
 */
export function createRadios(label, name, onChoose) {
  const el = element("div", { class: "cv-buttons", role: "radiogroup", "aria-label": label });
  const buttons = () => /** @type {HTMLElement[]} */ ([...el.children]);
  const valueOf = (/** @type {HTMLElement} */ button) => button.dataset[name] ?? "";
  walkAlong(el, buttons, (next) => onChoose(valueOf(next)));
  return {
    el,
    /**
     * @param {string} chosen @param {string[][]} choices value and words of each; made anew where one is new
     */
    set(chosen, choices) {
      if (
        !sameTexts(
          choices.map(([value]) => value),
          buttons().map(valueOf),
        )
      )
        el.replaceChildren(
          ...choices.map(([value]) =>
            makeButton({ class: "cv-button", role: "radio", [`data-${name}`]: value }, [], () =>
              onChoose(value),
            ),
          ),
        );
      buttons().forEach((button, index) => setText(button, choices[index][1]));
      checkOne(buttons(), (button) => valueOf(button) === chosen);
    },
  };
}

/**
 * Offer these values in a menu, if it has others; one that is not among them leaves its first chosen.
 * @param {HTMLSelectElement} menu @param {string[][]} choices value and words of each; else the value
 * @param {string} [chosen]
 */
export function fillMenu(menu, choices, chosen) {
  const values = choices.map(([value]) => value);
  if (
    !sameTexts(
      values,
      [...menu.options].map(({ value }) => value),
    )
  )
    menu.replaceChildren(...choices.map(([value, words = value]) => element("option", { value }, words)));
  if (chosen !== undefined && values.includes(chosen)) menu.value = chosen;
}

/** @param {(Node | string)[]} words of the columns */
export const tableHead = (words) =>
  element("thead", {}, element("tr", {}, ...words.map((each) => element("th", { scope: "col" }, each))));

/**
 * @param {(Node | string)[]} cells the first says what the row is of
 * @param {Record<string, string>} [attributes]
 */
export const tableRow = ([first, ...cells], attributes) =>
  element(
    "tr",
    attributes,
    element("th", { scope: "row" }, first),
    ...cells.map((each) => element("td", {}, each)),
  );

/** @param {string | Node} text */
export const code = (text) => element("code", {}, text);

/** @param {string} symbol @param {string} [note] below it */
export function signOf(symbol, note) {
  const below = note ? [element("span", { class: "cv-sign-note" }, note)] : [];
  return element("span", { class: "cv-sign" }, element("span", { class: "cv-symbol" }, symbol), ...below);
}

/** The largest absolute value; 1 where all are 0. @param {Iterable<number | null>} values */
export function limitOf(values) {
  let most = 0;
  for (const value of values) if (Math.abs(value ?? 0) > most) most = Math.abs(value ?? 0);
  return most || 1;
}

/** @param {(number | null)[][]} rows JSON has null for what is no number */
export const numbersOf = (rows) => rows.map((row) => row.map((value) => value ?? NaN));
