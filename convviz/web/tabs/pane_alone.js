// A feature's pane that stands alone in a notebook: as in a tab, its own sheet stands beside it.
import { openTab } from "./tab_placeholder.js";

/** @import { PaneModel } from "./pane.js" */

/** @param {import("./tab_placeholder.js").TabScript["default"]} tab */
export const alone = (tab) => ({
  /** @param {{ model: PaneModel, el: HTMLElement }} context */
  render({ model, el }) {
    const script = { default: tab, sheet: model.get("_sheet") };
    return openTab("", el, { now: () => script, ask: () => () => {} }, model);
  },
});
