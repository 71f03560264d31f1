// A panel's other planes, each a small button.
import { element, makeButton } from "../base/dom.js";
import { colorOf } from "../base/format.js";
import { say } from "../base/say.js";

/** @typedef {NonNullable<import("./panel.js").PanelSpec["thumbs"]>} Thumbs */

export class Thumbnails {
  el = element("div", { class: "cv-thumbs" });
  /** @type {Thumbs | null} */
  #spec = null;
  #choose;

  /** @param {(at: number[]) => void} choose */
  constructor(choose) {
    this.#choose = choose;
  }

  /** @param {Thumbs | null} next */
  set(next) {
    this.#spec = next;
    const planes = this.#spec?.planes ?? [];
    while (this.el.children.length > planes.length) this.el.lastElementChild?.remove();
    planes.forEach((plane, index) => {
      let button = this.el.children[index];
      if (!button) {
        button = makeButton({ class: "cv-thumb", tabindex: "-1" }, element("canvas", {}), () => {
          if (this.#spec) this.#choose(this.#spec.planes[index].at);
        });
        this.el.append(button);
      }
      const canvas = /** @type {HTMLCanvasElement} */ (button.firstElementChild);
      if (canvas.width !== this.#spec?.columns) canvas.width = this.#spec?.columns ?? 1;
      if (canvas.height !== this.#spec?.rows) canvas.height = this.#spec?.rows ?? 1;
      button.setAttribute("aria-label", say("panel.plane", { plane: plane.label }));
      button.setAttribute("title", plane.label);
      button.setAttribute("aria-pressed", String(plane.shown));
    });
  }

  /** @param {ArrayLike<number>} values @param {[number, string][]} scale @param {number} limit */
  draw(values, scale, limit) {
    if (!this.#spec) return;
    const { rows, columns } = this.#spec;
    [...this.el.children].forEach((button, index) => {
      const canvas = /** @type {HTMLCanvasElement} */ (button.firstElementChild);
      const context = canvas.getContext("2d");
      if (!context) return;
      const image = context.createImageData(columns, rows);
      for (let cell = 0; cell < rows * columns; cell++) {
        const value = values[index * rows * columns + cell];
        image.data.set([...colorOf(scale, Number.isFinite(value) ? value : 0, limit), 255], cell * 4);
      }
      context.putImageData(image, 0, 0);
    });
  }
}
