// An app's own script: it asks for the app's, which another widget carries for all apps of the kernel, in the
// reader's language. For another language the kernel brings another script, and the app goes on in it.
import { sharedPlace } from "../base/shared_script.js";
import { wantedLanguage, understood } from "../base/wanted_language.js";

const PREFIX = "IPY_MODEL_";
const LANGUAGE_MS = 2000; // later ones are taken, too

/** By the address, else App(lang=), else the browser. @param {any} facts */
function wantedOf({ languages, language, chosen }) {
  const wishes = wantedLanguage() ? [wantedLanguage()] : chosen ? [] : navigator.languages;
  return wishes.map((/** @type {string} */ wish) => understood(wish, languages)).find(Boolean) ?? language;
}

/** @param {any} model @returns {Promise<void>} the reader's language is brought, or timed out */
function languageOf(model) {
  const facts = model.get("_facts");
  const wanted = wantedOf(facts);
  if (wanted === facts.language) return Promise.resolve();
  const brought = new Promise((done) => model.on("change:_facts", done));
  model.send({ type: "language", language: wanted });
  return Promise.race([brought, new Promise((done) => setTimeout(done, LANGUAGE_MS))]);
}

/**
 * marimo starts a widget only where it is shown, in a shadow root that sees its sheets alone.
 * @param {any} context
 */
async function renderCarrier({ model, el, host, signal }) {
  const carrier = await host.getWidget(model.get("_carrier").replace(PREFIX, "anywidget:"));
  const place = document.createElement("div");
  el.append(place);
  await carrier.render({ el: place, signal });
}

function createAsking() {
  /** @type {any} */
  let app;
  let close = () => {};
  let shown = "";
  let arrived = () => {};
  /** @type {Promise<void>} */
  const ready = new Promise((done) => (arrived = done));
  /** @type {Set<{ context: any, close: () => void }>} */
  const views = new Set();

  /** In the script that the kernel names now. @param {any} context */
  async function turn(context) {
    const { model } = context;
    // Colab shows each output in a frame of its own, and brings there only what is asked for.
    const carrier = model.get("_carrier");
    if (typeof carrier === "string")
      model.widget_manager?.get_model(carrier.replace(PREFIX, ""))?.catch(() => {});
    const key = model.get("_facts").script;
    const createApp = await sharedPlace(key).promise;
    // Another is named by now, and follows.
    if (key === shown || key !== model.get("_facts").script) return;
    shown = key;
    const kept = app?.kept();
    const held = [...views].find((view) => view.context.el.contains(document.activeElement));
    for (const view of views) view.close();
    close();
    app = createApp();
    close = app.initialize({ ...context, kept });
    for (const view of views) view.close = app.render(view.context);
    held?.context.el.querySelector(".cv-languages summary")?.focus();
    arrived();
  }

  return {
    /**
     * Waits for nothing: after two seconds anywidget gives up, and the widget hears no message any more. A
     * busy machine needs them for the import.
     * @param {any} context
     */
    initialize(context) {
      const { model } = context;
      void languageOf(model).then(() => {
        model.on("change:_facts", () => turn(context));
        return turn(context);
      });
      return () => void ready.then(() => close());
    },
    /** @param {any} context */
    async render(context) {
      const { model, el } = context;
      const waiting = document.createElement("p");
      waiting.textContent = model.get("_facts").waiting;
      el.append(waiting);
      if (context.host && el.getRootNode() instanceof ShadowRoot) await renderCarrier(context);
      await ready;
      waiting.remove();
      const view = { context, close: app.render(context) };
      views.add(view);
      return () => {
        views.delete(view);
        view.close();
      };
    },
  };
}

export default createAsking;
