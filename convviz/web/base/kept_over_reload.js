// What outlives a reload, in the session's storage; a sandboxed page has none.

/** @param {string} name */
const keyOf = (name) => `convviz:${name}`;

/** @param {string} name @param {object} value */
export function keep(name, value) {
  try {
    sessionStorage.setItem(keyOf(name), JSON.stringify(value));
  } catch {
    // Without storage, the page begins anew after a reload.
  }
}

/**
 * Returns what was kept, only once; null means that nothing was, or that it cannot be read.
 * @param {string} name @returns {any}
 */
export function takeKept(name) {
  try {
    const kept = sessionStorage.getItem(keyOf(name));
    sessionStorage.removeItem(keyOf(name));
    return JSON.parse(kept ?? "null");
  } catch {
    return null;
  }
}
