// A question asked on the board and answered beside it.

import { listen } from "./dom.js";

/** Within an element, heard around it. @template T @param {string} name @param {T} _ */
function createChannel(name, _) {
  return {
    /** @param {HTMLElement} el @param {T} detail */
    notify: (el, detail) =>
      void el.dispatchEvent(new CustomEvent(name, { bubbles: true, composed: true, detail })),
    /** @param {HTMLElement} el @param {(detail: T) => void} listener */
    follow: (el, listener) => listen(el, name, ({ detail }) => listener(detail)),
  };
}

const asked = createChannel("convviz:ask", "");
const predicted = createChannel("convviz:predict", /** @type {Place} */ ({}));

export const askQuestion = asked.notify;
export const followQuestions = asked.follow;
export const askToPredict = predicted.notify;
export const followPredictions = predicted.follow;
