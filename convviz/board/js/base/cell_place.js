// @ts-check
// A cell, named by the panel that shows it.

/** @typedef {{ panel: string, row: number, column: number }} Place */

/** Whether two places are one; nowhere is one place, too. @param {Place | null} one @param {Place | null} other */
export const samePlace = (one, other) =>
  one?.panel === other?.panel && one?.row === other?.row && one?.column === other?.column;
