// The size of a number's letters in a cell: as large as fits, never too small to read.
import { setStyle, svgElement } from "../../base/dom.js";
import { CELL } from "./grid_marks.js";

export const SMALLEST = 10; // where less fits, a cell shows colour alone
const [LARGEST, FROM_AFAR] = [26, 40]; // on a page, in a lecture
const IN_A_PANE = 7; // the smallest size in a pane
const SHARE = 0.5; // of a cell's height
const ZERO = 0.8; // a zero's letters, of the others'
const FROM_LAST_ROW = 25; // read in a lecture
const MARGIN = 2; // free beside a number
// around the smallest letters
const AIR = 2;

/** @typedef {{ digit: number, minus: number, point: number }} Face how wide its letters are, of their size */

/** Until the page's own is measured: system faces differ by a fifth. Replaced whole. @type {Face} */
let face = { digit: 0.6, minus: 0.7, point: 0.3 };

/** In units of the letters' size. @param {string} short */
export function widthOf(short) {
  let width = 0;
  for (const letter of short)
    width += letter === "." ? face.point : letter === "\u2212" ? face.minus : face.digit;
  return width;
}

/** Of numbers that never change, in a face. @type {WeakMap<readonly string[], { of: Face, widest: number }>} */
const measured = new WeakMap();

/** In units of the letters' size: asked several times a layout. @param {readonly string[]} shorts replaced whole */
export function widestOf(shorts) {
  const known = measured.get(shorts);
  if (known?.of === face) return known.widest;
  let widest = 0;
  for (const short of shorts) widest = Math.max(widest, widthOf(short));
  measured.set(shorts, { of: face, widest });
  return widest;
}

/** Returns the smallest cell in which a number of this width can be read. @param {number} widest */
export const leastCell = (widest) => ({
  width: Math.ceil(widest * SMALLEST + MARGIN),
  height: SMALLEST + AIR,
});

/**
 * In pixels; 0: no room.
 * @param {number} widest @param {{ width: number, height: number }} cell @param {boolean} [afar] in a
 *   lecture
 */
export function digitSize(widest, { width, height }, afar = false) {
  if (height < SMALLEST + AIR) return 0;
  const fits = (width - MARGIN) / Math.max(widest, face.digit);
  const most = Math.max(height * SHARE * (afar ? 1.2 : 1), SMALLEST);
  const size = Math.min(fits, most, afar ? FROM_AFAR : LARGEST);
  return size >= SMALLEST - 0.05 ? size : 0;
}

/**
 * In a pane, whose cells follow no window.
 * @param {number} widest @param {{ width: number, height: number }} cell
 */
export function paneDigitSize(widest, { width, height }) {
  const fits = (width - 3 * MARGIN) / Math.max(widest, face.digit);
  const size = Math.min(fits, Math.max(height * SHARE, SMALLEST), LARGEST);
  return size >= IN_A_PANE ? size : 0;
}

/**
 * A zero's letters are small, and never too small to read.
 * @param {number} pixels of the others' @param {boolean} [afar]
 */
export const zeroSize = (pixels, afar = false) =>
  Math.max(pixels * ZERO, Math.min(pixels, afar ? FROM_LAST_ROW : SMALLEST));

/**
 * On the letters alone: inherited from the area, every cell, mark and pattern would be styled anew.
 * @param {import("./grid_overlay.js").Grid} grid @param {number} pixels
 * @param {{ width: number, height: number }} cell @param {boolean} [afar] in a lecture
 */
export function setDigits({ letters, narrow }, pixels, { width, height }, afar = false) {
  setStyle(letters, "--cv-number", `${((pixels * CELL) / height).toFixed(1)}px`);
  setStyle(letters, "--cv-small", `${((zeroSize(pixels, afar) * CELL) / height).toFixed(1)}px`);
  narrow(Number((height / width).toFixed(3))); // the layer is stretched with its cells
}

/**
 * Letters as in a grid.
 * @param {SVGElement} node @param {import("./grid_overlay.js").Grid} grid
 */
export function writeLike(node, { letters, narrowed }) {
  node.style.cssText = letters.style.cssText;
  node.style.setProperty("--cv-narrowed", String(narrowed()));
}

const MEASURED_AT = 100;
let known = "";

/** Once the board is placed. @param {HTMLElement} root */
export function measureFace(root) {
  const text = svgElement("text");
  const probe = svgElement("svg.cv-printed", { style: "display: none" }, text);
  root.append(probe);
  const { fontWeight, fontFamily } = getComputedStyle(text);
  probe.remove();
  const pen = document.createElement("canvas").getContext("2d");
  const font = `${fontWeight} ${MEASURED_AT}px ${fontFamily}`;
  if (!pen || font === known) return;
  known = pen.font = font;
  /** @param {string} letters */
  const widest = (letters) =>
    Math.max(...[...letters].map((letter) => pen.measureText(letter).width)) / MEASURED_AT;
  face = { digit: widest("0123456789e"), minus: widest("\u2212"), point: widest(".") };
}
