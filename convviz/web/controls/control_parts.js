// The kinds of controls: an input with its label, which follows the settings.
import NAMES from "../../facts/data/names.json" with { type: "json" };
import { element, makeButton, setHidden, setText } from "../base/dom.js";
import { explain } from "../base/help.js";
import { say } from "../base/board_sentences.js";
import { boundsOf, valueOf } from "../rules/bounds.js";
import { setAxis } from "../rules/change_settings.js";
import { shownNumber, typedNumber } from "./number_beside_slider.js";
import { movesOf } from "./weight_slider.js";

/**
 * @typedef {{ el: HTMLElement, refresh: (settings: Settings, isSame: boolean) => void }} Part isSame: all but
 *   what sliders move
 */

/** @type {Record<string, string>} */
const LABELS = { ...NAMES.controls, ...NAMES.values };
const ON_A_SLIDER = 16; // cells of an input; a larger one is typed
const SIDES = /** @type {const} */ (["control.height", "control.width"]);

/** @param {string} name */
export const wordFor = (name) => LABELS[name] ?? name;
/** torch's words for a border stay. @param {string} menu @param {string} option */
const wordIn = (menu, option) => (menu === "padding_mode" ? option : wordFor(option));

/**
 * @param {string} name @param {HTMLElement} words @param {HTMLElement} control @param {...HTMLElement}
 *   beside
 */
export function labelled(name, words, control, ...beside) {
  explain(words, `help.${name}`);
  return element(`div.cv-control.cv-set-${name}`, element("label", words, control), ...beside);
}

/** Its range may change with every setting. @returns {Part} */
export function rangePart(
  model,
  name,
  range,
  get,
  set,
  visible = (settings) => true,
  word = (settings) => wordFor(name),
) {
  const input = element("input", { type: "range", step: "1" });
  const words = element("span");
  const moves = movesOf(input);
  /** @param {number} value */
  const put = (value) =>
    model.change((settings) => set(settings, value), moves(`${name} ${word(model.settings())}`));
  const number = name === "input_size" ? typedNumber(model, put) : shownNumber();
  const el = labelled(name, words, input, number.el);
  input.addEventListener("input", () => put(Number(input.value)));
  if (name === "input_size") {
    input.setAttribute("aria-keyshortcuts", "Enter");
    input.addEventListener(
      "keydown",
      ({ key }) => key === "Enter" && number.el.querySelector("input")?.focus(),
    );
  }
  let stands = ""; // where its handle stands: a refused move is taken back
  return {
    el,
    refresh(settings, isSame) {
      if (isSame && input.value === stands) return;
      setHidden(el, !visible(settings));
      if (el.hidden) return;
      const [low, high] = range(settings);
      const value = get(settings);
      const most = name === "input_size" ? Math.max(Math.min(high, ON_A_SLIDER), value) : high;
      const now = { min: String(low), max: String(most), disabled: low === high, value: String(value) };
      for (const [property, value] of Object.entries(now))
        if (input[property] !== value) input[property] = value; // writes cost layout
      stands = input.value;
      number.show(input.value, word(settings), [low, high]);
      setText(words, word(settings));
      explain(words, `help.${name}`, settings.transposed);
    },
  };
}

/** The width's is hidden while linked. @returns {Part} */
export function axisPart(model, name, axis) {
  const value = (settings, side) => valueOf(settings.spec, name, side, settings.transposed);
  const matters = (settings) =>
    name !== "output_padding" || (settings.transposed && Math.max(...settings.spec.stride) > 1);
  const together = (settings) => settings.link_axes && value(settings, 0) === value(settings, 1);
  return rangePart(
    model,
    name,
    (s) => boundsOf(s.spec, name, axis, s.link_axes, s.transposed),
    (s) => value(s, axis),
    (s, wanted) => setAxis(s, name, axis, wanted),
    (s) => matters(s) && (axis === 0 || !together(s)),
    (s) => (matters(s) && together(s) ? wordFor(name) : say(SIDES[axis], { name: wordFor(name) })),
  );
}

/** @returns {Part} */
export function menuPart(model, name, options, get, set, visible = (settings) => true) {
  const select = element("select");
  const el = labelled(name, element("span", wordFor(name)), select);
  select.addEventListener("change", () => model.change((settings) => set(settings, select.value)));
  let offered = "";
  return {
    el,
    refresh(settings, isSame) {
      const current = get(settings);
      if (isSame && select.value === current) return;
      setHidden(el, !visible(settings));
      const list = typeof options === "function" ? options(settings) : options;
      // Typed numbers or an image are listed while there.
      const all = list.includes(current) ? list : [...list, current];
      if (offered !== all.join()) {
        select.replaceChildren(
          ...all.map((option) => element("option", { value: option }, wordIn(name, option))),
        );
      }
      offered = all.join();
      select.value = current;
    },
  };
}

/** @returns {Part} */
export function checkPart(model, name, get, set) {
  const input = element("input", { type: "checkbox" });
  const words = element("span", wordFor(name));
  explain(words, `help.${name}`);
  const el = element(`div.cv-control.cv-check.cv-set-${name}`, element("label", input, words));
  input.addEventListener("change", () => model.change((settings) => set(settings, input.checked)));
  return { el, refresh: (settings) => void (input.checked = get(settings)) };
}

/** @returns {Part} */
export function buttonPart(model, name, act, visible) {
  const button = makeButton("cv-step", wordFor(name), () => model.change(act));
  const el = element(`div.cv-control.cv-set-${name}`, button);
  return { el, refresh: (settings) => setHidden(el, !visible(settings)) };
}
