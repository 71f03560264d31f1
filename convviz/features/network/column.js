// The column of one operation: its planes above, the gradients at the same cells below, and what it is called.
import { element, setText } from "../../web/base/dom.js";
import { cellAt } from "./layout.js";
import { pixelsOf, readPlanes } from "./planes.js";
import { nameOf, percentText, say, shapeText, shortName } from "./sentences.js";

/**
 * @import { Tiling } from "./layout.js"
 * @import { Planes, Shade } from "./planes.js"
 * @typedef {{ value: Shade, gradient: Shade, ink: string, card: string, face: string }} Colours
 * @typedef {"forward" | "backward"} Row
 * @typedef {{ operation: number, row: Row, plane: number, at: Pair }} Pointed at: of the planes as they are drawn
 */

const NUMBERED = 22; // pixels of a plane on which its channel has room

/** Pixels of a tensor, once for each colouring. @type {WeakMap<Planes, { shade: Shade, image: HTMLCanvasElement }>} */
const images = new WeakMap();

/** @param {Planes} planes @param {Shade} shade */
function imageOf(planes, shade) {
  const known = images.get(planes);
  if (known?.shade === shade) return known.image;
  const [width, height] = [planes.width, planes.count * planes.height];
  const image = element("canvas", { width: String(width), height: String(height) });
  image.getContext("2d")?.putImageData(new ImageData(pixelsOf(planes, shade), width, height), 0, 0);
  images.set(planes, { shade, image });
  return image;
}

class MapView {
  #base = element("canvas");
  el;

  /** @param {Row} row */
  constructor(row) {
    this.el = element("div.cv-network-map", { "data-row": row }, this.#base);
  }

  /** @param {Planes} planes @param {Tiling} tiling @param {Shade} shade @param {Colours} colours @param {string[]} labels */
  draw(planes, tiling, shade, colours, labels) {
    const canvas = this.#base;
    const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
    const ratio = window.devicePixelRatio || 1;
    [canvas.width, canvas.height] = [tiling.width, tiling.height].map((size) => Math.ceil(size * ratio));
    [canvas.style.width, canvas.style.height] = [`${tiling.width}px`, `${tiling.height}px`];
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    const image = imageOf(planes, shade);
    const [wide, tall] = tiling.tile;
    context.imageSmoothingEnabled = planes.width > wide * ratio;
    for (let plane = 0; plane < tiling.count; plane++) {
      const [x, y] = tiling.at(plane);
      context.drawImage(image, 0, plane * planes.height, planes.width, planes.height, x, y, wide, tall);
    }
    if (!tiling.labelled) return void this.#number(context, planes, tiling, colours);
    context.fillStyle = colours.ink;
    context.font = `600 ${Math.min(11, tall)}px ${colours.face}`;
    context.textBaseline = "middle";
    for (let plane = 0; plane < tiling.count; plane++) {
      const [x, y] = tiling.at(plane);
      context.fillText(labels[plane], x + wide + 6, y + tall / 2);
    }
  }

  /** Which channel each plane is. @param {CanvasRenderingContext2D} context @param {Planes} planes @param {Tiling} tiling @param {Colours} colours */
  #number(context, { channels }, tiling, colours) {
    if (tiling.vector || tiling.count < 2 || Math.min(...tiling.tile) < NUMBERED) return;
    context.font = `600 9px ${colours.face}`;
    context.textBaseline = "top";
    for (let plane = 0; plane < tiling.count; plane++) {
      const [x, y] = tiling.at(plane);
      const text = String(channels[plane]);
      context.globalAlpha = 0.75;
      context.fillStyle = colours.card;
      context.fillRect(x, y, context.measureText(text).width + 3, 10);
      context.globalAlpha = 1;
      context.fillStyle = colours.ink;
      context.fillText(text, x + 1.5, y + 1.5);
    }
  }
}

