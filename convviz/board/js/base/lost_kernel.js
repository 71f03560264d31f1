// @ts-check
// A kernel that has ended, in a notebook: Jupyter goes on, but nobody answers the widgets any more.
import WORDS from "../../../facts/words/board.json" with { type: "json" };
import { sentences } from "./words.js";

const say = sentences(WORDS);


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
  const end = () => tell(say("kernel.ended"));
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
