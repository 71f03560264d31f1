// What is drawn over the maps: where the fields of a cell are, and the cell. One canvas for all, as large as what is in
// sight: one for each map would cost the page a layer each, with every cell that is pointed at.
import { element } from "../../web/base/dom.js";
import { outlineOf } from "./outlines.js";
import { dimsOf } from "./relations.js";

/**
 * @import { Column, Pointed, Row } from "./column.js"
 * @import { Field } from "./fields.js"
 * @typedef {{ pointed: Pointed, fields: Record<Row, Field>, pinned: boolean }} Marked
 */

const ROWS = /** @type {Row[]} */ (["forward", "backward"]);

export class Overlay {
  el = element("canvas.cv-network-over", { "aria-hidden": "true" });
  #isDrawn = false;
  /** @type {{ accent: string, card: string, ink: string } | null} */
  #colours = null;
  /** Of a map's corner, read once for each arrangement. @type {Map<HTMLElement, Pair>} */
  #corners = new Map();

  /** @param {number} width @param {number} height */
  size(width, height) {
    const ratio = window.devicePixelRatio || 1;
    [this.el.width, this.el.height] = [width, height].map((size) => Math.ceil(size * ratio));
    [this.el.style.width, this.el.style.height] = [`${width}px`, `${height}px`];
    this.#corners.clear();
    this.#colours = null;
  }

  /**
   * @param {Marked | null} marked null: nothing @param {Map<number, Column>} columns
   * @param {number} left how far the maps are scrolled
   */
  draw(marked, columns, left) {
    const context = /** @type {CanvasRenderingContext2D} */ (this.el.getContext("2d"));
    const ratio = window.devicePixelRatio || 1;
    if (this.#isDrawn) context.reset();
    this.#isDrawn = Boolean(marked);
    if (!marked) return;
    context.setTransform(ratio, 0, 0, ratio, -left * ratio, 0);
    const colours = (this.#colours ??= this.#readColours());
    this.#drawFields(context, marked, columns, [left, left + this.el.width / ratio]);
    const column = columns.get(marked.pointed.operation);
    if (!column) return;
    const ring = new Path2D();
    for (const row of ROWS) addRing(column, marked.pointed, this.#cornerOf(column.maps[row].el), ring);
    const [wide, narrow] = marked.pinned ? [5, 2.5] : [4, 1.5];
    outlined(context, ring, [colours.card, wide], [colours.ink, narrow]);
  }

  /** @param {CanvasRenderingContext2D} context @param {Marked} marked @param {Map<number, Column>} columns @param {Pair} sight */
  #drawFields(context, { fields, pointed }, columns, [left, right]) {
    const { accent, card } = (this.#colours ??= this.#readColours());
    const [area, lines] = [new Path2D(), new Path2D()];
    for (const row of ROWS)
      for (const [index, masks] of fields[row].masks) {
        const column = index === pointed.operation ? null : columns.get(index);
        if (!column) continue;
        const corner = this.#cornerOf(column.maps[row].el);
        if (corner[0] < right && corner[0] + (column.tiling?.width ?? 0) > left)
          addField(column, row, masks, corner, area, lines);
      }
    context.fillStyle = accent;
    context.globalAlpha = 0.13;
    context.fill(area);
    context.globalAlpha = 1;
    outlined(context, lines, [card, 3], [accent, 1.5]);
  }

  /** As the sheet has them now: a picture is built before it is in the page. */
  #readColours() {
    const style = getComputedStyle(this.el);
    const [accent, card, ink] = ["accent", "card", "ink"].map((name) =>
      style.getPropertyValue(`--cv-${name}`).trim(),
    );
    return { accent, card, ink };
  }

  /** @param {HTMLElement} map */
  #cornerOf(map) {
    const known = this.#corners.get(map) ?? /** @type {Pair} */ ([map.offsetLeft, map.offsetTop]);
    this.#corners.set(map, known);
    return known;
  }
}

/**
 * Strokes a path several times, so that it stands out on any colour.
 * @param {CanvasRenderingContext2D} context @param {Path2D} path @param {...[string, number]} strokes
 */
function outlined(context, path, ...strokes) {
  for (const [color, width] of strokes) {
    context.strokeStyle = color;
    context.lineWidth = width;
    context.stroke(path);
  }
}

/** @param {Column} column @param {Row} row @param {import("./masks.js").Masks} masks @param {Pair} corner @param {Path2D} area @param {Path2D} lines */
function addField({ operation, planes, gradients, tiling }, row, masks, [left, top], area, lines) {
  const [drawn, dims] = [row === "forward" ? planes : gradients, dimsOf(operation.shape)];
  if (!drawn || !tiling || !dims) return;
  // All of a vector is one frame.
  if (tiling.vector && masks.every(Boolean))
    return lines.rect(left + 1, top + 1, tiling.width - 2, tiling.height - 2);
  const [, height, width] = dims;
  const [across, down] = [tiling.tile[0] / width, tiling.tile[1] / height];
  for (let plane = 0; plane < tiling.count; plane++) {
    const mask = masks[drawn.channels[plane]];
    const [x, y] = tiling.at(plane);
    if (mask) addOutline(outlineOf(mask, [height, width]), [left + x, top + y], [across, down], area, lines);
  }
}

/** @param {import("./outlines.js").Outline} outline @param {Pair} corner @param {Pair} cell @param {Path2D} area @param {Path2D} lines */
function addOutline({ areas, edges }, [x, y], [across, down], area, lines) {
  for (const [from, row, wide, tall] of areas)
    for (const path of edges ? [area] : [area, lines])
      path.rect(x + from * across, y + row * down, wide * across, tall * down);
  for (const [x1, y1, x2, y2] of edges ?? []) {
    lines.moveTo(x + x1 * across, y + y1 * down);
    lines.lineTo(x + x2 * across, y + y2 * down);
  }
}

/**
 * Adds a ring around the pointed cell, at least five pixels wide and high.
 * @param {Column} column @param {Pointed} pointed @param {Pair} corner @param {Path2D} ring
 */
function addRing({ planes, tiling }, { plane, at: [row, column] }, [left, top], ring) {
  if (!planes || !tiling) return;
  const [x, y] = tiling.at(plane);
  const [wide, tall] = [tiling.tile[0] / planes.width, tiling.tile[1] / planes.height];
  const grown = Math.max(0, (5 - Math.min(wide, tall)) / 2); // a cell of a pixel is to be found, too
  const corner = [left + x + column * wide - grown, top + y + row * tall - grown];
  ring.rect(corner[0], corner[1], wide + 2 * grown, tall + 2 * grown);
}
