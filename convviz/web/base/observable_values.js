// Values by name with listeners, as an anywidget model has them.

/** @param {Record<string, any>} values */
export function createValues(values) {
  /** @type {Map<string, Set<Function>>} */
  const listeners = new Map();

  /** @param {string} event @param {...any} details */
  function emit(event, ...details) {
    for (const listener of [...(listeners.get(event) ?? [])]) listener(...details);
  }

  /** @param {string} event @param {Function} listener */
  const off = (event, listener) => void listeners.get(event)?.delete(listener);

  return {
    /** @param {string} name */
    get: (name) => values[name],
    /** @param {string} event @param {Function} listener @returns {() => void} ends it */
    on(event, listener) {
      if (!listeners.has(event)) listeners.set(event, new Set());
      listeners.get(event)?.add(listener);
      return () => off(event, listener);
    },
    off,
    emit,
    /** Listeners hear when all are there. @param {Record<string, any>} next */
    put(next) {
      const changed = Object.keys(next).filter((name) => values[name] !== next[name]);
      Object.assign(values, next);
      for (const name of changed) emit(`change:${name}`);
    },
  };
}
