// The shown kernel's numbers: a grid of sliders with fields. They are native: ipywidgets would round to steps
// and send back 1/9 as 0.1.
import { element } from "../base/dom.js";
import { formatNumber, parseNumber } from "../base/format.js";
import { ARROWS } from "../base/keys.js";
import { say } from "../base/board_sentences.js";
import { shownKernel } from "../rules/change_settings.js";
import { editCell } from "../rules/edit_cells.js";
import { pointAt, upTo } from "../rules/shapes_and_indices.js";

const [REACH, STEP] = [3, 0.1];
const MOST_SLIDERS = 9; // more share one slider

/** @param {Settings} settings */
function kernelOf(settings) {
  const { spec, plane } = settings;
  const ins = spec.in_channels / spec.groups;
  const index = ins * spec.out_channels > 1 ? `[${plane.out_channel}, ${plane.in_channel % ins}]` : "";
  return { shape: spec.kernel_size, values: shownKernel(settings), label: `weight${index}` };
}

export class Sliders {
  #onSettings = () => {
    const next = kernelOf(this.#model.settings());
    if (JSON.stringify(next) === JSON.stringify(this.#kernel)) return; // most changes are elsewhere
    this.#kernel = next;
    this.#update();
  };
  #model;
  #kernel;
  #grid = element("div.cv-sliders", { role: "group" });
  /** @type {{ range: HTMLInputElement, field: HTMLInputElement }[]} */
  #cells = [];
  #reach = REACH; // common, to compare
  #dragged = false; // by a slider
  #chosen = 0; // has the shared slider
  #stop;
  #byFinger = matchMedia("(pointer: coarse)");

  /** @param {Model} model @param {HTMLElement} el */
  constructor(model, el) {
    this.#model = model;
    this.#kernel = kernelOf(model.settings());
    el.append(this.#grid);
    this.#stop = model.on("settings", this.#onSettings);
    this.#update();
  }

  #update() {
    const { shape, values, label } = this.#kernel;
    const [rows, columns] = shape;
    if (this.#grid.dataset.shape !== `${rows},${columns}`) {
      this.#grid.dataset.shape = `${rows},${columns}`;
      this.#grid.style.gridTemplateColumns = `repeat(${columns}, minmax(0, 1fr))`;
      this.#cells = upTo(rows * columns).map((index) => this.#makeCell(index));
      this.#grid.replaceChildren(
        ...this.#cells.map(({ range, field }, index) => {
          const place = `${Math.floor(index / columns)},${index % columns}`;
          const cell = element("div.cv-slider", { "data-slider": place }, field, range);
          cell.addEventListener("focusin", () => field.readOnly || this.#choose(index));
          cell.addEventListener("click", () => this.#choose(index));
          return cell;
        }),
      );
      this.#grid.toggleAttribute("data-many", this.#cells.length > MOST_SLIDERS);
      this.#choose(this.#chosen);
    }
    this.#fitReach();
    this.#grid.setAttribute("aria-label", label);
    const letters = values.map((value) => formatNumber(value).length);
    // the width of fields
    this.#grid.style.setProperty("--cv-letters", String(Math.max(2, ...letters)));
    const typing = /** @type {Document | ShadowRoot} */ (this.#grid.getRootNode()).activeElement;
    this.#cells.forEach(({ range, field }, index) => {
      const cell = { name: label, ...pointAt(index, columns) };
      range.setAttribute("aria-label", say("slider.range", cell));
      field.setAttribute("aria-label", say("slider.cell", cell));
      if (field === typing) this.#showSlider(index);
      else this.#show(index);
    });
  }

  /** @param {number} index @param {number} value */
  #change(index, value) {
    const { shape, values } = this.#kernel;
    if (values[index] === value) return;
    const cell = { panel: "weight", ...pointAt(index, shape[1]), value };
    const { plane } = this.#model.settings();
    this.#model.change((settings) => editCell(settings, cell), `weight ${index} ${JSON.stringify(plane)}`);
    if (this.#model.get("failed")) this.#update(); // back to what holds
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
    const [down, right] = ARROWS[event.key] ?? [0, 0];
    const { value, selectionStart: start, selectionEnd: end } = this.#cells[index].field;
    const isWhole = start === 0 && end === value.length;
    const columns = this.#kernel.shape[1];
    const column = (index % columns) + right;
    const to = this.#cells[index + down * columns + right];
    const atEdge = right < 0 ? end === 0 : right > 0 ? start === value.length : true;
    if ((!down && !right) || !(isWhole || atEdge) || column < 0 || column >= columns || !to) return;
    event.preventDefault();
    to.field.focus();
  }

  /** @param {number} index */
  #makeCell(index) {
    const range = element("input", { type: "range", step: String(STEP) });
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
      if (value === null) return this.#model.say(say("cell.no_number.touch", { typed: field.value }), true);
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
    field.value = field.dataset.shown = String(this.#kernel.values[index]).replace("-", "\u2212");
    field.removeAttribute("aria-invalid");
    field.select();
  }

  /** As far as needed; never narrowed while dragged. */
  #fitReach() {
    const needed = this.#kernel.values.map((value) => Math.ceil(Math.abs(value))).filter(Number.isFinite);
    this.#reach = Math.max(this.#dragged ? this.#reach : REACH, ...needed);
    for (const { range } of this.#cells)
      if (range.max !== String(this.#reach)) Object.assign(range, { min: -this.#reach, max: this.#reach });
  }

  /** @param {number} index */
  #showSlider(index) {
    const value = this.#kernel.values[index];
    const { range, field } = this.#cells[index];
    if (Number(range.value) !== value) range.value = String(value);
    field.title = String(value);
  }

  /** @param {number} index */
  #show(index) {
    const { field } = this.#cells[index];
    this.#showSlider(index);
    field.value = field.dataset.shown = formatNumber(this.#kernel.values[index]);
    field.removeAttribute("aria-invalid");
  }

  close() {
    this.#stop();
    this.#grid.remove();
  }
}
