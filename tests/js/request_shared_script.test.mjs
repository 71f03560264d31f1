// An app's own script where widgets start only where they are shown, each in a shadow root, as in marimo.
import assert from "node:assert/strict";
import test from "node:test";

import createAsking from "../../convviz/web/page/request_shared_script.js";
import { sharedPlace } from "../../convviz/web/base/shared_script.js";

globalThis.ShadowRoot = class {};
globalThis.location = { search: "?lang=zh-TW" };

/** As much of an element as the script needs. */
class Element {
  children = [];
  textContent = "";
  constructor(root) {
    this.getRootNode = () => root;
  }
  append(child) {
    this.children.push(child);
    child.remove = () => this.children.splice(this.children.indexOf(child), 1);
  }
  words = () => this.children.map(({ textContent }) => textContent).join("");
}
globalThis.document = { createElement: () => new Element(null) };

test("the app shows what carries its script where nothing else would start it, and a sentence until then", async () => {
  const traits = {
    _facts: { script: "asks-test", waiting: "The app is starting.", language: "en", languages: ["en"] },
    _carrier: "IPY_MODEL_7",
  };
  const model = { get: (name) => traits[name], on() {} };
  const el = new Element(new ShadowRoot());
  let start = () => {};
  const started = new Promise((done) => (start = done));
  const app = { initialize() {}, render: ({ el: place }) => (place.textContent = "the app") };
  const host = {
    getWidget: async (ref) => ({
      async render({ el: place }) {
        assert.deepEqual([ref, el.children.includes(place)], ["anywidget:7", true]);
        await started;
        sharedPlace("asks-test").give(() => app);
      },
    }),
  };
  const asking = createAsking();
  const end = asking.initialize({ model }); // marimo gives no host here
  assert.equal(
    typeof end,
    "function",
    "it waits for nothing: after two seconds anywidget drops all messages",
  );
  const drawn = asking.render({ model, el, host });
  await new Promise(setImmediate);
  assert.equal(el.words(), "The app is starting.");
  start();
  await drawn;
  assert.deepEqual([el.textContent, el.words()], ["the app", ""]);
});
