// A plane's colours on a canvas, a pixel a cell: a path for each colour made a weight's step a tenth slower.
import { element } from "../../base/dom.js";
import { colorOf } from "../../base/format.js";

export function createCanvasColours() {
  const el = element("canvas.cv-pixels", { "aria-hidden": "true" });
  // small and often: not on the GPU
  const context = el.getContext("2d", { willReadFrequently: true });
  let painted = {
    values: /** @type {ArrayLike<number>} */ ([]),
    width: 0,
    limit: 0,
    scale: /** @type {Scale} */ ([]),
  };

  return {
    el,
    /**
     * Paints a pixel for each cell; a number that is not finite stays transparent.
     * @param {ArrayLike<number>} values @param {number} width @param {number} limit @param {Scale} scale
     */
    paint(values, width, limit, scale) {
      const same =
        painted.width === width &&
        painted.limit === limit &&
        painted.scale === scale &&
        equal(painted.values, values);
      if (same || !context) return;
      painted = { values: Array.from(values), width, limit, scale };
      const height = values.length / width;
      if (el.width !== width || el.height !== height) Object.assign(el, { width, height });
      const image = context.createImageData(width, height);
      for (let cell = 0; cell < values.length; cell++) {
        if (Number.isFinite(values[cell]))
          image.data.set([...colorOf(scale, values[cell], limit), 255], 4 * cell);
      }
      context.putImageData(image, 0, 0);
    },
  };
}

/** @param {ArrayLike<number>} one @param {ArrayLike<number>} other */
export function equal(one, other) {
  if (one.length !== other.length) return false;
  for (let index = 0; index < one.length; index++) if (!Object.is(one[index], other[index])) return false;
  return true;
}
