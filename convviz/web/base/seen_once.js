// @ts-check
// What is shown to a visitor once: kept where it may be, else as long as the page is
// there, for all scripts in it.

/** @param {string} name */
const onPage = (name) => Symbol.for(`convviz.${name}`);
/** @param {string} name */
const kept = (name) => `convviz:${name}`;
const page = /** @type {Record<symbol, unknown>} */ (/** @type {unknown} */ (globalThis));

/** Whether the visitor has seen it. @param {string} name */
export function wasSeen(name) {
  if (page[onPage(name)]) return true;
  try {
    return localStorage.getItem(kept(name)) !== null;
  } catch {
    return false; // a sandboxed page has no storage
  }
}

/** The visitor sees it now. @param {string} name */
export function noteSeen(name) {
  page[onPage(name)] = true;
  try {
    localStorage.setItem(kept(name), "1");
  } catch {
    // A sandboxed page has no storage, and a full one takes nothing: it is once a page then.
  }
}
