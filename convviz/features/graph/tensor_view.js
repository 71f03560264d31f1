// One tensor in a pane: its heatmap, with a choice of the plane where it has several, or its one number.
import { element, setText } from "../../web/base/dom.js";
import { decode } from "../../web/base/format.js";
import { plainText, setRich } from "../../web/base/rich_text.js";
import { Heatmap } from "../../web/board/grid/tab_heatmap.js";
import { say, sayPieces } from "./sentences.js";
import { rowsOf } from "../../web/rules/shapes_and_indices.js";

const SIDE = 300; // pixels of the longer side of a heatmap, at most

/**
 * @typedef {{ buffer: number, dtype: string, size: Pair, part: string, panel?: string, same?: boolean }}
 *   Plane as Python sends it: where its numbers are among the buffers, and how many
 * @typedef {Plane & { key: string, title: string, shape: string, text: string, note: string, planes?:
 *   number[], at?: number[] }} Tensor a plane where it is drawn
 */

export class LinkedMap {
  /** @type {Plane | null} */
  #shown = null;
  #map;
  el;
  #pane;
  #read;
  #largest;

  /**
   * @param {PaneTools} pane @param {(text: string) => void} read @param {number} [largest] pixels of a cell
   */
  constructor(pane, read, largest = 30) {
    [this.#pane, this.#read, this.#largest] = [pane, read, largest];
    this.#map = new Heatmap(pane, {
      onPoint: (row, column) => {
        this.#read(this.#map.grid.describe(row, column));
        if (!this.#shown?.panel) return;
        const cell = this.#shown.same ? { panel: this.#shown.panel, row, column } : null;
        this.#pane.point({ panels: [this.#shown.panel], cell });
      },
      onLeave: () => this.#pane.point(),
    });
    this.el = this.#map.el;
  }

  /**
   * @param {Plane & { label: string, shape: string, rows?: string, columns?: string }} plane
   * @param {Buffers} buffers
   */
  set(plane, buffers) {
    this.#shown = plane;
    const { label, shape, rows, columns, dtype } = plane;
    const values = rowsOf(decode(buffers[plane.buffer], dtype), plane.size[1]);
    this.#map.set({ values, label, shape, rows, columns, dtype, within: [SIDE, 4, this.#largest] });
    this.#map.el.dataset.panelName = plane.panel ?? "";
  }

  /** @param {Pointed} pointed */
  hear({ cell, cells, panels }) {
    if (!this.#shown?.panel) return;
    const here = /** @type {Place[]} */ (
      [cell, ...cells].filter((each) => each?.panel === this.#shown?.panel)
    );
    this.#map.light(this.#shown.same ? here : []);
    this.#map.el.classList.toggle(
      "cv-pointed",
      panels.includes(this.#shown.panel) || (!this.#shown.same && here.length > 0),
    );
  }
}

/** Number fields that choose a plane of a tensor. `set` reuses them while the number of axes stays the same. */
export class PlaneFields {
  el = element("div.cv-planes");
  #choose;

  /** @param {(at: number[]) => void} choose */
  constructor(choose) {
    this.#choose = choose;
  }

  #inputs = () => [...this.el.querySelectorAll("input")];

  /**
   * @param {number[]} counts @param {number[]} at
   * @param {(input: HTMLInputElement, axis: number) => (Node | string)[]} named
   */
  set(counts, at, named) {
    if (this.el.childElementCount !== counts.length)
      this.el.replaceChildren(
        ...counts.map((_, axis) => element("label", ...named(this.#createField(), axis))),
      );
    this.#inputs().forEach((input, axis) => {
      input.max = String(counts[axis] - 1);
      if (Number(input.value) !== at[axis] || !input.value) input.value = String(at[axis]);
    });
    return this.#inputs();
  }

  #createField() {
    const input = element("input", { type: "number", min: "0", step: "1" });
    input.addEventListener("change", () =>
      this.#choose(this.#inputs().map(({ value }) => Number(value) || 0)),
    );
    return input;
  }
}

export class TensorView {
  #title = element("h5");
  #text = element("p.cv-tensor-text");
  #fields;
  #room = element("div");
  #note = element("p.cv-muted");
  el;
  /** @type {LinkedMap | null} */
  #map = null;
  #pane;
  #read;

  /** @param {PaneTools} pane @param {(text: string) => void} read @param {(at: number[]) => void} choose */
  constructor(pane, read, choose) {
    [this.#pane, this.#read] = [pane, read];
    this.#fields = new PlaneFields(choose);
    const parts = [this.#title, this.#fields.el, this.#room, this.#text, this.#note];
    this.el = element("div.cv-tensor", ...parts);
  }

  /** @param {number[]} counts @param {number[]} at */
  #setPlanes(counts, at) {
    this.#fields.el.hidden = !counts.some((count) => count > 1);
    if (this.#fields.el.hidden) return this.#fields.el.replaceChildren();
    const named = (/** @type {HTMLInputElement} */ field, /** @type {number} */ axis) =>
      axis ? [", ", field] : sayPieces("tensor.plane", { field });
    this.#fields.set(counts, at, named).forEach((input, axis) => {
      input.disabled = counts[axis] === 1;
      input.setAttribute("aria-label", say("tensor.axis", { axis, last: counts[axis] - 1 }));
    });
  }

  /** @param {Tensor} tensor @param {Buffers} buffers */
  set(tensor, buffers) {
    this.el.dataset.tensor = tensor.key;
    setRich(this.#title, tensor.title);
    this.#setPlanes(tensor.planes ?? [], tensor.at ?? []);
    const drawn = tensor.buffer !== undefined;
    this.#title.hidden = drawn; // the heatmap has a title of its own
    if (drawn && !this.#map) {
      this.#map = new LinkedMap(this.#pane, this.#read);
      this.#room.append(this.#map.el);
    }
    this.#room.hidden = !drawn;
    const place = tensor.at?.length ? `[${tensor.at.join(", ")}]` : "";
    const label = plainText(tensor.title) + place;
    if (drawn) this.#map?.set({ ...tensor, label }, buffers);
    const text = [tensor.shape, tensor.text || say("tensor.unknown")].filter(Boolean).join(": ");
    setText(this.#text, drawn ? tensor.text : text);
    const part = tensor.part && say("tensor.shown", { part: tensor.part });
    setRich(this.#note, [part, tensor.note].filter(Boolean).join(" "));
  }

  /** @param {Pointed} pointed */
  hear = (pointed) => this.#map?.hear(pointed);
}
