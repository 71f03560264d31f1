// @ts-check
// The row of tabs. The pane of the open one is a widget of its own, beside the board.
import WORDS from "../../../facts/words/tabs.json" with { type: "json" };
import { element } from "../base/dom.js";
import { tabIds, whenPlaced } from "../base/placed.js";
import { sentences } from "../base/words.js";

const say = sentences(WORDS);

/** @param {{ model: any, el: HTMLElement }} context */
function render({ model, el }) {
  const bar = element("div", { class: "cv-tabbar", role: "tablist", "aria-label": say("bar") });
  el.append(bar);
  let placed = false;

  /** @param {string} name */
  function choose(name) {
    model.set("chosen", model.get("chosen") === name ? "" : name);
    model.save_changes();
  }

  const buttons = () => /** @type {HTMLElement[]} */ ([...bar.children]);

  /** @param {KeyboardEvent} event */
  function onKey(event) {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const all = buttons();
    const at = all.indexOf(/** @type {HTMLElement} */ (event.target));
    const to = step ? at + step : event.key === "Home" ? 0 : event.key === "End" ? all.length - 1 : null;
    if (to === null || at < 0) return;
    all[(to + all.length) % all.length].focus(); // opened with Enter or Space: a tab is made when it is opened
    event.preventDefault();
    event.stopPropagation();
  }

  function update() {
    const open = model.get("chosen");
    const tabs = model.get("tabs");
    if (bar.children.length !== tabs.length) {
      bar.replaceChildren(
        ...tabs.map(([name, title]) => {
          const button = element("button", { type: "button", class: "cv-tab", role: "tab", "data-tab": name }, title);
          button.addEventListener("click", () => choose(name));
          return button;
        }),
      );
    }
    const first = open || tabs[0]?.[0];
    for (const button of buttons()) {
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
  model.on("change:tabs", update);
  model.on("change:chosen", update);
  update();
  const stopWaiting = whenPlaced(bar, () => {
    placed = true;
    update();
  });
  return () => {
    stopWaiting();
    model.off("change:tabs", update);
    model.off("change:chosen", update);
    bar.remove();
  };
}

export default { render };
