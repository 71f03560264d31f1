// @ts-check
// A question that the board is asked and that is answered beside it: who asks does not know who answers.

/** @import { Place } from "./cell_place.js" */

/**
 * Events of one name, told inside an element and heard around it.
 * @template T @param {string} name @param {T} _ for its type
 */
function createChannel(name, _) {
  return {
    /** @param {HTMLElement} el where it is told @param {T} detail */
    tell: (el, detail) =>
      void el.dispatchEvent(new CustomEvent(name, { bubbles: true, composed: true, detail })),
    /** @param {HTMLElement} el @param {(detail: T) => void} listener @returns {() => void} stop listening */
    follow(el, listener) {
      /** @param {Event} event */
      const hear = (event) => listener(/** @type {CustomEvent<T>} */ (event).detail);
      el.addEventListener(name, hear);
      return () => el.removeEventListener(name, hear);
    },
  };
}

const asked = createChannel("convviz:ask", ""); // a topic
// A number that is to be hidden.
const predicted = createChannel("convviz:predict", /** @type {Place} */ ({}));

export const ask = asked.tell;
export const followAsked = asked.follow;
export const askToPredict = predicted.tell;
export const followPredictions = predicted.follow;
