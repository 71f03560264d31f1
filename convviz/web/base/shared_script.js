// Where the widget with the app's script meets the apps that wait for it.

/** @typedef {{ promise: Promise<any>, give: (made: any) => void }} Place */

/** @param {string} key two kernels may run two versions @returns {Place} */
export function sharedPlace(key) {
  const places = /** @type {any} */ (globalThis);
  const name = Symbol.for(`convviz.script.${key}`);
  if (!places[name]) {
    let give = (/** @type {any} */ _) => {};
    const promise = new Promise((done) => (give = done));
    places[name] = { promise, give };
  }
  return places[name];
}
