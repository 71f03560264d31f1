// A row of tabs with one stop for the keyboard: arrows walk along it, Enter and Space open.
import { element, makeButton, setAttribute } from "../base/dom.js";
import { tabIds } from "../base/tab_ids.js";
import { walkAlong } from "../base/roving_tabindex.js";

/**
 * @typedef {{ name: string, label: string, data: Record<string, string>, quiet?: boolean }} Tab
 * @typedef {ReturnType<typeof createStrip>} Strip
 */

/** @param {string} label @param {Tab[]} tabs @param {(name: string) => void} choose */
export function createStrip(label, tabs, choose) {
  const buttons = tabs.map(({ name, label: text, data, quiet }) => {
    const type = { class: quiet ? "cv-tab cv-tab-quiet" : "cv-tab", role: "tab" };
    return makeButton({ ...type, ...data }, text, () => choose(name));
  });
  const el = element("div.cv-tablist", { role: "tablist", "aria-label": label }, ...buttons);
  walkAlong(el, () => buttons); // Enter and Space open

  return {
    el,
    /** @param {string} name */
    focus: (name) => buttons[tabs.findIndex((tab) => tab.name === name)]?.focus({ preventScroll: true }),
    /** @param {string} open @param {boolean} placed in an app, so ids can be given */
    set(open, placed) {
      const stop = Math.max(
        0,
        tabs.findIndex(({ name }) => name === open),
      );
      buttons.forEach((button, at) => {
        const { name } = tabs[at];
        setAttribute(button, "aria-selected", String(name === open));
        setAttribute(button, "tabindex", at === stop ? "0" : "-1");
        if (!placed) return;
        const ids = tabIds(el, name);
        setAttribute(button, "id", ids.tab);
        // A panel is in the page while open.
        if (name === open) setAttribute(button, "aria-controls", ids.panel);
        else button.removeAttribute("aria-controls");
      });
    },
  };
}
