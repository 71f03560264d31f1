// Settings survive a reload after a lost kernel.
import { listen } from "../base/dom.js";
import { keep, takeKept } from "../base/kept_over_reload.js";

/** Save before such a reload, restore after it. @param {Model} model */
export function keepState(model) {
  const state = takeKept("state");
  if (state) model.send({ type: "restore", state });
  return listen(window, "convviz:save", () => keep("state", model.settings()));
}
