// A notebook's kernel may end: then nobody answers the widgets.

/** Nobody answers widgets, even if a new process starts. */
export const DEAD = new Set(["dead", "restarting", "autorestarting", "terminating"]);

/**
 * Only Jupyter names the kernel behind a widget; a served page has words of its own.
 * @param {any} model @param {() => void} end @returns {() => void}
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
