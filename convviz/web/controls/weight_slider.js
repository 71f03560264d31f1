// One long slider for the chosen weight, at every kernel size alike. The weight whose cell was touched last is
// chosen. It is native: ipywidgets would round to steps and send back 1/9 as 0.1.
import { element, setText } from "../base/dom.js";
import { formatNumber } from "../base/format.js";
import { pointAt } from "../base/pointed_cell_events.js";
import { say } from "../base/board_sentences.js";
import { shownKernel } from "../rules/change_settings.js";
import { editCell, weightReach } from "../rules/edit_cells.js";
import { indicesAt, upTo } from "../rules/shapes_and_indices.js";
import { UNDO_STROKE } from "../rules/undo_rules.js";

const STEPS = { fine: "0.01", usual: "0.1" }; // to 1, and further

/** @param {Settings} settings */
function kernelOf(settings) {
  const { spec, plane } = settings;
  const ins = spec.in_channels / spec.groups;
  const leading = ins * spec.out_channels > 1 ? `${plane.out_channel},${plane.in_channel % ins},` : "";
  return { shape: spec.kernel_size, values: shownKernel(settings), leading };
}

/** @param {number} index @param {number[]} shape */
function placeOf(index, shape) {
  const [row, column] = indicesAt(shape, index);
  return { row, column };
}

/** Names a slider's moves for undo: those of one drag alike. @param {HTMLInputElement} slider */
export function movesOf(slider) {
  let drags = 0;
  slider.onpointerdown = () => drags++;
  return (/** @type {string} */ name) => (slider.matches(":active") ? UNDO_STROKE + drags : "") + name;
}

export class WeightSlider {
  #model;
  #kernel;
  #chosen = 0;
  #reach = 0;
  #dragged = false; // its ends stay under a hand
  #which = element("span.cv-which", { title: say("weight.which") });
  #range = element("input", { type: "range", step: STEPS.usual });
  #number = element("span.cv-number", { "aria-hidden": "true" });
  #moves = movesOf(this.#range);
  el;
  #ends;

  /** @param {Model} model */
  constructor(model) {
    this.#model = model;
    this.#kernel = kernelOf(model.settings());
    this.el = element("div.cv-control.cv-set-weight", this.#which, this.#range, this.#number);
    this.#range.addEventListener("input", () => this.#move());
    for (const end of ["pointerup", "blur"]) this.#range.addEventListener(end, this.#release);
    for (const begin of ["focusin", "pointerenter"]) this.el.addEventListener(begin, this.#point);
    for (const end of ["focusout", "pointerleave"]) this.el.addEventListener(end, () => pointAt(this.el));
    this.#ends = [model.on("settings", this.#onSettings), model.on("change:selected", this.#onSelected)];
    this.#show();
  }

  #onSettings = () => {
    const [before, next] = [this.#kernel, kernelOf(this.#model.settings())];
    if (JSON.stringify(next) === JSON.stringify(before)) return; // most changes are elsewhere
    this.#kernel = next;
    if (next.leading === before.leading && String(next.shape) === String(before.shape)) {
      const changed = upTo(next.values.length).filter((index) => next.values[index] !== before.values[index]);
      if (changed.length === 1) this.#chosen = changed[0]; // dragged or typed in its cell
    }
    this.#show();
  };

  #onSelected = () => {
    const { panel = "", row = 0, column = 0 } = this.#model.get("selected") ?? {};
    const [rows, columns] = this.#kernel.shape;
    const index = row * columns + column;
    if (/^(grad_)?weight$/.test(panel)) this.#choose(index);
    else if (panel === "rotated_weight") this.#choose(rows * columns - 1 - index);
  };

  #point = () => {
    const cell = { panel: "weight", ...placeOf(this.#chosen, this.#kernel.shape) };
    pointAt(this.el, { cells: [cell] });
  };

  /** @param {number} index */
  #choose(index) {
    if (!(index in this.#kernel.values)) return;
    this.#chosen = index;
    this.#show();
    if (this.el.matches(":hover, :focus-within")) this.#point();
  }

  #release = () => {
    this.#dragged = false;
    this.#fitReach();
  };

  #move() {
    this.#dragged = true;
    // Steps from -3: 0.30000000000000027 means 0.3.
    const value = Number(Number(this.#range.value).toFixed(6));
    const { shape, values } = this.#kernel;
    if (values[this.#chosen] !== value) {
      const cell = { panel: "weight", ...placeOf(this.#chosen, shape), value };
      const { plane } = this.#model.settings();
      this.#model.change(
        (settings) => editCell(settings, cell),
        this.#moves(`weight ${this.#chosen} ${JSON.stringify(plane)}`),
      );
    }
    this.#show(); // after a refusal, too
  }

  /** As far as needed; never narrowed while dragged. */
  #fitReach() {
    this.#reach = Math.max(this.#dragged ? this.#reach : 0, weightReach(this.#kernel.values));
    const [min, max] = [String(-this.#reach), String(this.#reach)];
    const step = this.#reach > 1 ? STEPS.usual : STEPS.fine;
    if (this.#range.max !== max) Object.assign(this.#range, { min, max, step });
  }

  #show() {
    this.#fitReach();
    const { values } = this.#kernel;
    this.#chosen = Math.min(this.#chosen, values.length - 1); // another kernel keeps the place where it can
    const value = values[this.#chosen];
    const { row, column } = placeOf(this.#chosen, this.#kernel.shape);
    setText(this.#which, `weight[${this.#kernel.leading}${row},${column}]`);
    if (Number(this.#range.value) !== value) this.#range.value = String(value);
    this.#range.setAttribute("aria-label", say("weight.range", { row, column }));
    this.#range.setAttribute("aria-valuetext", formatNumber(value));
    setText(this.#number, formatNumber(value));
  }

  close = () => {
    for (const end of this.#ends) end();
    this.el.remove();
  };
}
