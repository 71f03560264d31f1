// @ts-check
// The kernels of the first layer while they learn, and the gradients that have just been subtracted from
// them.
import WORDS from "../../../facts/words/race.json" with { type: "json" };
import { createPixels } from "../../board/pixels.js";
import { element, setText } from "../../base/dom.js";
import { formatNumber } from "../../base/format.js";
import { sentences } from "../../base/words.js";

const say = sentences(WORDS);
const PARTS = /** @type {const} */ (["weight", "gradient"]);
const COUNT = 32; // output channels of the article's first layer
const SIDE = 3;

/**
 * @typedef {Record<string, Record<"weight" | "gradient", number[][]>>} Kernels as lab/picture.py makes them
 */

/** @param {{ scale: () => [number, string][] }} pane */
export function createKernels(pane) {
  const menu = element("select");
  const about = element("p");
  const rows = Object.fromEntries(PARTS.map((part) => [part, createRow(part)]));
  const titled = PARTS.map((part) => [element("code", {}, say(`kernels.${part}`)), rows[part].el]);
  const el = element(
    "section",
    {},
    element("h4", {}, say("kernels")),
    element("label", {}, say("kernels.of"), menu),
    ...titled.flat(),
    about,
  );
  /** @type {Kernels} */
  let kernels = {};

  function draw() {
    const found = kernels[menu.value];
    if (found) for (const part of PARTS) rows[part].draw(menu.value, found[part], pane.scale());
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
      if (names.join() !== [...menu.options].map(({ value }) => value).join()) {
        menu.replaceChildren(...names.map((name) => element("option", { value: name }, name)));
      }
      if (names.length)
        setText(about, say("kernels.about", { shown: next[names[0]].weight.length, count: COUNT }));
      draw();
    },
  };
}

/** Make one row. @param {"weight" | "gradient"} part */
function createRow(part) {
  const el = element("div", { class: "cv-race-kernels", "data-part": part });
  /** @type {{ holder: HTMLElement, pixels: ReturnType<typeof createPixels> }[]} */
  const maps = [];

  function add() {
    const pixels = createPixels();
    const holder = element("div", { role: "img" }, pixels.el);
    maps.push({ holder, pixels });
    el.append(holder);
  }

  return {
    el,
    /** @param {string} layer @param {number[][]} planes @param {[number, string][]} scale */
    draw(layer, planes, scale) {
      while (maps.length < planes.length) add();
      const limit = Math.max(...planes.flat().map(Math.abs)) || 1;
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
