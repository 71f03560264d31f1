// A panel's name breaks after an underscore and before its index.
import { element } from "../../base/dom.js";

const [LETTER, MENU] = [7.6, 4]; // pixels
export const MAX_LINES = 3;

/** @param {string} label */
const piecesOf = (label) => label.match(/[^_[]*_|\[?[^_[]+/g) ?? [label];

/** Splits a name into pieces with a <wbr> between them. @param {string} label @returns {(HTMLElement | string)[]} */
export const breakable = (label) =>
  piecesOf(label).flatMap((piece, index) => [...(index ? [element("wbr")] : []), element("span", piece)]);

/** In pixels: in one line, in two, … @param {string} label */
export function leastWidths(label) {
  const letters = piecesOf(label).map((piece) => piece.length);
  const widths = [];
  let most = Math.max(...letters);
  for (let lines = MAX_LINES; lines; lines--) {
    while (linesIn(letters, most) > lines) most += 1;
    widths.unshift(Math.ceil(most * LETTER) + MENU);
  }
  return widths;
}

/** @param {number[]} letters @param {number} most */
function linesIn(letters, most) {
  let [lines, filled] = [1, 0];
  for (const count of letters) {
    filled += count;
    if (filled > most) [lines, filled] = [lines + 1, count];
  }
  return lines;
}
