// @ts-check
// A kernel that has ended, in a notebook: Jupyter goes on, but nobody answers the widgets any more.

/** After these the widgets have nobody to talk to, even if a new process starts. */
const DEAD = new Set(["dead", "restarting", "autorestarting", "terminating"]);

/**
 * Hear that the kernel behind a widget has ended. Only Jupyter's own front ends say which kernel that is; our
 * served page has words of its own for it.
 * @param {any} model @param {() => void} end
 * @returns {() => void} stop listening
 */
export function followKernel(model, end) {
  const kernel = model.widget_manager?.kernel;
  if (!kernel?.statusChanged || document.getElementById("convviz-main")) return () => {};
  const look = (/** @type {any} */ _, /** @type {string} */ status) => {
    if (DEAD.has(status)) end();
  };
  kernel.statusChanged.connect(look);
  kernel.disposed.connect(end); // another kernel was chosen
  return () => {
    kernel.statusChanged.disconnect(look);
    kernel.disposed.disconnect(end);
  };
}
