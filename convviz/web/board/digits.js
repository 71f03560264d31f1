// @ts-check
// How large the letters of a number are in a cell: as large as the cell allows, and never too small to read.
import { setStyle } from "../base/dom.js";
import { CELL } from "./grid_marks.js";

export const SMALLEST = 10; // pixels of a number's letters; below, colour alone
const [LARGEST, FROM_AFAR] = [26, 40]; // of a page, and of a lecture
const IN_A_PANE = 7; // the least that a long number may be there
const SHARE = 0.5; // of a cell's height
const MARGIN = 2; // what a cell keeps free beside a number, in pixels
// pixels above and below the smallest letters, together: digits are lower than their letters are large
const AIR = 2;

/** @typedef {{ digit: number, minus: number, point: number }} Face how wide its letters are, of their size */

/** What is assumed of a face before the page's own is measured (letters.js). @type {Face} */
const face = { digit: 0.6, minus: 0.7, point: 0.3 };

/** Reckon with another face from now on. @param {Face} widths */
export const useFace = (widths) => void Object.assign(face, widths);

/** How wide a number is, in units of its letters' size. @param {string} short */
export function widthOf(short) {
  let width = 0;
  for (const letter of short)
    width += letter === "." ? face.point : letter === "\u2212" ? face.minus : face.digit;
  return width;
}

/**
 * The least a cell may measure for its number to be read.
 * @param {number} widest of the numbers, as widthOf tells it
 */
export const leastCell = (widest) => ({
  width: Math.ceil(widest * SMALLEST + MARGIN),
  height: SMALLEST + AIR,
});

/**
 * The letters' size in pixels; 0 where there is no room.
 * @param {number} widest of the numbers @param {{ width: number, height: number }} cell @param {boolean}
 *   [afar] whether it is read from the last row of a room
 */
export function digitSize(widest, { width, height }, afar = false) {
  if (height < SMALLEST + AIR) return 0;
  const fits = (width - MARGIN) / Math.max(widest, face.digit);
  const most = Math.max(height * SHARE * (afar ? 1.2 : 1), SMALLEST);
  const size = Math.min(fits, most, afar ? FROM_AFAR : LARGEST);
  return size >= SMALLEST - 0.05 ? size : 0;
}

/**
 * The same in a pane, whose cells follow no window. @param {number} widest
 * @param {{ width: number, height: number }} cell
 */
export function paneDigitSize(widest, { width, height }) {
  const fits = (width - 3 * MARGIN) / Math.max(widest, face.digit);
  const size = Math.min(fits, Math.max(height * SHARE, SMALLEST), LARGEST);
  return size >= IN_A_PANE ? size : 0;
}

/**
 * Set the letters of an area whose grid is stretched over it.
 * @param {HTMLElement} area @param {number} pixels @param {{ width: number, height: number }} cell
 */
export function setDigits(area, pixels, { width, height }) {
  setStyle(area, "--cv-number", `${((pixels * CELL) / height).toFixed(1)}px`);
  area.classList.toggle("cv-widened", width !== height);
  setStyle(area, "--cv-narrowed", (height / width).toFixed(3)); // the layer is stretched with its cells
}
