// The panes in the tabs: each has a model for all views of one app, and keeps what was chosen in it.
import { createValues } from "../base/observable_values.js";
import { featureOf, tabsThat } from "../rules/features.js";
import { openTab } from "../tabs/tab_placeholder.js";
import { createTabScripts } from "./load_on_demand.js";
import { createTabContext } from "./tab_context.js";
import { TabData } from "./tab_data.js";
import { sayPane } from "../tabs/pane_sentences.js";

const OWN = tabsThat(({ works }) => works === "page"); // computed by the page
const WITH_STATE = tabsThat(({ state }) => state); // Python keeps and sends it
const STILL = [...OWN, ...WITH_STATE]; // unasked when settings move

class Panes {
  #follow = () => {
    const { tab } = this.#model.settings();
    // What runs ends with its tab.
    if (this.#open !== tab && WITH_STATE.includes(this.#open)) this.#act(this.#open, { type: "leave" });
    if (this.#open !== tab) this.#open = ""; // until its pane is drawn
    if (this.#open && this.#answers() && !STILL.includes(this.#open)) this.#paneOf(this.#open).data.follow();
  };
  #model;
  #colorscales;
  #alone;
  #scripts;
  #context;
  /** @type {Map<string, { values: ReturnType<typeof createValues>, data: TabData }>} */
  #panes = new Map();
  #open = "";

  /**
   * @param {Model} model @param {any} colorscales
   * @param {Record<string, () => Promise<any>>} [alone] by tab, without torch
   * @param {Record<string, string>} [addresses] of scripts; else the kernel sends them
   */
  constructor(model, colorscales, alone = {}, addresses) {
    [this.#model, this.#colorscales, this.#alone] = [model, colorscales, alone];
    this.#scripts = createTabScripts(model, addresses);
    this.#context = createTabContext(model);
    model.on("msg:custom", this.#receive);
    model.on("settings", this.#follow);
    model.on("change:values", this.#follow);
    model.on("change:theme", () =>
      this.#panes.forEach(({ values }) => values.put({ theme: model.get("theme") })),
    );
    model.on("change:kernel", () => {
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
    const data = new TabData(this.#model, name, values.put, featureOf(name)?.slow);
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

  /** @param {string} name @param {any} message */
  #send(name, message) {
    if (WITH_STATE.includes(name)) return this.#act(name, message);
    if (!this.#answers()) return; // the pane says that it waits
    const { values, data } = this.#paneOf(name);
    data.ask(message)?.then(
      ({ message: { reply }, buffers }) => reply && values.emit("msg:custom", reply, buffers),
      (error) => this.#model.say(error.message, true),
    );
  }

  /** Unasked: a tab with state goes on, or refuses. @param {any} message @param {DataView[]} buffers */
  #receive = ({ type, tab, data, reply, sentence }, buffers) => {
    if (type === "refused") {
      this.#model.say(sentence, true);
      if (WITH_STATE.includes(this.#open)) this.#paneOf(this.#open).values.put({ busy: false });
    }
    if (type !== "tab") return;
    const pane = this.#paneOf(tab);
    if (data) {
      pane.data.show(data);
      pane.values.put({ busy: false });
    } else pane.values.emit("msg:custom", reply, buffers);
  };

  /** Asks for the open tab's data anew; without torch it waits. */
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
    if (!this.#alone[this.#open]) data.show({ ...there, error: sayPane("waits") });
    else if (there.state)
      data.show({ ...there, error: there.state === "alone" ? undefined : sayPane("waits") });
    else this.#alone[this.#open]().then((made) => this.#answers() || data.show(made));
  }

  /** @type {DrawPane} */
  draw = (name, el) => {
    const { values, data } = this.#paneOf(name);
    if (this.#open !== name) {
      this.#follow();
      this.#open = name;
      this.#refresh();
    }
    const model = {
      ...values,
      ...this.#context,
      send: (/** @type {any} */ message) => this.#send(name, message),
      choose: (/** @type {any} */ changes) => data.choose(changes),
      widget_manager: this.#model.widget_manager,
    };
    return openTab(name, el, this.#scripts, model);
  };
}

/** @param {ConstructorParameters<typeof Panes>} around */
export const createPanes = (...around) => new Panes(...around).draw;
