// The ids by which a tab's button and its panel name each other.

import { makeId } from "./dom.js";
import { whenPlaced } from "./when_attached.js";

/** Per view: a notebook may display an app twice. @param {HTMLElement} el @param {string} tab */
export function tabIds(el, tab) {
  const app = /** @type {HTMLElement} */ (el.closest(".cv-app") ?? el);
  const view = (app.dataset.cvView ??= makeId());
  return { tab: `cv-tab-${view}-${tab}`, panel: `cv-panel-${view}-${tab}` };
}

/** Names the pane after its tab, once it is placed. @param {HTMLElement} root @param {string} tab */
export function nameAfterTab(root, tab) {
  return whenPlaced(root, () => {
    const ids = tabIds(root, tab);
    const attributes = { id: ids.panel, role: "tabpanel", "aria-labelledby": ids.tab };
    for (const [name, value] of Object.entries(attributes)) root.setAttribute(name, value);
  });
}
