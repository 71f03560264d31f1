// A widget is drawn before it is placed in the page.

/** @param {HTMLElement} el @param {() => void} act */
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
 * `data-cv-holds`, for the sheet: "it" on the parent of an app, "all" further out. :has() would cost a sixth
 * of a step.
 * @param {HTMLElement} el
 */
export function notifyHolders(el) {
  /** @type {HTMLElement[]} */
  const undo = [];
  const forget = () => {
    for (const each of undo.splice(0))
      if (!each.querySelector(".cv-full")) each.removeAttribute("data-cv-holds");
  };
  const notify = () => {
    forget();
    for (let at = el.parentElement; at; at = at.parentElement) {
      undo.push(at);
      at.dataset.cvHolds = at === el.parentElement ? "it" : (at.dataset.cvHolds ?? "all");
    }
  };
  const watcher = new ResizeObserver(() => el.isConnected && notify()); // a notebook moves its outputs about
  watcher.observe(el);
  return () => {
    watcher.disconnect();
    el.classList.remove("cv-full");
    forget();
  };
}
