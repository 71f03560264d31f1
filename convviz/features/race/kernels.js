// The kernels of the first layer while they learn, and the gradients that were just subtracted from them.
import { createCanvasColours } from "../../web/board/grid/canvas_cell_colours.js";
import { element, setText } from "../../web/base/dom.js";
import { formatNumber } from "../../web/base/format.js";
import { code, fillMenu, limitOf } from "../../web/tabs/pane_elements.js";
import { say } from "./sentences.js";

const PARTS = /** @type {const} */ (["weight", "gradient"]);
const COUNT = 32; // output channels of the article's first layer
const SIDE = 3;

/** @typedef {Record<string, Record<"weight" | "gradient", number[][]>>} Kernels by lab/tab_data.py */

/** @param {{ scale: ScaleOf }} pane */
export function createKernels(pane) {
  const menu = element("select");
  const about = element("p");
  const rows = Object.fromEntries(PARTS.map((part) => [part, createRow(part)]));
  const titled = PARTS.flatMap((part) => [code(say(`kernels.${part}`)), rows[part].el]);
  const label = element("label", say("kernels.of"), menu);
  const el = element("section", element("h4", say("kernels")), label, ...titled, about);
  /** @type {Kernels} */
  let kernels = {};

  function draw() {
    const found = kernels[menu.value];
    if (found) for (const part of PARTS) rows[part].draw(menu.value, found[part], pane.scale("weight"));
  }

  menu.addEventListener("change", draw);
  return {
    el,
    /** @param {Kernels} next */
    set(next) {
      const names = Object.keys(next);
      if (!names.length && Object.keys(kernels).length) return; // between two seeds nobody has taken a step
      kernels = next;
      el.hidden = !names.length;
      fillMenu(
        menu,
        names.map((name) => [name]),
      );
      if (names.length)
        setText(about, say("kernels.about", { shown: next[names[0]].weight.length, count: COUNT }));
      draw();
    },
  };
}

/** @param {"weight" | "gradient"} part */
function createRow(part) {
  const el = element("div.cv-race-kernels", { "data-part": part });
  /** @type {{ holder: HTMLElement, pixels: ReturnType<typeof createCanvasColours> }[]} */
  const maps = [];
  return {
    el,
    /** @param {string} layer @param {number[][]} planes @param {Scale} scale */
    draw(layer, planes, scale) {
      while (maps.length < planes.length) {
        const pixels = createCanvasColours();
        maps.push({ pixels, holder: el.appendChild(element("div", { role: "img" }, pixels.el)) });
      }
      const limit = limitOf(planes.flat());
      planes.forEach((values, at) => {
        const { holder, pixels } = maps[at];
        const [low, high] = [Math.min(...values), Math.max(...values)].map(formatNumber);
        const words = say("kernels.read", { name: say(`kernels.${part}`), number: at, layer, low, high });
        Object.assign(holder, { title: words });
        holder.setAttribute("aria-label", words);
        holder.dataset.values = values.join(" ");
        pixels.paint(values, SIDE, limit, scale);
      });
    },
  };
}
