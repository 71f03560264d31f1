// @ts-check
// Voilà's front end, in a frame of its own that shows nothing. There its style sheets, its keys and its shell reach nothing
// of the page; it can be loaded while the kernel still starts; and when a kernel is lost, the frame is thrown away with
// all that talked to it, and a new one takes its place.

/** What the app's widget finds in the page that it joins. */
export const PAGE = Symbol.for("convviz.page");

export class FrontEnd {
  #frame;
  #loaded;
  /** What the front end wants to do when its page has loaded. @type {(() => void)[]} */
  #waiting = [];
  #going = false;

  /** @param {string} address of the frame's document @param {string} title */
  constructor(address, title) {
    this.#frame = document.createElement("iframe");
    Object.assign(this.#frame, { className: "convviz-frame", title, src: address, tabIndex: -1, inert: true });
    this.#frame.setAttribute("aria-hidden", "true");
    this.#loaded = new Promise((resolve, reject) => {
      this.#frame.addEventListener("load", () => this.#load().then(resolve, reject), { once: true });
    });
    this.#loaded.catch(() => {}); // told by who awaits it, which may be much later
    document.body.append(this.#frame);
  }

  /**
   * Run it, once it is loaded.
   * @param {string} kernelId @param {Element[]} outputs what the notebook's cells put out
   * @returns {Promise<any>} JupyterLab's connection to the kernel
   */
  async run(kernelId, outputs) {
    const inside = await this.#loaded;
    const { document: own } = inside;
    own.body.dataset.kernelId = kernelId; // JupyterLab looks here for what its configuration lacks
    own.body.append(...outputs.map((output) => own.importNode(output, true)));
    const started = this.#started(inside);
    this.#going = true;
    for (const start of this.#waiting.splice(0)) start();
    const app = await started;
    /** @type {any} */ (window).jupyterapp = app;
    return (await app.widgetManagerPromise.promise).kernel;
  }

  /** Away with it, and all connections that it has. */
  remove() {
    this.#frame.remove();
  }

  /** Load the scripts; they are held back where they would go on when their page has loaded. @returns {Promise<any>} */
  async #load() {
    const inside = /** @type {any} */ (this.#frame.contentWindow);
    inside[PAGE] = /** @type {any} */ (globalThis)[PAGE];
    const add = inside.addEventListener.bind(inside);
    /** @param {string} type @param {any} listener @param {any[]} rest */
    inside.addEventListener = (type, listener, ...rest) => {
      if (type !== "load") return add(type, listener, ...rest);
      const start = () => listener.call(inside, new Event("load"));
      return this.#going ? start() : this.#waiting.push(start);
    };
    const config = inside.document.getElementById("jupyter-config-data");
    if (!config) throw new Error(this.#frame.src); // the server answered with something else
    const script = inside.document.createElement("script");
    script.src = `${JSON.parse(config.textContent).fullStaticUrl}/voila.js`;
    await new Promise((resolve, reject) => {
      script.onload = resolve;
      script.onerror = () => reject(new Error(script.src));
      inside.document.body.append(script);
    });
    return inside;
  }

  /** Voilà sets a variable, without an event, once its front end runs. @param {any} inside */
  #started(inside) {
    return new Promise((resolve) => {
      Object.defineProperty(inside, "jupyterapp", {
        configurable: true,
        set(app) {
          Object.defineProperty(inside, "jupyterapp", { value: app, writable: true });
          resolve(app);
        },
      });
    });
  }
}
