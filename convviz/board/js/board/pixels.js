// @ts-check
// The colours of a plane on a canvas, a pixel a cell.
import { element } from "../base/dom.js";
import { colorOf } from "../base/format.js";

/** A canvas that fills the area that it is put into. */
export function createPixels() {
  return /** @type {HTMLCanvasElement} */ (element("canvas", { class: "cv-pixels", "aria-hidden": "true" }));
}

/**
 * Paint a plane; what is no finite number stays transparent.
 * @param {HTMLCanvasElement} canvas @param {ArrayLike<number>} values row by row @param {number} width in cells
 * @param {number} limit the value at the end of the scale @param {[number, string][]} scale
 */
export function paintPixels(canvas, values, width, limit, scale) {
  Object.assign(canvas, { width, height: values.length / width });
  const context = canvas.getContext("2d", { willReadFrequently: true }); // few pixels, often: no work for a graphics card
  if (!context) return;
  const image = context.createImageData(canvas.width, canvas.height);
  for (let cell = 0; cell < values.length; cell++) {
    if (Number.isFinite(values[cell])) image.data.set([...colorOf(scale, values[cell], limit), 255], 4 * cell);
  }
  context.putImageData(image, 0, 0);
}
