// @ts-check
// The tab that a page without a kernel can have, because it is computed in the page; its script stands in the page.
import { createValues } from "../base/events.js";
import { importText } from "../base/imported.js";
import { openTab } from "../tabs/opening.js";
import { createTabs } from "../tabs/tabbar.js";
import { pageSeen } from "./seen.js";

/**
 * @import { Model } from "../numbers/model.js"
 * @import { TabScript } from "../tabs/opening.js"
 */

/**
 * Make the drawer with that one tab.
 * @param {Model} model @param {any} colorscales @param {{ name: string, script: string }} tab
 */
export function createOwnTab(model, colorscales, { name, script }) {
  const pane = createValues({ data: { state: "alone" }, wanted: 0, tab: name, theme: model.get("theme"), colorscales });
  model.on("change:theme", () => pane.put({ theme: model.get("theme") }));
  /** @type {TabScript | undefined} */
  let loaded;
  const scripts = {
    now: () => loaded,
    ask(/** @type {string} */ _, /** @type {import("../tabs/opening.js").Waiting} */ { there, failed }) {
      let waits = true;
      importText(script).then(
        (made) => {
          loaded = made;
          if (waits) there(made);
        },
        (error) => waits && failed(error.message),
      );
      return () => {
        waits = false;
      };
    },
  };
  return createTabs(model, (_, el) => openTab(name, el, scripts, { ...pane, send: () => {}, page: pageSeen(model) }), [name]);
}
