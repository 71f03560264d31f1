// A panel's other planes, each a small button.
import { element, makeButton } from "../../base/dom.js";
import { say } from "../../base/board_sentences.js";
import { createCanvasColours } from "../grid/canvas_cell_colours.js";

/** @typedef {NonNullable<PanelSpec["thumbs"]>} Thumbs */

export class Thumbnails {
  el = element("div.cv-thumbs");
  /** @type {{ button: HTMLElement, pixels: ReturnType<typeof createCanvasColours> }[]} */
  #all = [];
  /** @type {Thumbs | null} */
  #spec = null;
  #choose;

  /** @param {(at: number[]) => void} choose */
  constructor(choose) {
    this.#choose = choose;
  }

  /** @param {number} index */
  #make(index) {
    const pixels = createCanvasColours();
    pixels.el.className = "";
    const choose = () => this.#spec && this.#choose(this.#spec.planes[index].at);
    return { button: makeButton({ class: "cv-thumb", tabindex: "-1" }, pixels.el, choose), pixels };
  }

  /** @param {Thumbs | null} next */
  set(next) {
    this.#spec = next;
    const planes = next?.planes ?? [];
    for (const { button } of this.#all.splice(planes.length)) button.remove();
    planes.forEach((plane, index) => {
      const { button } = (this.#all[index] ??= this.#make(index));
      if (!button.parentElement) this.el.append(button);
      button.setAttribute("aria-label", say("panel.plane", { plane: plane.label }));
      button.setAttribute("title", plane.label);
      button.setAttribute("aria-pressed", String(plane.shown));
    });
  }

  /** @param {ArrayLike<number>} values @param {Scale} scale @param {number} limit */
  draw(values, scale, limit) {
    if (!this.#spec) return;
    const { rows, columns } = this.#spec;
    const all = Array.from(values);
    this.#all.forEach(({ pixels }, index) => {
      const plane = all.slice(index * rows * columns, (index + 1) * rows * columns);
      pixels.paint(plane, columns, limit, scale);
    });
  }
}
