// @ts-check
// The tabs of a page without a kernel: the page computes them, and has what draws them.
import { createValues } from "../base/events.js";
import { loadPlotly } from "../board/plotly.js";
import { openTab } from "../tabs/opening.js";
import { Tabs } from "../tabs/tabbar.js";
import { goTo, pageSeen } from "./tab_context.js";

/**
 * @import { Model } from "../numbers/model.js"
 * @import { TabScript } from "../tabs/opening.js"
 */

/**
 * Make the entries and the drawer of these tabs.
 * @param {Model} model @param {any} colorscales
 * @param {Record<string, TabScript["default"]>} tabs by name; the page has their sheets
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
  const scripts = {
    now: (/** @type {string} */ name) => ({ default: tabs[name], sheet: "" }),
    ask: () => () => {},
  };
  const seen = {
    send() {},
    page: pageSeen(model),
    loadPlotly: () => loadPlotly(model),
    goTo: goTo(model),
  };
  return new Tabs(
    model,
    (name, el) => openTab(name, el, scripts, { ...panes[name], ...seen }),
    Object.keys(tabs),
  );
}
