// The row of entries, and the drawer: the pane of a tab is drawn when the tab is opened.
import { element } from "../base/dom.js";
import { whenPlaced } from "../base/when_attached.js";
import { createDrawer } from "./drawer.js";
import { tabEntries } from "./tab_groups.js";
import { createStrip } from "./tab_strip.js";
import { say } from "./tab_group_sentences.js";

/**
 * @import { Entry } from "./tab_groups.js"
 * @typedef {(name: string, el: HTMLElement) => () => void} DrawPane returns what closes it
 */

/** `el` holds both where nobody places them. */
export class Tabbar {
  #all;
  #row;
  #drawer = createDrawer(
    (tab) => this.#openTab(tab),
    () => this.#close(),
  );
  drawer = this.#drawer.el;
  entries;
  el;
  /** @type {Map<Entry, string>} */
  #last = new Map();
  #placed = false;
  #open = "";
  #closePane = () => {};
  #ends;
  #model;
  #drawPane;
  #without;

  /**
   * @param {Model} model @param {DrawPane} drawPane @param {string[]} [only] else all
   * @param {string[]} [without] shown only to a link
   */
  constructor(model, drawPane, only, without = []) {
    [this.#model, this.#drawPane, this.#without] = [model, drawPane, without];
    this.#all = tabEntries((tab) => !only || only.includes(tab));
    this.#row = createRow(this.#all, (entry) => this.#toggle(entry));
    this.entries = element("div.cv-tabbar", this.#row.el);
    this.el = element("div.cv-drawer", this.entries, this.drawer);
    for (const each of [this.entries, this.drawer]) each.addEventListener("keydown", this.#onEscape);
    this.#ends = [model.on("settings", this.#update)];
    this.#update();
    this.#ends.push(
      whenPlaced(this.entries, () => {
        this.#placed = true;
        this.#update();
      }),
    );
  }

  /** @param {string} tab or empty */
  #openTab(tab) {
    if (tab !== this.#open) this.#model.set({ tab });
  }

  /** At the part last seen in it, or close it. @param {Entry} entry */
  #toggle(entry) {
    const first = this.#last.get(entry) ?? this.#shownIn(entry)[0] ?? entry.parts[0];
    this.#openTab(entry === this.#entryOf(this.#open) ? "" : first);
  }

  /** The focus returns to its entry. */
  #close() {
    const entry = this.#entryOf(this.#open);
    this.#openTab("");
    if (entry) this.#row.focus(entry.id);
  }

  /** @param {KeyboardEvent} event */
  #onEscape = (event) => {
    if (event.key !== "Escape" || !this.#open || event.defaultPrevented) return;
    this.#close();
    event.preventDefault();
    event.stopPropagation();
  };

  #update = () => {
    const { tab } = this.#model.settings();
    const entry = this.#entryOf(tab); // a link may name one that is not here
    if (entry && !this.#without.includes(tab)) this.#last.set(entry, tab); // others are for links
    const before = this.#open;
    this.#open = entry ? tab : "";
    this.#drawer.set(entry, entry ? this.#shownIn(entry) : [], this.#open, this.#placed);
    this.#row.set(entry?.id ?? "", this.#placed);
    if (before !== this.#open) this.#show(this.#open);
  };

  /** @param {string} tab */
  #entryOf(tab) {
    return this.#all.find(({ parts }) => parts.includes(tab));
  }

  /** @param {Entry} entry */
  #shownIn({ parts }) {
    return parts.filter((tab) => tab === this.#open || !this.#without.includes(tab));
  }

  /** @param {string} tab */
  #show(tab) {
    this.#closePane();
    this.#closePane = () => {};
    this.#open = tab;
    if (tab) this.#closePane = this.#drawPane(tab, this.#drawer.slot);
  }

  close = () => {
    for (const end of this.#ends) end();
    this.#show("");
  };
}

/** @param {Entry[]} entries @param {(entry: Entry) => void} toggle */
function createRow(entries, toggle) {
  const tabs = entries.map(({ name, id, label, quiet, parts }) => ({
    name: id,
    label,
    quiet,
    data: { "data-entry": name, ...(parts.length === 1 && { "data-tab": parts[0] }) },
  }));
  const choose = (/** @type {string} */ id) =>
    toggle(/** @type {Entry} */ (entries.find((entry) => entry.id === id)));
  return createStrip(say("entries"), tabs, choose);
}
