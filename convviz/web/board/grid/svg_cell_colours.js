// A moving plane's colours, one path a colour: canvases are layers, recomposed each frame, and a rectangle a
// cell is made anew with every size. For many cells: canvas_cell_colours.js.
import { setAttribute, svgElement } from "../../base/dom.js";
import { colorOf, cssColor } from "../../base/format.js";
import { CELL } from "./grid_marks.js";

export function createSvgColours() {
  const el = svgElement("g.cv-tiles", { "aria-hidden": "true" });
  /** @type {Map<string, SVGElement>} */
  let paths = new Map();

  return {
    el,
    /**
     * Non-finite stays transparent.
     * @param {ArrayLike<number>} values @param {number} width @param {number} limit @param {Scale} scale
     */
    paint(values, width, limit, scale) {
      /** @type {Map<string, string>} */
      const outlines = new Map();
      for (let cell = 0; cell < values.length; cell++) {
        if (!Number.isFinite(values[cell])) continue;
        const fill = cssColor(colorOf(scale, values[cell], limit));
        const [x, y] = [(cell % width) * CELL, Math.floor(cell / width) * CELL];
        outlines.set(fill, `${outlines.get(fill) ?? ""}M${x} ${y}h${CELL}v${CELL}h-${CELL}z`);
      }
      const free = [...paths].filter(([fill]) => !outlines.has(fill)).map(([, path]) => path);
      const before = paths;
      paths = new Map();
      for (const [fill, d] of outlines) {
        const path = before.get(fill) ?? free.pop() ?? el.appendChild(svgElement("path"));
        setAttribute(path, "fill", fill);
        setAttribute(path, "d", d);
        paths.set(fill, path);
      }
      for (const path of free) path.remove();
    },
  };
}
