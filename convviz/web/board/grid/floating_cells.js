// Cells with numbers of their own, over a panel or beside it.
import { element, setText, svgElement } from "../../base/dom.js";
import { colorOf, cssColor, formatNumber, needsWhiteInk } from "../../base/format.js";
import { writeLike } from "./digit_size.js";
import { CELL, boxOf, gapsBetween } from "./grid_marks.js";
import { eachCell } from "../../rules/shapes_and_indices.js";

/**
 * @typedef {ReturnType<typeof createPlate>} Plate
 * @typedef {{ left: number, top: number, width: number, height: number }} Box
 */

/**
 * Cells drawn as a grid draws its own.
 * @param {{ rows: number, columns: number }} shape @param {Scale} scale @param {number} limit
 */
export function createPlate({ rows, columns }, scale, limit) {
  const cells = eachCell(rows, columns, (row, column) => {
    const place = boxOf(row, column);
    const text = svgElement("text", { x: place.x + CELL / 2, y: place.y + CELL / 2 });
    return { box: svgElement("rect", place), text };
  });
  const el = svgElement(
    "g.cv-film.cv-plate",
    { "aria-hidden": "true" },
    ...cells.map(({ box }) => box),
    svgElement("path.cv-gaps", { d: gapsBetween(rows, columns) }),
    ...cells.map(({ text }) => text),
  );
  return {
    el,
    /** @param {ArrayLike<number | null>} values null: nothing yet @param {Scale} [dye] */
    set(values, dye = scale) {
      cells.forEach(({ box, text }, index) => {
        const value = values[index];
        const color = colorOf(dye, value ?? 0, limit);
        box.style.fill = cssColor(color);
        setText(text, value === null ? "" : formatNumber(value));
        text.setAttribute("class", value === 0 ? "cv-zero" : needsWhiteInk(color) ? "cv-white" : "");
      });
    },
    /** @param {Point} cell */
    ring({ row, column }) {
      const place = { x: column * CELL, y: row * CELL, width: CELL, height: CELL };
      el.append(svgElement("rect.cv-ring", { ...place }));
    },
  };
}

/**
 * A plate as large as the cells of a panel.
 * @param {Panel} panel @param {Plate} plate @param {{ rows: number, columns: number }} shape
 * @param {HTMLElement} like
 */
export function createFloat({ area, grid }, plate, { rows, columns }, like) {
  const box = { viewBox: `0 0 ${columns * CELL} ${rows * CELL}`, preserveAspectRatio: "none" };
  const look = { class: area.className, style: area.getAttribute("style") ?? "" };
  writeLike(plate.el, grid);
  const cells = element("div", look, svgElement("svg", box, plate.el));
  const float = element("div.cv-float", cells);
  dressAs(float, like);
  return float;
}

/** @param {HTMLElement} float @param {HTMLElement} panel */
export function dressAs(float, { dataset }) {
  float.dataset.quantity = dataset.quantity;
  float.toggleAttribute("data-strong", "strong" in dataset);
}

/** The first opaque background outwards. @param {Element | null} el */
export function groundOf(el) {
  for (let at = el; at; at = at.parentElement) {
    const color = getComputedStyle(at).backgroundColor;
    if (!/^(transparent|rgba\(.*, 0\))$/.test(color)) return color;
  }
  return "Canvas";
}

/** @param {Element} el @param {Element} frame */
export function boxIn(el, frame) {
  const [own, around] = [el.getBoundingClientRect(), frame.getBoundingClientRect()];
  return {
    left: own.left - around.left,
    top: own.top - around.top,
    width: own.width,
    height: own.height,
  };
}
