// @ts-check
// The settings over a reload after a lost kernel.

/** @import { Model } from "../numbers/model.js" */

const STORE = "convviz:state";

/** The settings, as App.state() returns them. @param {Model} model */
const wholeState = (model) => ({ ...model.get("state"), ...model.get("sources") });

/**
 * When the page is about to reload after a lost kernel, keep the settings; hand them to the next kernel.
 * @param {Model} model
 */
export function keepState(model) {
  const save = () => {
    try {
      sessionStorage.setItem(STORE, JSON.stringify(wholeState(model)));
    } catch {
      // A sandboxed page has no storage: it starts from the default.
    }
  };
  try {
    const kept = sessionStorage.getItem(STORE);
    sessionStorage.removeItem(STORE);
    if (kept) model.send({ type: "restore", state: JSON.parse(kept) });
  } catch {
    // No storage, or not what we wrote: nothing to restore.
  }
  window.addEventListener("convviz:save", save);
  return () => window.removeEventListener("convviz:save", save);
}
