// @ts-check
// The panes in the tabs: each has a model of its own for all views of one app, and keeps what was chosen in
// it.
import SETTINGS from "../../facts/settings.json" with { type: "json" };
import WORDS from "../../facts/words/pane.json" with { type: "json" };
import { createValues } from "../base/events.js";
import { sentences } from "../base/words.js";
import { loadPlotly } from "../board/plotly.js";
import { openTab } from "../tabs/opening.js";
import { goTo, pageSeen } from "./tab_context.js";
import { TabData } from "./tab_data.js";
import { createTabScripts } from "./tab_scripts.js";

const say = sentences(WORDS);

/** @import { Model } from "../numbers/model.js" */

const OWN = SETTINGS.tabs_of_the_page; // what needs no torch: the page computes it
const WITH_STATE = SETTINGS.tabs_with_state; // what Python keeps, and sends by itself
const STILL = [...OWN, ...WITH_STATE]; // what asks for nothing when the settings move

class Panes {
  #follow = () => {
    const { tab } = this.#model.settings();
    // it runs no longer than its tab is open
    if (this.#open !== tab && this.#open === "race") this.#act(this.#open, { type: "leave" });
    if (this.#open !== tab) this.#open = ""; // until its pane is drawn
    if (this.#open && this.#answers() && !STILL.includes(this.#open)) this.#paneOf(this.#open).data.follow();
  };
  #model;
  #colorscales;
  #alone;
  #scripts;
  #page;
  /** @type {Map<string, { values: ReturnType<typeof createValues>, data: TabData }>} */
  #panes = new Map();
  #open = "";

  /**
   * @param {Model} model @param {any} colorscales
   * @param {Record<string, () => Promise<any>>} [alone] tab → what its pane shows without torch, where that
   *   is something
   * @param {Record<string, string>} [addresses] tab → the file of its script; without them the kernel sends
   *   it
   */
  constructor(model, colorscales, alone = {}, addresses) {
    this.#model = model;
    this.#colorscales = colorscales;
    this.#alone = alone;
    this.#scripts = createTabScripts(this.#model, addresses);
    this.#page = pageSeen(this.#model);
    this.#model.on("msg:custom", ({ type, tab, data, reply, sentence }, buffers) =>
      this.#receive({ type, tab, data, reply, sentence }, buffers),
    );
    this.#model.on("settings", this.#follow);
    this.#model.on("change:values", this.#follow);
    this.#model.on("change:theme", () =>
      this.#panes.forEach(({ values }) => values.put({ theme: this.#model.get("theme") })),
    );
    this.#model.on("change:kernel", () => {
      if (!this.#answers()) this.#panes.forEach(({ data }) => data.leave());
      this.#refresh();
    });
  }

  #answers() {
    return this.#model.get("kernel") === "ok";
  }

  /** @param {string} name */
  #makePane(name) {
    const values = createValues({
      data: {},
      busy: false,
      choices: this.#model.chosen(name),
      tab: name,
      theme: this.#model.get("theme"),
      colorscales: this.#colorscales,
    });
    const data = new TabData(this.#model, name, values.put);
    if (OWN.includes(name)) data.show({ state: "alone" });
    return { values, data };
  }

  /** @param {string} name */
  #paneOf(name) {
    const made = this.#panes.get(name) ?? this.#makePane(name);
    this.#panes.set(name, made);
    return made;
  }

  /** @param {string} tab @param {any} message */
  #act(tab, message) {
    return this.#answers() && this.#model.kernel()?.send({ type: "act", tab, message });
  }

  /** What a person does in a pane, beside choosing. @param {string} name @param {any} message */
  #send(name, message) {
    if (WITH_STATE.includes(name)) return this.#act(name, message);
    if (!this.#answers()) return; // the pane says that it waits
    const { values, data } = this.#paneOf(name);
    data.ask(message)?.then(
      ({ message: { reply }, buffers }) => reply && values.tell("msg:custom", reply, buffers),
      (error) => this.#model.say(error.message, true),
    );
  }

  /**
   * What no request asked for: a tab with a state goes on, or was asked what cannot be.
   * @param {any} message @param {DataView[]} buffers
   */
  #receive({ type, tab, data, reply, sentence }, buffers) {
    if (type === "refused") {
      this.#model.say(sentence, true);
      if (WITH_STATE.includes(this.#open)) this.#paneOf(this.#open).values.put({ busy: false });
    }
    if (type !== "tab") return;
    const pane = this.#paneOf(tab);
    if (data) {
      pane.data.show(data);
      pane.values.put({ busy: false });
    } else pane.values.tell("msg:custom", reply, buffers);
  }

  /** Bring the open tab its data; without torch it says what it waits for. */
  #refresh() {
    if (!this.#open || OWN.includes(this.#open)) return;
    const { values, data } = this.#paneOf(this.#open);
    if (!this.#answers()) this.#wait();
    else if (!WITH_STATE.includes(this.#open)) data.hurry();
    else {
      values.put({ busy: true });
      this.#act(this.#open, { type: "refresh" });
    }
  }

  #wait() {
    const { data } = this.#paneOf(this.#open);
    const there = data.data();
    data.leave();
    if (!this.#alone[this.#open]) data.show({ ...there, error: say("waits") });
    else if (there.state) data.show({ ...there, error: there.state === "alone" ? undefined : say("waits") });
    else this.#alone[this.#open]().then((made) => this.#answers() || data.show(made));
  }

  draw(name, el) {
    const { values, data } = this.#paneOf(name);
    if (this.#open !== name) {
      this.#follow(); // another one is left
      this.#open = name;
      this.#refresh();
    }
    const seen = {
      ...values,
      send: (/** @type {any} */ message) => this.#send(name, message),
      choose: (/** @type {any} */ changes) => data.choose(changes),
      loadPlotly: () => loadPlotly(this.#model),
      goTo: goTo(this.#model),
      page: this.#page,
      widget_manager: this.#model.widget_manager,
    };
    return openTab(name, el, this.#scripts, seen);
  }
}

/**
 * Make what draws the panes of one app.
 * @param {ConstructorParameters<typeof Panes>} around @returns {import("../tabs/tabbar.js").DrawPane}
 */
export function createPanes(...around) {
  const panes = new Panes(...around);
  return (name, el) => panes.draw(name, el);
}
