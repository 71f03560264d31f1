// @ts-check
// What the panes in the tabs see of the kernel: each has a model of its own, for all views of one app.
import SETTINGS from "../../../facts/settings.json" with { type: "json" };
import WORDS from "../../../facts/words/pane.json" with { type: "json" };
import { createValues } from "../base/events.js";
import { sentences } from "../base/words.js";
import { loadPlotly } from "../board/plotly.js";
import { replaced } from "../rules/settings.js";
import { openTab } from "../tabs/opening.js";
import { pageSeen } from "./seen.js";
import { createTabScripts } from "./tab_scripts.js";

const say = sentences(WORDS);

/** @import { Model } from "../numbers/model.js" */

/** What needs no kernel: the page computes it. @type {Record<string, () => Promise<any>>} */
const OWN = Object.fromEntries(SETTINGS.tabs_of_the_page.map((tab) => [tab, () => Promise.resolve({ state: "alone" })]));

/**
 * Make what draws the panes of one app.
 * @param {Model} model @param {any} colorscales @param {() => void} [again] asks for another kernel, where the page can
 * @param {Record<string, () => Promise<any>>} [alone] tab → what its pane shows without a kernel, where that is something
 * @param {Record<string, string>} [addresses] tab → the file of its script; without them the kernel sends it
 * @returns {import("../tabs/tabbar.js").DrawPane}
 */
export function createPanes(model, colorscales, again, alone = {}, addresses) {
  const scripts = createTabScripts(model, addresses);
  const page = pageSeen(model);
  const without = { ...OWN, ...alone };
  /** @type {Map<string, ReturnType<typeof createValues>>} */
  const panes = new Map();

  /** @param {string} name */
  function paneOf(name) {
    const found = panes.get(name);
    if (found) return found;
    const made = createValues({ data: {}, wanted: 0, tab: name, theme: model.get("theme"), colorscales });
    panes.set(name, made);
    return made;
  }

  /** What was asked for while there was no kernel, and another one can come. @type {any[]} */
  const held = [];

  /** @param {string} name @param {any} message */
  function send(name, message) {
    const kernel = model.kernel();
    if (kernel && message.type !== "again") return kernel.send({ type: "tab", tab: name, message });
    if (!again || message.type === "refresh") return; // a refresh is nobody's move
    if (message.type !== "again") held.push({ type: "tab", tab: name, message });
    again();
  }

  /** The kernel that has come gets what was asked for meanwhile, after the settings. */
  const giveHeld = () => model.kernel() && held.splice(0).forEach((message) => model.kernel()?.send(message));

  /** @param {any} message @param {DataView[]} buffers */
  function receive({ type, tab, data, wanted, reply }, buffers) {
    if (type !== "tab") return;
    const pane = paneOf(tab);
    if (data) pane.put({ wanted: data.wanted, data });
    else if (wanted) pane.put({ wanted });
    else pane.tell("msg:custom", reply, buffers);
  }

  /** Without a kernel a pane says what it waits for. */
  function wait() {
    const name = model.settings().tab;
    if (!name || model.kernel()) return;
    const lost = { again: ["lost", "resting"].includes(model.get("kernel")) && Boolean(again) };
    const pane = paneOf(name);
    const there = pane.get("data");
    if (model.get("kernel") === "resting" && Object.keys(there).length) return; // what is there holds until the next move
    if (!without[name]) pane.put({ data: { ...there, ...lost, error: say("waits") } });
    else if (there.state) pane.put({ data: { ...there, ...lost, error: there.state === "alone" ? undefined : say("waits") } });
    else without[name]().then((data) => model.kernel() || pane.put({ data: { ...data, ...lost } }));
  }

  model.on("msg:custom", receive);
  model.on("change:theme", () => panes.forEach((pane) => pane.put({ theme: model.get("theme") })));
  model.on("change:kernel", wait);
  model.on("change:kernel", giveHeld);
  if (model.kernel() && model.settings().tab) send(model.settings().tab, { type: "refresh" }); // its data came before this page
  return (name, el) => {
    const pane = paneOf(name);
    wait();
    const seen = {
      ...pane,
      send: (/** @type {any} */ message) => send(name, message),
      loadPlotly: () => loadPlotly(model),
      goTo: (/** @type {any} */ changes, /** @type {string} */ words) => model.change((settings) => [replaced(settings, changes), [words]]),
      page,
      widget_manager: model.widget_manager,
    };
    return openTab(name, el, scripts, seen);
  };
}
