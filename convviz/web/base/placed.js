// @ts-check
// Where a widget stands in the page: it is drawn before it is put there.

/**
 * Act once an element stands in the page.
 * @param {HTMLElement} el @param {() => void} act
 * @returns {() => void} no longer wait for it
 */
export function whenPlaced(el, act) {
  const watcher = new ResizeObserver(() => {
    if (!el.isConnected) return;
    watcher.disconnect();
    act();
  });
  watcher.observe(el);
  return () => watcher.disconnect();
}

/**
 * Tell what holds an app that it does, for the style sheet: `data-cv-holds` of its parent is "it", of all
 * around, "all". With :has() the browser would look for the app anew after every change of a number, a
 * sixth of what a step takes.
 * @param {HTMLElement} el with the app's class, cv-full
 * @returns {() => void} no longer
 */
export function tellHolders(el) {
  /** @type {HTMLElement[]} */
  const told = [];
  const forget = () => {
    for (const each of told.splice(0))
      if (!each.querySelector(".cv-full")) each.removeAttribute("data-cv-holds");
  };
  const tell = () => {
    forget();
    for (let at = el.parentElement; at; at = at.parentElement) {
      told.push(at);
      at.dataset.cvHolds = at === el.parentElement ? "it" : (at.dataset.cvHolds ?? "all");
    }
  };
  const watcher = new ResizeObserver(() => el.isConnected && tell()); // a notebook moves its outputs about
  watcher.observe(el);
  return () => {
    watcher.disconnect();
    el.classList.remove("cv-full");
    forget();
  };
}

/**
 * Return the ids that bind a tab to its panel. They are of this view of the app: a
 * notebook may display it twice.
 * @param {HTMLElement} el in the app, and placed @param {string} tab
 */
export function tabIds(el, tab) {
  const app = /** @type {HTMLElement} */ (el.closest(".cv-app") ?? el);
  const view = (app.dataset.cvView ??= Math.random().toString(36).slice(2, 8));
  return { tab: `cv-tab-${view}-${tab}`, panel: `cv-panel-${view}-${tab}` };
}

/**
 * Make an element the panel of its tab, once it is placed.
 * @param {HTMLElement} root @param {string} tab
 * @returns {() => void} no longer wait for it
 */
export function nameAfterTab(root, tab) {
  return whenPlaced(root, () => {
    const ids = tabIds(root, tab);
    const attributes = { id: ids.panel, role: "tabpanel", "aria-labelledby": ids.tab };
    for (const [name, value] of Object.entries(attributes)) root.setAttribute(name, value);
  });
}
