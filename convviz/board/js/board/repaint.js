// @ts-check
// New colours in plotly's picture without plotly's redraw. A redraw of a row takes 5 ms whatever changed, and twice that
// when its panels changed their size; a heatmap is one image with a pixel a cell, and while a slider moves only these
// pixels change, and where the image stands. Plotly itself redraws when the slider rests, and its data are up to date
// all the time.
import { colorOf } from "../base/format.js";

const REST_MS = 250;

/**
 * Make the means to repaint one plotly graph.
 * @param {any} plot the graph's element
 */
export function createRepainter(plot) {
  const canvas = document.createElement("canvas");
  /** @type {Map<number, any>} */
  const dirty = new Map();
  /** What each trace's image shows, if we painted it. @type {Map<number, ImageData>} */
  const painted = new Map();
  let timer = 0;
  /** @type {(() => void) | null} */
  let later = null; // draws everything, when more than colours changed

  /** @param {number} index of a trace @returns {SVGImageElement | null} */
  function imageOf(index) {
    const number = index ? String(index + 1) : "";
    return plot.querySelector(`.overplot .x${number}y${number} .hm image`);
  }

  return {
    /**
     * Repaint one trace; false when plotly has no image for it yet.
     * @param {number} index @param {ArrayLike<number>[]} rows @param {number} limit @param {[number, string][]} scale
     */
    paint(index, rows, limit, scale) {
      const image = imageOf(index);
      const context = canvas.getContext("2d");
      if (!image || !context) return false;
      Object.assign(plot.data[index], { z: rows, zmin: -limit, zmax: limit });
      dirty.set(index, { z: rows, zmin: -limit, zmax: limit });
      const [width, height] = [rows[0].length, rows.length];
      const pixels = context.createImageData(width, height);
      rows.forEach((row, r) => {
        for (let c = 0; c < row.length; c++) {
          if (!Number.isFinite(row[c])) continue; // left transparent, as plotly leaves it
          const [red, green, blue] = colorOf(scale, row[c], limit);
          pixels.data.set([red, green, blue, 255], 4 * (r * row.length + c));
        }
      });
      // Torch's numbers follow the page's own, mostly in the same colours: making an image is what costs most here.
      if (samePixels(painted.get(index), pixels)) return true;
      painted.set(index, pixels);
      [canvas.width, canvas.height] = [width, height];
      context.putImageData(pixels, 0, 0);
      image.href.baseVal = canvas.toDataURL();
      return true;
    },

    /**
     * Put the images where their panels stand now; false when plotly has not one for each.
     * @param {{ frame: DOMRect, boxes: DOMRect[] }} place of the row and of its panels
     */
    move({ frame, boxes }) {
      const images = boxes.map((_, index) => imageOf(index));
      if (plot.data?.length !== boxes.length || images.includes(null)) return false;
      boxes.forEach((box, index) => {
        const image = /** @type {SVGImageElement} */ (images[index]);
        const group = /** @type {SVGGElement} */ (image.closest("[clip-path]"));
        group.setAttribute("transform", `translate(${box.left - frame.left},${box.top - frame.top})`);
        const [clip] = group.getAttribute("clip-path")?.match(/#[\w-]+/) ?? []; // a page's base may stand before it
        for (const shape of [image, plot.querySelector(`${clip} rect`)]) setSize(shape, box);
      });
      for (const layer of plot.querySelectorAll(".main-svg")) setSize(layer, frame);
      return true;
    },

    /** Let plotly draw everything anew, once nothing moves any more. @param {() => void} react */
    settleAll(react) {
      clearTimeout(timer);
      later = react;
      timer = window.setTimeout(react, REST_MS);
    },

    /** Let plotly redraw what was repainted, once nothing moves any more. @param {any} plotly */
    settle(plotly) {
      clearTimeout(timer);
      timer = window.setTimeout(() => {
        if (later) return later();
        const traces = [...dirty.values()];
        const update = Object.fromEntries(["z", "zmin", "zmax"].map((name) => [name, traces.map((trace) => trace[name])]));
        if (traces.length) plotly.restyle(plot, update, [...dirty.keys()]);
        dirty.clear();
        painted.clear();
      }, REST_MS);
    },

    /** Forget what was to be redrawn: everything is drawn anew, or the board goes. */
    forget() {
      clearTimeout(timer);
      later = null;
      dirty.clear();
      painted.clear();
    },
  };
}

/** @param {ImageData | undefined} one @param {ImageData} other */
function samePixels(one, other) {
  return one?.width === other.width && one.height === other.height && one.data.every((part, i) => part === other.data[i]);
}

/** @param {Element | null} shape @param {DOMRect} box */
function setSize(shape, { width, height }) {
  shape?.setAttribute("width", String(width));
  shape?.setAttribute("height", String(height));
}
