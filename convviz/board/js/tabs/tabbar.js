// @ts-check
// The row of tabs. The pane of the open one is a widget of its own, beside the board.
import { element } from "../base/dom.js";

/** @param {{ model: any, el: HTMLElement }} context */
function render({ model, el }) {
  const bar = element("div", { class: "cv-tabbar", role: "tablist", "aria-label": "Look deeper" });
  el.append(bar);

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
    const uid = model.get("uid");
    if (bar.children.length !== tabs.length) {
      bar.replaceChildren(
        ...tabs.map(([name, title]) => {
          const id = `cv-tab-${uid}-${name}`;
          const button = element("button", { type: "button", class: "cv-tab", role: "tab", id, "data-tab": name }, title);
          button.addEventListener("click", () => choose(name));
          return button;
        }),
      );
    }
    const first = open || tabs[0]?.[0];
    for (const button of buttons()) {
      const { tab } = button.dataset;
      button.setAttribute("aria-selected", String(tab === open));
      // Its panel is in the page only while it is open; pane.js gives it this id.
      if (tab === open) button.setAttribute("aria-controls", `cv-panel-${uid}-${tab}`);
      else button.removeAttribute("aria-controls");
      button.tabIndex = tab === first ? 0 : -1;
    }
  }

  bar.addEventListener("keydown", onKey);
  model.on("change:tabs", update);
  model.on("change:chosen", update);
  update();
  return () => {
    model.off("change:tabs", update);
    model.off("change:chosen", update);
    bar.remove();
  };
}

export default { render };
