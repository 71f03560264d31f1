// Settings survive a reload after a lost kernel.
import { listen } from "../base/dom.js";

const STORE = "convviz:state";

/** As App.state() returns them. @param {Model} model */
const wholeState = (model) => ({ ...model.get("state"), ...model.get("sources") });

/** Save before such a reload, restore after it. @param {Model} model */
export function keepState(model) {
  const save = () => {
    try {
      sessionStorage.setItem(STORE, JSON.stringify(wholeState(model)));
    } catch {
      // Sandboxed: no storage.
    }
  };
  try {
    const kept = sessionStorage.getItem(STORE);
    sessionStorage.removeItem(STORE);
    if (kept) model.send({ type: "restore", state: JSON.parse(kept) });
  } catch {
    // No storage, or not ours.
  }
  return listen(window, "convviz:save", save);
}
