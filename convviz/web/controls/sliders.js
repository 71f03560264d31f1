// A grid of sliders with fields, native: ipywidgets would round to steps and send back 1/9 as 0.1.
import WORDS from "../../facts/words/board.json" with { type: "json" };
import { element } from "../base/dom.js";
import { formatNumber, parseNumber } from "../base/format.js";
import { sentences } from "../base/words.js";

const say = sentences(WORDS);
const ARROWS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
const MOST_SLIDERS = 9; // more share one slider

export class Sliders {
  #update = () => {
    const [rows, columns] = this.#model.get("shape");
    // half an update
    if (this.#model.get("values").length !== rows * columns) return;
    if (this.#grid.dataset.shape !== `${rows},${columns}`) {
      this.#grid.dataset.shape = `${rows},${columns}`;
      this.#grid.style.gridTemplateColumns = `repeat(${columns}, minmax(0, 1fr))`;
      this.#cells = Array.from({ length: rows * columns }, (_, index) => this.#makeCell(index));
      this.#grid.replaceChildren(
        ...this.#cells.map(({ range, field }, index) => {
          const place = `${Math.floor(index / columns)},${index % columns}`;
          const cell = element("div", { class: "cv-slider", "data-slider": place }, field, range);
          cell.addEventListener("focusin", () => field.readOnly || this.#choose(index));
          cell.addEventListener("click", () => this.#choose(index));
          return cell;
        }),
      );
      this.#grid.toggleAttribute("data-many", this.#cells.length > MOST_SLIDERS);
      this.#choose(this.#chosen);
    }
    this.#fitReach();
    this.#grid.setAttribute("aria-label", this.#model.get("label"));
    const letters = this.#model
      .get("values")
      .map((/** @type {number} */ value) => formatNumber(value).length);
    // the width of fields
    this.#grid.style.setProperty("--cv-letters", String(Math.max(2, ...letters)));
    const typing = /** @type {Document | ShadowRoot} */ (this.#grid.getRootNode()).activeElement;
    this.#cells.forEach(({ range, field }, index) => {
      const cell = {
        name: this.#model.get("label"),
        row: Math.floor(index / columns),
        column: index % columns,
      };
      range.setAttribute("aria-label", say("slider.range", cell));
      field.setAttribute("aria-label", say("slider.cell", cell));
      if (field === typing) this.#showSlider(index);
      else this.#show(index);
    });
  };
  #model;
  #tell;
  #grid = element("div", { class: "cv-sliders", role: "group" });
  /** @type {{ range: HTMLInputElement, field: HTMLInputElement }[]} */
  #cells = [];
  #reach;
  #dragged = false; // by a slider
  #chosen = 0; // has the shared slider
  #byFinger = matchMedia("(pointer: coarse)");

  /**
   * @param {{ model: any, el: HTMLElement, tell: (words: string) => void }} context tell: why a value was
   *   refused
   */
  constructor({ model, el, tell }) {
    [this.#model, this.#tell] = [model, tell];
    this.#reach = model.get("reach"); // common, to compare
    el.append(this.#grid);
    for (const name of ["shape", "values", "label"]) model.on(`change:${name}`, this.#update);
    this.#update();
  }

  /** @param {number} index @param {number} value */
  #change(index, value) {
    const values = [...this.#model.get("values")];
    if (values[index] === value) return;
    values[index] = value;
    this.#model.set("values", values);
    this.#model.set("of", this.#model.get("label"));
    // messages coalesce; the last value arrives
    this.#model.save_changes();
  }

  /** A finger types at its second tap: no keyboard at the first. @param {number} index */
  #choose(index) {
    this.#chosen = Math.min(index, this.#cells.length - 1);
    this.#cells.forEach(({ field, range }, at) => {
      field.parentElement?.toggleAttribute("data-chosen", at === this.#chosen);
      field.readOnly = at !== this.#chosen && this.#byFinger.matches;
      // one tab stop, arrows for the rest
      for (const stop of [field, range]) stop.tabIndex = at === this.#chosen ? 0 : -1;
    });
  }

  /** Only where an arrow passes no letter. @param {KeyboardEvent} event @param {number} index */
  #walk(event, index) {
    const [down, right] = /** @type {Record<string, number[]>} */ (ARROWS)[event.key] ?? [0, 0];
    const { value, selectionStart: start, selectionEnd: end } = this.#cells[index].field;
    const isWhole = start === 0 && end === value.length;
    const columns = this.#model.get("shape")[1];
    const column = (index % columns) + right;
    const to = this.#cells[index + down * columns + right];
    const atEdge = right < 0 ? end === 0 : right > 0 ? start === value.length : true;
    if ((!down && !right) || !(isWhole || atEdge) || column < 0 || column >= columns || !to) return;
    event.preventDefault();
    to.field.focus();
  }

  /** @param {number} index */
  #makeCell(index) {
    const range = element("input", { type: "range", step: String(this.#model.get("step")) });
    const field = element("input", { type: "text", inputmode: "decimal" });
    Object.assign(range, { min: -this.#reach, max: this.#reach });
    range.addEventListener("input", () => {
      this.#dragged = true;
      // Steps from -3: 0.30000000000000027 means 0.3.
      this.#change(index, Number(Number(range.value).toFixed(6)));
      this.#dragged = false;
      this.#show(index);
    });
    // released
    for (const end of ["pointerup", "blur"]) range.addEventListener(end, () => this.#fitReach());
    const commit = () => {
      // untouched: keep all digits
      if (field.value === field.dataset.shown) return;
      const value = parseNumber(field.value);
      field.setAttribute("aria-invalid", String(value === null));
      if (value === null) return this.#tell(say("cell.no_number.touch", { typed: field.value }));
      field.dataset.shown = field.value;
      this.#change(index, value);
      this.#showSlider(index); // typed text stays until left
    };
    field.addEventListener("change", commit);
    field.addEventListener("keydown", (event) => {
      if (event.key === "Enter") commit();
      if (event.key === "Escape") this.#showWhole(index);
      this.#walk(event, index);
      event.stopPropagation();
    });
    field.addEventListener("focus", () => this.#showWhole(index));
    field.addEventListener("blur", () => this.#choose(this.#chosen));
    field.addEventListener("blur", () => this.#show(index)); // no number: what holds returns
    return { range, field };
  }

  /** @param {number} index */
  #showWhole(index) {
    const { field } = this.#cells[index];
    field.value = field.dataset.shown = String(this.#model.get("values")[index]).replace("-", "\u2212");
    field.removeAttribute("aria-invalid");
    field.select();
  }

  /** As far as needed; never narrowed while dragged. */
  #fitReach() {
    const needed = this.#model
      .get("values")
      .map((/** @type {number} */ value) => Math.ceil(Math.abs(value)))
      .filter(Number.isFinite);
    this.#reach = Math.max(this.#dragged ? this.#reach : this.#model.get("reach"), ...needed);
    for (const { range } of this.#cells)
      if (range.max !== String(this.#reach)) Object.assign(range, { min: -this.#reach, max: this.#reach });
  }

  /** @param {number} index */
  #showSlider(index) {
    const value = this.#model.get("values")[index];
    const { range, field } = this.#cells[index];
    if (Number(range.value) !== value) range.value = String(value);
    field.title = String(value);
  }

  /** @param {number} index */
  #show(index) {
    const { field } = this.#cells[index];
    this.#showSlider(index);
    field.value = field.dataset.shown = formatNumber(this.#model.get("values")[index]);
    field.removeAttribute("aria-invalid");
  }

  close() {
    for (const name of ["shape", "values", "label"]) this.#model.off(`change:${name}`, this.#update);
    this.#grid.remove();
  }
}
