// What a visitor is shown once: remembered in storage, else on the page.

/** @param {string} name */
const onPage = (name) => Symbol.for(`convviz.${name}`);
/** @param {string} name */
const kept = (name) => `convviz:${name}`;
const page = /** @type {Record<symbol, unknown>} */ (/** @type {unknown} */ (globalThis));

/** @param {string} name */
export function wasSeen(name) {
  if (page[onPage(name)]) return true;
  try {
    return localStorage.getItem(kept(name)) !== null;
  } catch {
    return false; // a sandboxed page has no storage
  }
}

/** @param {string} name */
export function noteSeen(name) {
  page[onPage(name)] = true;
  try {
    localStorage.setItem(kept(name), "1");
  } catch {
    // No storage, or a full one: once a page.
  }
}
