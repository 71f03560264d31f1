// @ts-check
// The tabs that a page without a kernel can have, because they are computed in the page; their scripts stand in the page.
import { createValues } from "../base/events.js";
import { importText } from "../base/imported.js";
import { loadPlotly } from "../board/plotly.js";
import { openTab } from "../tabs/opening.js";
import { createTabs } from "../tabs/tabbar.js";
import { goTo, pageSeen } from "./seen.js";

/**
 * @import { Model } from "../numbers/model.js"
 * @import { TabScript } from "../tabs/opening.js"
 */

/**
 * Make the drawer with these tabs.
 * @param {Model} model @param {any} colorscales @param {Record<string, string>} tabs their scripts by name
 * @param {any} race the recorded one, where its tab is among them
 */
export function createOwnTabs(model, colorscales, tabs, race) {
  /** @param {string} name */
  const paneOf = (name) => {
    const data = { state: "alone", ...(name === "race" && { recorded: true, race }) };
    return createValues({ data, tab: name, theme: model.get("theme"), colorscales });
  };
  const panes = Object.fromEntries(Object.keys(tabs).map((name) => [name, paneOf(name)]));
  model.on("change:theme", () =>
    Object.values(panes).forEach((pane) => pane.put({ theme: model.get("theme") })),
  );
  /** @type {Record<string, TabScript>} */
  const loaded = {};
  const scripts = {
    now: (/** @type {string} */ name) => loaded[name],
    ask(/** @type {string} */ name, /** @type {import("../tabs/opening.js").Waiting} */ { there, failed }) {
      let waits = true;
      importText(tabs[name]).then(
        (made) => {
          loaded[name] = made;
          if (waits) there(made);
        },
        (error) => waits && failed(error.message),
      );
      return () => {
        waits = false;
      };
    },
  };
  const seen = {
    send() {},
    page: pageSeen(model),
    loadPlotly: () => loadPlotly(model),
    goTo: goTo(model),
  };
  return createTabs(
    model,
    (name, el) => openTab(name, el, scripts, { ...panes[name], ...seen }),
    Object.keys(tabs),
  );
}
