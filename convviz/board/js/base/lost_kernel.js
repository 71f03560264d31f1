// @ts-check
// A kernel that has ended, in a notebook: Jupyter goes on, but nobody answers the widgets any more.

const ENDED =
  "The kernel behind this picture has ended: what you see stays, but the controls no longer answer. Run its cell again.";
/** After these the widgets have nobody to talk to, even if a new process starts. */
const DEAD = new Set(["dead", "restarting", "autorestarting", "terminating"]);

/**
 * Hear that the kernel behind a widget has ended. Only Jupyter's own front ends say which kernel that is; our served
 * page has words of its own for it.
 * @param {any} model @param {(sentence: string) => void} tell
 * @returns {() => void} stop listening
 */
export function followKernel(model, tell) {
  const kernel = model.widget_manager?.kernel;
  if (!kernel?.statusChanged || document.getElementById("convviz-main")) return () => {};
  const end = () => tell(ENDED);
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
