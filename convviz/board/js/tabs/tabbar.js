// @ts-check
// The row of tabs, and the place in which the pane of the open one stands: it is drawn when its tab is opened.
import NAMES from "../../../facts/names.json" with { type: "json" };
import SETTINGS from "../../../facts/settings.json" with { type: "json" };
import WORDS from "../../../facts/words/pane.json" with { type: "json" };
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
 * Make the drawer: the row, the place, and what closes it again.
 * @param {Model} model @param {DrawPane} drawPane @param {string[]} [only] the tabs that the page has; else all
 */
export function createTabs(model, drawPane, only) {
  /** @type {HTMLElement[]} */
  const buttons = [];
  const groups = Object.entries(SETTINGS.tab_groups).flatMap(([group, all]) => {
    const names = all.filter((name) => !only || only.includes(name));
    if (!names.length) return [];
    const title = say(/** @type {"group.see"} */ (`group.${group}`));
    const made = names.map((name) => createTab(name, () => choose(name)));
    buttons.push(...made);
    const list = element("div", { class: "cv-tablist", role: "tablist", "aria-label": title }, ...made);
    return [
      element("div", { class: "cv-tabgroup" }, element("span", { "aria-hidden": "true" }, title), list),
    ];
  });
  const bar = element("div", { class: "cv-tabbar" }, ...groups);
  const shut = element("button", { type: "button", class: "cv-drawer-close", hidden: "" }, "×");
  shut.addEventListener("click", closeOpen);
  const el = element("div", { class: "cv-drawer" });
  const slot = element("div", { class: "cv-slot" });
  let placed = false;
  let open = "";
  let closePane = () => {};

  /** @param {string} name open, or closed again if it is */
  const choose = (name) =>
    model.change((settings) => [replaced(settings, { tab: settings.tab === name ? "" : name }), []]);

  /** Close the drawer; the keyboard goes back to where it was opened. */
  function closeOpen() {
    const button = buttons.find(({ dataset }) => dataset.tab === open);
    if (open) choose(open);
    button?.focus({ preventScroll: true });
  }

  /** @param {KeyboardEvent} event */
  function onEscape(event) {
    if (event.key !== "Escape" || !open || event.defaultPrevented) return;
    closeOpen();
    event.preventDefault();
    event.stopPropagation();
  }

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
    const { tab } = model.settings();
    const wanted = buttons.some(({ dataset }) => dataset.tab === tab) ? tab : ""; // a link may name one that is not here
    if (wanted !== open) show(wanted);
    shut.hidden = !open;
    if (open)
      shut.setAttribute("aria-label", say("close", { tab: NAMES.tabs[/** @type {"code"} */ (open)] }));
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

  el.append(bar, slot, shut);
  el.addEventListener("keydown", onEscape);
  bar.addEventListener("keydown", onKey);
  model.on("settings", update);
  update();
  const stopWaiting = whenPlaced(bar, () => {
    placed = true;
    update();
  });
  return {
    el,
    close() {
      stopWaiting();
      model.off("settings", update);
      show("");
    },
  };
}

/** @param {string} name @param {() => void} onClick */
function createTab(name, onClick) {
  const button = element(
    "button",
    { type: "button", class: "cv-tab", role: "tab", "data-tab": name },
    NAMES.tabs[/** @type {"code"} */ (name)],
  );
  button.addEventListener("click", onClick);
  return button;
}
