// @ts-check
// The drawer: the parts of the open entry, what closes it, and below them the place of the open tab's pane.
import WORDS from "../../facts/words/entries.json" with { type: "json" };
import { element, makeButton, setHidden } from "../base/dom.js";
import { tabIds } from "../base/placed.js";
import { sentences } from "../base/words.js";
import { tabName } from "./entries.js";
import { createStrip } from "./strip.js";

const say = sentences(WORDS);

/** @import { Entry } from "./entries.js" */

/** The drawer, which is hidden while no entry is open. */
export class Drawer {
  #shut;
  #place = element("div", { class: "cv-parts" });
  slot = element("div", { class: "cv-slot" });
  el;
  #key = ""; // of the parts that stand there
  /** @type {import("./strip.js").Strip | null} */
  #strip = null;
  #choose;

  /** @param {(tab: string) => void} choose a part @param {() => void} close */
  constructor(choose, close) {
    this.#choose = choose;
    this.#shut = makeButton({ class: "cv-drawer-close" }, "×", close);
    const head = element("div", { class: "cv-drawer-head" }, this.#place, this.#shut);
    this.el = element("div", { class: "cv-drawer-body", hidden: "" }, head, this.slot);
  }

  /** @param {Entry} entry @param {string[]} parts */
  #setParts(entry, parts) {
    const next = [entry.name, ...parts].join(" ");
    if (next === this.#key) return;
    this.#key = next;
    const tabs = parts.map((tab) => ({ name: tab, label: tabName(tab), data: { "data-tab": tab } }));
    this.#strip =
      entry.parts.length > 1 ? createStrip(say("parts", { entry: entry.label }), tabs, this.#choose) : null;
    this.#place.replaceChildren(this.#strip ? this.#strip.el : element("b", {}, entry.label));
    this.#shut.setAttribute("aria-label", say("close", { entry: entry.label }));
  }

  /**
   * It is the panel of an entry with several parts; the only part of another has the panel in its pane.
   * @param {string} id of the entry, or nothing
   */
  #nameAfter(id) {
    const ids = id ? tabIds(this.el, id) : null;
    const attributes = { role: ids && "tabpanel", id: ids?.panel, "aria-labelledby": ids?.tab };
    for (const [name, value] of Object.entries(attributes)) {
      if (value) this.el.setAttribute(name, value);
      else this.el.removeAttribute(name);
    }
  }

  /**
   * @param {Entry | undefined} entry none: hidden @param {string[]} parts those that are shown
   * @param {string} open @param {boolean} placed
   */
  set(entry, parts, open, placed) {
    setHidden(this.el, !entry);
    this.el.parentElement?.toggleAttribute("data-drawer", Boolean(entry)); // it takes of the picture's room
    if (entry) this.#setParts(entry, parts);
    this.#strip?.set(open, placed);
    this.#nameAfter(placed && entry && this.#strip ? entry.id : "");
  }
}