export class Column {
  /** @type {Record<Row, MapView>} */
  maps = { forward: new MapView("forward"), backward: new MapView("backward") };
  #none = element("p.cv-network-none");
  #foot = element("p.cv-network-foot");
  #more;
  operation;
  /** @type {Planes | null} */
  planes = null;
  /** @type {Planes | null} */
  gradients = null;
  /** @type {Tiling | null} */
  tiling = null;
  el;

  /** @param {NetworkOperation} operation @param {() => void} showAll */
  constructor(operation, showAll) {
    this.operation = operation;
    const [short, number] = shortName(operation);
    const name = element("h4", short, ...(number ? [" ", element("small", number)] : []));
    this.#more = element("button.cv-network-more", { type: "button", tabindex: "-1", hidden: "" });
    this.#more.addEventListener("click", showAll);
    const shape = element("p", shapeText(operation.shape));
    this.el = element(
      "section.cv-network-column",
      { "data-operation": String(operation.index), tabindex: "-1", role: "application" },
      element("header", { title: `${nameOf(operation)} \u00b7 ${operation.kind}` }, name, shape),
      this.maps.forward.el,
      this.maps.backward.el,
      this.#none,
      element("div.cv-network-under", this.#foot, this.#more),
    );
    this.el.classList.toggle("cv-weighted", Boolean(operation.weight));
    this.el.setAttribute(
      "aria-label",
      say("column", { name: nameOf(operation), shape: shapeText(operation.shape) }),
    );
    this.el.setAttribute("aria-roledescription", say("column.role"));
  }

  /** @param {NetworkPacked | null} packed @param {NetworkPacked | null} gradient */
  read(packed, gradient) {
    this.planes = packed && readPlanes(packed);
    this.gradients = gradient && readPlanes(gradient);
  }

  /**
   * @param {Tiling} tiling @param {Colours} colours
   * @param {{ labels: string[], zeros: number | null, more: string, after: boolean }} words more: of planes; after: the
   *   gradient starts before it
   */
  draw(tiling, colours, { labels, zeros, more, after }) {
    this.tiling = tiling;
    for (const row of /** @type {const} */ (["forward", "backward"])) {
      const planes = row === "forward" ? this.planes : this.gradients;
      const map = this.maps[row];
      map.el.hidden = !planes;
      if (planes)
        map.draw(planes, tiling, row === "forward" ? colours.value : colours.gradient, colours, labels);
    }
    setText(this.#none, this.gradients ? "" : say(after ? "none.after" : "none"));
    this.#none.hidden = Boolean(this.gradients);
    setText(this.#more, more);
    this.#more.hidden = !more;
    const saliency = this.operation.kind === "input" ? say("saliency") : "";
    setText(this.#foot, saliency || (zeros ? say("foot.zeros", { share: percentText(zeros) }) : ""));
    this.#foot.classList.toggle("cv-network-saliency", Boolean(saliency));
  }

  /** @param {MouseEvent} event @returns {Pointed | null} */
  hit(event) {
    const map = /** @type {HTMLElement} */ (event.target).closest(".cv-network-map");
    if (!(map instanceof HTMLElement) || !this.planes || !this.tiling) return null;
    const box = map.getBoundingClientRect();
    const size = /** @type {Pair} */ ([this.planes.height, this.planes.width]);
    const found = cellAt(this.tiling, size, event.clientX - box.left, event.clientY - box.top);
    const row = /** @type {Row} */ (map.dataset.row);
    return (
      found && { operation: this.operation.index, row, plane: found.plane, at: [found.row, found.column] }
    );
  }

  /** Returns the indices of the pointed cell in the operation's tensor. @param {Pointed} pointed @returns {number[]} */
  cellOf({ plane, at }) {
    const planes = /** @type {Planes} */ (this.planes);
    const size = planes.cells ?? [planes.height, planes.width];
    const [row, column] = [planes.height, planes.width].map((count, axis) =>
      Math.min(size[axis] - 1, Math.floor(((at[axis] + 0.5) * size[axis]) / count)),
    );
    const { length } = this.operation.shape;
    return length === 3
      ? [planes.channels[plane], row, column]
      : length === 2
        ? [row, column]
        : length
          ? [planes.channels[plane]]
          : [];
  }
}
