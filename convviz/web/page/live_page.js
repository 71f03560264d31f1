// The page that the app's address answers with: its board lives at once; after the first paint it asks torch.
import { language } from "../base/sentences.js";
import { Server } from "../numbers/ask_server.js";
import { OF_A_NOTEBOOK } from "../rules/features.js";
import { byId, dataOfPage, startPage } from "./hosted_page.js";

const ANSWERS_WITHIN_MS = 10_000;

function start() {
  const data = dataOfPage();
  const model = startPage(data, true, data.own ? [] : OF_A_NOTEBOOK);
  afterPaint(() => askTorch(data, model));
}

/** @param {{ numbers: string, version: string }} data numbers: address @param {Model} model */
function askTorch({ numbers, version }, model) {
  const address = new URL(numbers, location.href.split(/[?#]/)[0]);
  const place = {
    connect: () =>
      new WebSocket(Object.assign(new URL(address), { protocol: address.protocol.replace("http", "ws") })),
    status: async () =>
      (await fetch(address, { cache: "no-store", signal: AbortSignal.timeout(ANSWERS_WITHIN_MS) })).status,
    host: address.hostname,
  };
  const server = new Server(place, { language: language(), version }, (state, reason) => {
    document.body.dataset.convvizTorch = state;
    report(reason);
    if (state === "ok") model.connect(server);
    else model.disconnect("away");
  });
  const open = () => document.visibilityState === "visible" && server.open();
  window.addEventListener("online", open);
  document.addEventListener("visibilitychange", open); // of a laptop that wakes up
  window.addEventListener("pagehide", server.shut);
  // A page that persisted comes from the browser's cache.
  window.addEventListener("pageshow", (event) => event.persisted && server.open());
  server.open();
}

/** Says why torch is not there; the empty sentence hides the line. @param {string} sentence */
function report(sentence) {
  const [banner, text] = [byId("convviz-lost"), byId("convviz-lost-text")];
  banner.hidden = !sentence;
  // The words come once it is visible: a screen reader hears a change.
  if (text.textContent !== sentence) text.textContent = sentence;
}

/** @param {() => void} then */
function afterPaint(then) {
  const channel = new MessageChannel();
  channel.port1.onmessage = () => {
    channel.port1.close();
    then();
  };
  requestAnimationFrame(() => channel.port2.postMessage(null));
}

export default { start };
