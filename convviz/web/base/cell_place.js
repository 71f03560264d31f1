// A cell, named by the panel that shows it.

/**
 * @typedef {{ row: number, column: number }} Point
 * @typedef {Point & { panel: string }} Place
 */

/** @param {Point | null} one @param {Point | null} other */
export const samePoint = (one, other) => one?.row === other?.row && one?.column === other?.column;

/** Nowhere is one place, too. @param {Place | null} one @param {Place | null} other */
export const samePlace = (one, other) => one?.panel === other?.panel && samePoint(one, other);
