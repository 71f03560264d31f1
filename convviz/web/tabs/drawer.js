// The drawer: the parts of the open entry, what closes it, and below them the place of the open tab's pane.
import { element, makeButton, setHidden } from "../base/dom.js";
import { tabIds } from "../base/tab_ids.js";
import { featureOf, tabName } from "../rules/features.js";
import { createStrip } from "./tab_strip.js";
import { say } from "./tab_group_sentences.js";

/** @import { Entry } from "./tab_groups.js" */

/** @param {(tab: string) => void} choose @param {() => void} close */
export function createDrawer(choose, close) {
  const shut = makeButton("cv-drawer-close", "×", close);
  const place = element("div.cv-parts");
  const slot = element("div.cv-slot");
  const head = element("div.cv-drawer-head", place, shut);
  const el = element("div.cv-drawer-body", { hidden: "" }, head, slot);
  let key = "";
  /** @type {import("./tab_strip.js").Strip | null} */
  let strip = null;

  /** @param {Entry} entry @param {string[]} parts */
  function setParts(entry, parts) {
    const next = [entry.name, ...parts].join(" ");
    if (next === key) return;
    key = next;
    const tabs = parts.map((tab) => ({ name: tab, label: tabName(tab), data: { "data-tab": tab } }));
    strip = entry.parts.length > 1 ? createStrip(say("parts", { entry: entry.label }), tabs, choose) : null;
    place.replaceChildren(strip ? strip.el : element("b", entry.label));
    shut.setAttribute("aria-label", say("close", { entry: entry.label }));
  }

  /** The panel of an entry with several parts; an only part has its own. @param {string} id */
  function nameAfter(id) {
    const ids = id ? tabIds(el, id) : null;
    const attributes = { role: ids && "tabpanel", id: ids?.panel, "aria-labelledby": ids?.tab };
    for (const [name, value] of Object.entries(attributes)) {
      if (value) el.setAttribute(name, value);
      else el.removeAttribute(name);
    }
  }

  return {
    el,
    slot,
    /**
     * @param {Entry | undefined} entry none: hidden @param {string[]} parts @param {string} open
     * @param {boolean} placed
     */
    set(entry, parts, open, placed) {
      setHidden(el, !entry);
      el.parentElement?.toggleAttribute("data-drawer", Boolean(entry));
      el.parentElement?.toggleAttribute("data-whole", Boolean(entry && featureOf(open)?.whole));
      if (entry) setParts(entry, parts);
      strip?.set(open, placed);
      nameAfter(placed && entry && strip ? entry.id : "");
    },
  };
}
