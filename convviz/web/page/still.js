// @ts-check
// The still picture that a notebook keeps above the app, for those who open it without a
// kernel: a live view hides it.

/**
 * What the still pictures of an app stand in: Jupyter gives an output a row of its own.
 * @param {string} id of the app @returns {HTMLElement[]}
 */
const stillsOf = (id) =>
  [.../** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll(`[data-convviz-still="${id}"]`))].map(
    (still) => /** @type {HTMLElement | null} */ (still.closest(".jp-OutputArea-child")) ?? still,
  );

/**
 * Hide an app's still pictures as long as one of its views lives.
 * @param {HTMLElement} view @param {string} id of the app
 * @returns {() => void} this view goes
 */
export function hideStills(view, id) {
  view.dataset.app = id;
  for (const still of stillsOf(id)) still.style.display = "none";
  return () => {
    delete view.dataset.app;
    if (document.querySelector(`[data-app="${id}"]`)) return;
    for (const still of stillsOf(id)) still.style.display = "";
  };
}
