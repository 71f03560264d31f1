// @ts-check
// The row of tabs, and the place in which the pane of the open one stands: it is drawn when its tab is opened.
import NAMES from "../../../facts/names.json" with { type: "json" };
import WORDS from "../../../facts/words/tabs.json" with { type: "json" };
import { element } from "../base/dom.js";
import { tabIds, whenPlaced } from "../base/placed.js";
import { sentences } from "../base/words.js";
import { replaced } from "../rules/settings.js";

const say = sentences(WORDS);

/**
 * @import { Model } from "../numbers/model.js"
 * @typedef {(name: string, el: HTMLElement) => () => void} DrawPane draws a tab's pane, and returns what closes it
 */

/**
 * Make the row and the place.
 * @param {Model} model @param {DrawPane} drawPane
 */
export function createTabs(model, drawPane) {
  const buttons = Object.entries(NAMES.tabs).map(([name, title]) => {
    const button = element("button", { type: "button", class: "cv-tab", role: "tab", "data-tab": name }, title);
    button.addEventListener("click", () => choose(name));
    return button;
  });
  const bar = element("div", { class: "cv-tabbar", role: "tablist", "aria-label": say("bar") }, ...buttons);
  const slot = element("div", { class: "cv-slot" });
  let placed = false;
  let open = "";
  let closePane = () => {};

  /** @param {string} name open, or closed again if it is */
  const choose = (name) => model.change((settings) => [replaced(settings, { tab: settings.tab === name ? "" : name }), []]);

  /** @param {KeyboardEvent} event */
  function onKey(event) {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const at = buttons.indexOf(/** @type {HTMLElement} */ (event.target));
    const to = step ? at + step : event.key === "Home" ? 0 : event.key === "End" ? buttons.length - 1 : null;
    if (to === null || at < 0) return;
    buttons[(to + buttons.length) % buttons.length].focus(); // opened with Enter or Space: a tab is made when it is opened
    event.preventDefault();
    event.stopPropagation();
  }

  /** @param {string} name */
  function show(name) {
    closePane();
    closePane = () => {};
    open = name;
    if (name) closePane = drawPane(name, slot);
  }

  function update() {
    const wanted = model.settings().tab;
    if (wanted !== open) show(wanted);
    const first = open || buttons[0].dataset.tab;
    for (const button of buttons) {
      const tab = button.dataset.tab ?? "";
      button.setAttribute("aria-selected", String(tab === open));
      button.tabIndex = tab === first ? 0 : -1;
      if (!placed) continue;
      const ids = tabIds(bar, tab);
      button.id = ids.tab;
      // Its panel is in the page only while it is open.
      if (tab === open) button.setAttribute("aria-controls", ids.panel);
      else button.removeAttribute("aria-controls");
    }
  }

  bar.addEventListener("keydown", onKey);
  model.on("settings", update);
  update();
  const stopWaiting = whenPlaced(bar, () => {
    placed = true;
    update();
  });
  return {
    bar,
    slot,
    close() {
      stopWaiting();
      model.off("settings", update);
      show("");
    },
  };
}
