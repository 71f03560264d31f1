// @ts-check
// A question that the board is asked and that is answered beside it: who asks does not know who answers.

const EVENT = "convviz:ask";

/** @param {HTMLElement} el where it is asked @param {string} topic */
export const ask = (el, topic) => void el.dispatchEvent(new CustomEvent(EVENT, { bubbles: true, composed: true, detail: topic }));

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
