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
 * Return the ids that bind a tab to its panel. They are of this view of the app: a notebook may display it twice.
 * @param {HTMLElement} el in the app, and placed @param {string} tab
 */
export function tabIds(el, tab) {
  const app = /** @type {HTMLElement} */ (el.closest(".cv-app") ?? el);
  const view = (app.dataset.cvView ??= Math.random().toString(36).slice(2, 8));
  return { tab: `cv-tab-${view}-${tab}`, panel: `cv-panel-${view}-${tab}` };
}
