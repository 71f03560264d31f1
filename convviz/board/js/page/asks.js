// @ts-check
// An app's own script: the few lines that ask for the app's, which another widget carries for all apps of the kernel.
import { placeOf } from "../base/shared_script.js";

const PREFIX = "IPY_MODEL_";
const PATIENCE_MS = 1500; // after two seconds anywidget gives a widget up for good; a script that is later, a view waits for

/** What anywidget calls once for each widget. */
function createAsking() {
  /** @type {any} */
  let app;
  /** @type {Promise<(() => void) | undefined>} */
  let ready;
  return {
    /** @param {any} context */
    async initialize(context) {
      const { model } = context;
      // Colab shows each output in a frame of its own, and brings there only what is asked for.
      const carrier = model.get("_carrier");
      if (typeof carrier === "string") model.widget_manager?.get_model(carrier.replace(PREFIX, ""))?.catch(() => {});
      ready = placeOf(model.get("_facts").script).promise.then((createApp) => {
        app = createApp();
        return app.initialize(context);
      });
      await Promise.race([ready, new Promise((done) => setTimeout(done, PATIENCE_MS))]);
      return () => void ready.then((close) => close?.());
    },
    /** @param {any} context */
    async render(context) {
      const { model, el, host, signal } = context;
      const waiting = document.createElement("p");
      waiting.textContent = model.get("_facts").waiting;
      el.append(waiting);
      // marimo starts a widget only where it is shown, in a shadow root that sees the sheets of such widgets alone.
      if (host && el.getRootNode() instanceof ShadowRoot) {
        const carrier = await host.getWidget(model.get("_carrier").replace(PREFIX, "anywidget:"));
        const place = document.createElement("div");
        el.append(place);
        await carrier.render({ el: place, signal });
      }
      await ready;
      waiting.remove();
      return app.render(context);
    },
  };
}

export default createAsking;
