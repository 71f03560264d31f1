// @ts-check
// How large the letters of a number are in a cell: as large as the cell allows, and never too small to read.

export const SMALLEST = 10; // pixels of a number's letters; below, colour alone
const [LARGEST, FROM_AFAR] = [26, 40]; // of a page, and of a lecture
const SHARE = 0.5; // of a cell's height
const LETTER = 0.58; // how wide a digit is, of its height
const [NARROW, MARGIN] = [0.3, 2]; // of a point; what a cell keeps free, in pixels
const AIR = 3; // pixels above and below the smallest letters, together

/** How wide a number is, in letters of one digit. @param {string} short */
export const lettersOf = (short) => short.length - (short.includes(".") ? 1 - NARROW / LETTER : 0);

/** The least a cell may measure for its number to be read. @param {number} letters of the longest number */
export const leastCell = (letters) => ({
  width: Math.ceil(letters * LETTER * SMALLEST + MARGIN),
  height: SMALLEST + AIR,
});

/**
 * The letters' size in pixels; 0 where there is no room.
 * @param {number} letters of the longest number @param {{ width: number, height: number }} cell @param {boolean} [afar] whether it is read from the last row of a room
 */
export function digitSize(letters, { width, height }, afar = false) {
  if (height < SMALLEST + AIR) return 0;
  const fits = (width - MARGIN) / (Math.max(letters, 1) * LETTER);
  const most = Math.max(height * SHARE * (afar ? 1.2 : 1), SMALLEST);
  const size = Math.min(fits, most, afar ? FROM_AFAR : LARGEST);
  return size >= SMALLEST - 0.05 ? size : 0;
}
