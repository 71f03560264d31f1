// @ts-check
// A question that the board is asked and that is answered beside it: who asks does not know who answers.

/** @import { Place } from "./cell_place.js" */

const EVENT = "convviz:ask";
const PREDICT = "convviz:predict";

/** @param {HTMLElement} el where it is asked @param {string} topic */
export const ask = (el, topic) =>
  void el.dispatchEvent(new CustomEvent(EVENT, { bubbles: true, composed: true, detail: topic }));

/**
 * Hear what is asked inside an element.
 * @param {HTMLElement} el @param {(topic: string) => void} listener
 * @returns {() => void} stop listening
 */
export function followAsked(el, listener) {
  /** @param {Event} event */
  const hear = (event) => listener(/** @type {CustomEvent<string>} */ (event).detail);
  el.addEventListener(EVENT, hear);
  return () => el.removeEventListener(EVENT, hear);
}

/** Ask for a number to be hidden and predicted. @param {HTMLElement} el @param {Place} cell */
export const askToPredict = (el, cell) =>
  void el.dispatchEvent(new CustomEvent(PREDICT, { bubbles: true, composed: true, detail: cell }));

/**
 * Hear which number is to be predicted.
 * @param {HTMLElement} el @param {(cell: Place) => void} listener
 * @returns {() => void} stop listening
 */
export function followPredictions(el, listener) {
  /** @param {Event} event */
  const hear = (event) => listener(/** @type {CustomEvent<Place>} */ (event).detail);
  el.addEventListener(PREDICT, hear);
  return () => el.removeEventListener(PREDICT, hear);
}
