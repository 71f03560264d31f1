// The number beside a slider: shown, or typed as well.
import { element, setText } from "../base/dom.js";
import { say } from "../base/board_sentences.js";

/** @typedef {{ el: HTMLElement, show: (value: string, name: string, range: Pair) => void }} NumberBeside */

/** @returns {NumberBeside} */
export function shownNumber() {
  const el = element("span.cv-number", { "aria-hidden": "true" });
  return { el, show: (value) => setText(el, value) };
}

/**
 * A field for a number, beside its slider.
 * @param {Model} model @param {(value: number) => void} put @returns {NumberBeside}
 */
export function typedNumber(model, put) {
  // No stop of its own on the way to the cells: Enter on its slider leads into it.
  const field = element("input.cv-number", { type: "text", inputmode: "numeric", tabindex: "-1" });
  const beside = shownNumber(); // the field comes when its slider is in use
  let [shown, ends] = ["", [1, 1]];
  field.addEventListener("focus", () => field.select());
  field.addEventListener("change", () => {
    const value = Number(field.value);
    if (Number.isInteger(value) && value >= ends[0] && value <= ends[1]) put(value);
    else model.say(say("size.typed", { typed: field.value, low: ends[0], high: ends[1] }), true);
    field.value = shown; // a refused size gives way to the present one
  });
  field.addEventListener("keydown", (event) => event.stopPropagation()); // the board's keys are letters and digits
  return {
    el: element("span.cv-typed", beside.el, field),
    show(value, name, range) {
      [shown, ends] = [value, range];
      beside.show(value, name, range);
      if (field.value !== value) field.value = value;
      field.setAttribute("aria-label", say("size.field", { name }));
    },
  };
}
