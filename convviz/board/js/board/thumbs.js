// @ts-check
// The other planes of a panel, small, each a button that shows it.
import WORDS from "../../../facts/words/board.json" with { type: "json" };
import { element, makeButton } from "../base/dom.js";
import { colorOf } from "../base/format.js";
import { sentences } from "../base/words.js";

const say = sentences(WORDS);

/** @typedef {NonNullable<import("./panel.js").PanelSpec["thumbs"]>} Thumbs */

/** @param {(at: number[]) => void} choose a plane */
export function createThumbs(choose) {
  const el = element("div", { class: "cv-thumbs" });
  /** @type {Thumbs | null} */
  let spec = null;

  return {
    el,

    /** @param {Thumbs | null} next */
    set(next) {
      spec = next;
      const planes = spec?.planes ?? [];
      while (el.children.length > planes.length) el.lastElementChild?.remove();
      planes.forEach((plane, index) => {
        let button = el.children[index];
        if (!button) {
          button = makeButton({ class: "cv-thumb", tabindex: "-1" }, element("canvas", {}), () => {
            if (spec) choose(spec.planes[index].at);
          });
          el.append(button);
        }
        const canvas = /** @type {HTMLCanvasElement} */ (button.firstElementChild);
        if (canvas.width !== spec?.columns) canvas.width = spec?.columns ?? 1;
        if (canvas.height !== spec?.rows) canvas.height = spec?.rows ?? 1;
        button.setAttribute("aria-label", say("panel.plane", { plane: plane.label }));
        button.setAttribute("title", plane.label);
        button.setAttribute("aria-pressed", String(plane.shown));
      });
    },

    /**
     * @param {ArrayLike<number>} values of all planes @param {[number, string][]} scale @param {number} limit
     */
    draw(values, scale, limit) {
      if (!spec) return;
      const { rows, columns } = spec;
      [...el.children].forEach((button, index) => {
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
    },
  };
}
