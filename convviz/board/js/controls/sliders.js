// @ts-check
// A grid of sliders with number fields. The browser's own range inputs: they send what a person moved and nothing
// else, whereas ipywidgets' slider rounds every value to its step and sends that back, so that 1/9 becomes 0.1.
import WORDS from "../../../facts/words/board.json" with { type: "json" };
import { element } from "../base/dom.js";
import { formatNumber, parseNumber } from "../base/format.js";
import { sentences } from "../base/words.js";

const say = sentences(WORDS);
const ARROWS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
const MOST_SLIDERS = 9; // beyond, numbers share one long slider

/** @param {{ model: any, el: HTMLElement, tell: (words: string) => void }} context tell: say why something was not taken */
export function renderSliders({ model, el, tell }) {
  const grid = element("div", { class: "cv-sliders", role: "group" });
  /** @type {{ range: HTMLInputElement, field: HTMLInputElement }[]} */
  let cells = [];
  let reach = model.get("reach"); // of all of them: side by side, they are compared
  let dragged = false; // the change that is under way is a slider's
  let chosen = 0; // the one that has the slider, where there is room for a single one
  const byFinger = matchMedia("(pointer: coarse)");
  el.append(grid);

  /** @param {number} index @param {number} value */
  function change(index, value) {
    const values = [...model.get("values")];
    if (values[index] === value) return;
    values[index] = value;
    model.set("values", values);
    model.set("of", model.get("label"));
    model.save_changes(); // while one message is under way the next ones become one: the last value always arrives
  }

  /** Give a number the slider; a finger types it at its second tap, so that no keyboard rises at the first. @param {number} index */
  function choose(index) {
    chosen = Math.min(index, cells.length - 1);
    cells.forEach(({ field, range }, at) => {
      field.parentElement?.toggleAttribute("data-chosen", at === chosen);
      field.readOnly = at !== chosen && byFinger.matches;
      for (const stop of [field, range]) stop.tabIndex = at === chosen ? 0 : -1; // one number for Tab, arrows for the others
    });
  }

  /** Go on to a neighbour where an arrow has no letter to pass. @param {KeyboardEvent} event @param {number} index */
  function walk(event, index) {
    const [down, right] = /** @type {Record<string, number[]>} */ (ARROWS)[event.key] ?? [0, 0];
    const { value, selectionStart: start, selectionEnd: end } = cells[index].field;
    const isWhole = start === 0 && end === value.length;
    const columns = model.get("shape")[1];
    const column = (index % columns) + right;
    const to = cells[index + down * columns + right];
    const atEdge = right < 0 ? end === 0 : right > 0 ? start === value.length : true;
    if ((!down && !right) || !(isWhole || atEdge) || column < 0 || column >= columns || !to) return;
    event.preventDefault();
    to.field.focus();
  }

  /** @param {number} index */
  function makeCell(index) {
    const range = /** @type {HTMLInputElement} */ (
      element("input", { type: "range", step: String(model.get("step")) })
    );
    const field = /** @type {HTMLInputElement} */ (element("input", { type: "text", inputmode: "decimal" }));
    Object.assign(range, { min: -reach, max: reach });
    range.addEventListener("input", () => {
      dragged = true;
      // The range's steps start at its minimum: -3 + 0.1 * 33 is 0.30000000000000027, and 0.3 is meant.
      change(index, Number(Number(range.value).toFixed(6)));
      dragged = false;
      show(index);
    });
    for (const end of ["pointerup", "blur"]) range.addEventListener(end, fitReach); // no hand is on it any more
    const commit = () => {
      if (field.value === field.dataset.shown) return; // untouched: the short text must not replace the number
      const value = parseNumber(field.value);
      field.setAttribute("aria-invalid", String(value === null));
      if (value === null) return tell(say("cell.no_number.touch", { typed: field.value }));
      field.dataset.shown = field.value;
      change(index, value);
      showSlider(index); // the text stays as it was typed until the field is left
    };
    field.addEventListener("change", commit);
    field.addEventListener("keydown", (event) => {
      if (event.key === "Enter") commit();
      if (event.key === "Escape") showWhole(index);
      walk(event, index);
      event.stopPropagation();
    });
    field.addEventListener("focus", () => showWhole(index));
    field.addEventListener("blur", () => choose(chosen));
    field.addEventListener("blur", () => show(index)); // what is no number goes back to what holds
    return { range, field };
  }

  /** The whole number, to be edited. @param {number} index */
  function showWhole(index) {
    const { field } = cells[index];
    field.value = field.dataset.shown = String(model.get("values")[index]).replace("-", "\u2212");
    field.removeAttribute("aria-invalid");
    field.select();
  }

  /** As far as the numbers need; a slider that is dragged never narrows it, or the others would jump away. */
  function fitReach() {
    const needed = model
      .get("values")
      .map((/** @type {number} */ value) => Math.ceil(Math.abs(value)))
      .filter(Number.isFinite);
    reach = Math.max(dragged ? reach : model.get("reach"), ...needed);
    for (const { range } of cells)
      if (range.max !== String(reach)) Object.assign(range, { min: -reach, max: reach });
  }

  /** @param {number} index */
  function showSlider(index) {
    const value = model.get("values")[index];
    const { range, field } = cells[index];
    if (Number(range.value) !== value) range.value = String(value);
    field.title = String(value);
  }

  /** @param {number} index */
  function show(index) {
    const { field } = cells[index];
    showSlider(index);
    field.value = field.dataset.shown = formatNumber(model.get("values")[index]);
    field.removeAttribute("aria-invalid");
  }

  function update() {
    const [rows, columns] = model.get("shape");
    if (model.get("values").length !== rows * columns) return; // half of an update: the other half follows
    if (grid.dataset.shape !== `${rows},${columns}`) {
      grid.dataset.shape = `${rows},${columns}`;
      grid.style.gridTemplateColumns = `repeat(${columns}, minmax(0, 1fr))`;
      cells = Array.from({ length: rows * columns }, (_, index) => makeCell(index));
      grid.replaceChildren(
        ...cells.map(({ range, field }, index) => {
          const place = `${Math.floor(index / columns)},${index % columns}`;
          const cell = element("div", { class: "cv-slider", "data-slider": place }, field, range);
          cell.addEventListener("focusin", () => field.readOnly || choose(index));
          cell.addEventListener("click", () => choose(index));
          return cell;
        }),
      );
      grid.toggleAttribute("data-many", cells.length > MOST_SLIDERS);
      choose(chosen);
    }
    fitReach();
    grid.setAttribute("aria-label", model.get("label"));
    const letters = model.get("values").map((/** @type {number} */ value) => formatNumber(value).length);
    grid.style.setProperty("--cv-letters", String(Math.max(2, ...letters))); // how wide their fields are
    const typing = /** @type {Document | ShadowRoot} */ (grid.getRootNode()).activeElement;
    cells.forEach(({ range, field }, index) => {
      const cell = { name: model.get("label"), row: Math.floor(index / columns), column: index % columns };
      range.setAttribute("aria-label", say("slider.range", cell));
      field.setAttribute("aria-label", say("slider.cell", cell));
      if (field === typing) showSlider(index);
      else show(index);
    });
  }

  for (const name of ["shape", "values", "label"]) model.on(`change:${name}`, update);
  update();
  return () => {
    for (const name of ["shape", "values", "label"]) model.off(`change:${name}`, update);
    grid.remove();
  };
}
