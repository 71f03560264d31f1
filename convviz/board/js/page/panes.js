// @ts-check
// The panes in the tabs: each has a model of its own for all views of one app, and keeps what was chosen in it.
import SETTINGS from "../../../facts/settings.json" with { type: "json" };
import WORDS from "../../../facts/words/pane.json" with { type: "json" };
import { createValues } from "../base/events.js";
import { sentences } from "../base/words.js";
import { loadPlotly } from "../board/plotly.js";
import { openTab } from "../tabs/opening.js";
import { goTo, pageSeen } from "./seen.js";
import { TabData } from "./tab_data.js";
import { createTabScripts } from "./tab_scripts.js";

const say = sentences(WORDS);

/** @import { Model } from "../numbers/model.js" */

const OWN = SETTINGS.tabs_of_the_page; // what needs no torch: the page computes it
const WITH_STATE = SETTINGS.tabs_with_state; // what Python keeps, and sends by itself
const STILL = [...OWN, ...WITH_STATE]; // what asks for nothing when the settings move

/**
 * Make what draws the panes of one app.
 * @param {Model} model @param {any} colorscales
 * @param {Record<string, () => Promise<any>>} [alone] tab → what its pane shows without torch, where that is something
 * @param {Record<string, string>} [addresses] tab → the file of its script; without them the kernel sends it
 * @returns {import("../tabs/tabbar.js").DrawPane}
 */
export function createPanes(model, colorscales, alone = {}, addresses) {
  const scripts = createTabScripts(model, addresses);
  const page = pageSeen(model);
  /** @type {Map<string, ReturnType<typeof makePane>>} */
  const panes = new Map();
  let open = "";

  const answers = () => model.get("kernel") === "ok";

  /** @param {string} name */
  function makePane(name) {
    const values = createValues({
      data: {},
      busy: false,
      choices: model.chosen(name),
      tab: name,
      theme: model.get("theme"),
      colorscales,
    });
    const data = new TabData(model, name, values.put);
    if (OWN.includes(name)) data.show({ state: "alone" });
    return { values, data };
  }

  /** @param {string} name */
  function paneOf(name) {
    const made = panes.get(name) ?? makePane(name);
    panes.set(name, made);
    return made;
  }

  /** @param {string} tab @param {any} message */
  const act = (tab, message) => answers() && model.kernel()?.send({ type: "act", tab, message });

  /** What a person does in a pane, beside choosing. @param {string} name @param {any} message */
  function send(name, message) {
    if (WITH_STATE.includes(name)) return act(name, message);
    if (!answers()) return; // the pane says that it waits
    const { values, data } = paneOf(name);
    data.ask(message)?.then(
      ({ message: { reply }, buffers }) => reply && values.tell("msg:custom", reply, buffers),
      (error) => model.say(error.message, true),
    );
  }

  /** What no request asked for: a tab with a state goes on, or was asked what cannot be. @param {any} message @param {DataView[]} buffers */
  function receive({ type, tab, data, reply, sentence }, buffers) {
    if (type === "refused") {
      model.say(sentence, true);
      if (WITH_STATE.includes(open)) paneOf(open).values.put({ busy: false });
    }
    if (type !== "tab") return;
    const pane = paneOf(tab);
    if (data) {
      pane.data.show(data);
      pane.values.put({ busy: false });
    } else pane.values.tell("msg:custom", reply, buffers);
  }

  /** Bring the open tab its data; without torch it says what it waits for. */
  function refresh() {
    if (!open || OWN.includes(open)) return;
    const { values, data } = paneOf(open);
    if (!answers()) wait();
    else if (!WITH_STATE.includes(open)) data.hurry();
    else {
      values.put({ busy: true });
      act(open, { type: "refresh" });
    }
  }

  function wait() {
    const { data } = paneOf(open);
    const there = data.data();
    data.leave();
    if (!alone[open]) data.show({ ...there, error: say("waits") });
    else if (there.state) data.show({ ...there, error: there.state === "alone" ? undefined : say("waits") });
    else alone[open]().then((made) => answers() || data.show(made));
  }

  function follow() {
    const { tab } = model.settings();
    if (open !== tab && open === "race") act(open, { type: "leave" }); // it runs no longer than its tab is open
    if (open !== tab) open = ""; // until its pane is drawn
    if (open && answers() && !STILL.includes(open)) paneOf(open).data.follow();
  }

  model.on("msg:custom", receive);
  model.on("settings", follow);
  model.on("change:values", follow);
  model.on("change:theme", () => panes.forEach(({ values }) => values.put({ theme: model.get("theme") })));
  model.on("change:kernel", () => {
    if (!answers()) panes.forEach(({ data }) => data.leave());
    refresh();
  });
  return (name, el) => {
    const { values, data } = paneOf(name);
    if (open !== name) {
      follow(); // another one is left
      open = name;
      refresh();
    }
    const seen = {
      ...values,
      send: (/** @type {any} */ message) => send(name, message),
      choose: (/** @type {any} */ changes) => data.choose(changes),
      loadPlotly: () => loadPlotly(model),
      goTo: goTo(model),
      page,
      widget_manager: model.widget_manager,
    };
    return openTab(name, el, scripts, seen);
  };
}
