// @ts-check
// The page that the app's address answers with: its board lives at once; after the first
// paint it asks torch, too.
import SETTINGS from "../../../facts/settings.json" with { type: "json" };
import { createValues } from "../base/events.js";
import { language } from "../base/words.js";
import { createShelf } from "../lesson/lessons.js";
import { Player } from "../lesson/player.js";
import { Server } from "../numbers/from_server.js";
import { createPageModel } from "../numbers/model.js";
import { FIRST_STATE } from "../rules/link.js";
import { followAddress } from "./address.js";
import { fetchLesson } from "./bring_lesson.js";
import { fetchPlotly } from "./fetched.js";
import { createLanguages, goOn, tellUnknown } from "./languages.js";
import { drawLive } from "./live.js";
import { createPanes } from "./panes.js";
import { fetchRecorded } from "./recorded.js";

const ANSWERS_WITHIN_MS = 10_000;

/** @import { Model } from "../numbers/model.js" */

/** @param {string} id */
const byId = (id) => /** @type {HTMLElement} */ (document.getElementById(id));

/** Begin; called once, when the page's document is there. */
function start() {
  const data = JSON.parse(byId("convviz-data").textContent ?? "");
  const model = createPageModel({
    ...data,
    state: FIRST_STATE,
    plotly: () => fetchPlotly(data.plotly),
    ground: {},
    live: true,
  });
  const player = new Player(
    model,
    createShelf({}, (name) => fetchLesson(data.lessons[name])),
  );
  const wish = createValues({ present: false });
  followAddress(
    (link) => model.send({ type: "open", link }),
    player,
    () => wish.put({ present: true }),
    !goOn(model, player),
  );
  tellUnknown(data.languages, model);
  const drawPane = createPanes(model, data.colorscales, { race: () => fetchRecorded(data.race) }, data.tabs);
  drawLive(byId("convviz-live"), model, drawPane, player, wish, {
    menu: createLanguages(data.languages, model, player),
    without: data.own ? [] : SETTINGS.tabs_of_a_notebook,
  });
  afterPaint(() => askTorch(data, model));
}

/**
 * Ask torch as long as the page is there.
 * @param {{ numbers: string, version: string }} data numbers: where it is asked @param {Model} model
 */
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
    tell(reason);
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

/** Say why torch is away, where nothing is covered; nothing: it is there. @param {string} sentence */
function tell(sentence) {
  const [banner, text] = [byId("convviz-lost"), byId("convviz-lost-text")];
  banner.hidden = !sentence;
  // The words come once it is visible: a screen reader hears a change.
  if (text.textContent !== sentence) text.textContent = sentence;
}

/** Do something once what was just drawn is on the screen. @param {() => void} then */
function afterPaint(then) {
  const channel = new MessageChannel();
  channel.port1.onmessage = () => {
    channel.port1.close();
    then();
  };
  requestAnimationFrame(() => channel.port2.postMessage(null));
}

export default { start };
