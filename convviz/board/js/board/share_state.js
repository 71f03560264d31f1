// @ts-check
// The app's settings, for a widget beside the board: the board holds them, and answers also when the kernel is gone.

const STATE_EVENT = "convviz:state";

/**
 * Ask for the settings of the app that a widget stands in.
 * @param {HTMLElement} el of the widget
 * @returns {any} the dict that App.state() returns; null where no board answers
 */
export function askState(el) {
  const detail = { state: null };
  el.closest(".cv-app")?.dispatchEvent(new CustomEvent(STATE_EVENT, { detail }));
  return detail.state;
}

/**
 * Answer such questions.
 * @param {HTMLElement} el of the board @param {() => any} state
 * @returns {() => void} stop answering
 */
export function answerState(el, state) {
  const app = el.closest(".cv-app");
  /** @param {Event} event */
  const answer = (event) => {
    /** @type {CustomEvent} */ (event).detail.state = state();
  };
  app?.addEventListener(STATE_EVENT, answer);
  return () => app?.removeEventListener(STATE_EVENT, answer);
}
