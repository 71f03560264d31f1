// @ts-check
// The app's widget in a page that has a board of its own: it draws nothing, and brings that board the kernel.

const PAGE = Symbol.for("convviz.page"); // put there by the page, before Voilà's front end runs

/** What anywidget calls once for each widget. */
const createJoin = () => ({
  /** @param {{ model: any }} context */
  initialize({ model }) {
    return /** @type {any} */ (globalThis)[PAGE].attach(model);
  },
  render() {},
});

export default createJoin;
