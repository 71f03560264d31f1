// @ts-check
// The row of entries, and the drawer in which the pane of the open tab stands: it is drawn when its tab is opened.
import WORDS from "../../../facts/words/entries.json" with { type: "json" };
import { element } from "../base/dom.js";
import { whenPlaced } from "../base/placed.js";
import { sentences } from "../base/words.js";
import { replaced } from "../rules/settings.js";
import { createDrawer } from "./drawer.js";
import { entriesOf } from "./entries.js";
import { createStrip } from "./strip.js";

const say = sentences(WORDS);

/**
 * @import { Model } from "../numbers/model.js"
 * @import { Entry } from "./entries.js"
 * @typedef {(name: string, el: HTMLElement) => () => void} DrawPane draws a tab's pane, and returns what closes it
 */

/**
 * Make the row of entries and the drawer. Each may stand anywhere in the app; `el` holds both where nobody places them.
 * @param {Model} model @param {DrawPane} drawPane @param {string[]} [only] the tabs that the page has; else all
 * @param {string[]} [without] those that do not work here: they are shown only to who opens a link with one
 */
export function createTabs(model, drawPane, only, without = []) {
  const entries = entriesOf((tab) => !only || only.includes(tab));
  const row = createRow(entries, toggle);
  const drawer = createDrawer(openTab, closeOpen);
  const bar = element("div", { class: "cv-tabbar" }, row.el);
  const el = element("div", { class: "cv-drawer" }, bar, drawer.el);
  /** The part that was last open in an entry. @type {Map<Entry, string>} */
  const last = new Map();
  let placed = false;
  let open = "";
  let closePane = () => {};

  /** @param {string} tab */
  const entryOf = (tab) => entries.find(({ parts }) => parts.includes(tab));
  /** @param {Entry} entry */
  const shownIn = ({ parts }) => parts.filter((tab) => tab === open || !without.includes(tab));

  /** @param {string} tab or nothing, which closes the open one */
  function openTab(tab) {
    if (tab !== open) model.change((settings) => [replaced(settings, { tab }), []]);
  }

  /** Open an entry at the part that was last seen in it, or close it again. @param {Entry} entry */
  function toggle(entry) {
    openTab(entry === entryOf(open) ? "" : (last.get(entry) ?? shownIn(entry)[0] ?? entry.parts[0]));
  }

  /** Close the drawer; the keyboard goes back to where it was opened. */
  function closeOpen() {
    const entry = entryOf(open);
    openTab("");
    if (entry) row.focus(entry.id);
  }

  /** @param {KeyboardEvent} event */
  function onEscape(event) {
    if (event.key !== "Escape" || !open || event.defaultPrevented) return;
    closeOpen();
    event.preventDefault();
    event.stopPropagation();
  }

  /** @param {string} tab */
  function show(tab) {
    closePane();
    closePane = () => {};
    open = tab;
    if (tab) closePane = drawPane(tab, drawer.slot);
  }

  function update() {
    const { tab } = model.settings();
    const entry = entryOf(tab); // a link may name one that is not here
    if (entry) last.set(entry, tab);
    const before = open;
    open = entry ? tab : "";
    drawer.set(entry, entry ? shownIn(entry) : [], open, placed);
    row.set(entry?.id ?? "", placed);
    if (before !== open) show(open);
  }

  for (const each of [bar, drawer.el]) each.addEventListener("keydown", onEscape);
  model.on("settings", update);
  update();
  const stopWaiting = whenPlaced(bar, () => {
    placed = true;
    update();
  });
  const close = () => {
    stopWaiting();
    model.off("settings", update);
    show("");
  };
  return { el, entries: bar, drawer: drawer.el, close };
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
