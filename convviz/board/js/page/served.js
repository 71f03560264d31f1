// @ts-check
// The page that the app's address answers with: its board lives at once; after the first paint it asks for a kernel.
import WORDS from "../../../facts/words/served.json" with { type: "json" };
import { language, sentences } from "../base/words.js";
import { FIRST_STATE } from "../rules/link.js";
import { createValues } from "../base/events.js";
import { createShelf } from "../lesson/lessons.js";
import { createPlayer } from "../lesson/player.js";
import { createKernel } from "../numbers/from_kernel.js";
import { createPageModel } from "../numbers/model.js";
import { followAddress } from "./address.js";
import { fetchPlotly } from "./fetched.js";
import { PAGE } from "./front_end.js";
import { createLanguages, goOn, tellUnknown } from "./languages.js";
import { drawLive } from "./live.js";
import { followHand } from "./hand.js";
import { createPanes } from "./panes.js";
import { fetchLesson } from "./bring_lesson.js";
import { fetchRecorded } from "./recorded.js";
import { createSession } from "./session.js";

const say = sentences(WORDS);

/** @param {string} id */
const byId = (id) => /** @type {HTMLElement} */ (document.getElementById(id));

/** Begin; called once, when the page's document is there. */
function start() {
  const data = JSON.parse(byId("convviz-data").textContent ?? "");
  const live = byId("convviz-live");
  const model = createPageModel({ ...data, state: FIRST_STATE, plotly: () => fetchPlotly(data.plotly), ground: {}, live: true });
  const player = createPlayer(model, createShelf({}, (name) => fetchLesson(data.lessons[name])));
  const wish = createValues({ present: false });
  followAddress((link) => model.send({ type: "open", link }), player, () => wish.put({ present: true }), !goOn(model, player));
  tellUnknown(data.languages, model);
  const rests = followHand();
  const session = createSession(data, rests, (state) => model.hearOfKernel(state));
  const drawPane = createPanes(model, data.colorscales, { race: () => fetchRecorded(data.race) }, data.tabs);
  drawLive(live, model, drawPane, player, wish, { menu: createLanguages(data.languages, model, player) });
  byId("convviz-again").addEventListener("click", session.startAgain);
  model.on("settings", () => model.get("kernel") === "resting" && session.startAgain()); // a move is what wakes it
  model.on("change:values", () => model.get("values").from === "torch" && session.answered());
  join(data.version, model, session.state);
  afterPaint(session.start);
  whenColoured(live, () => whenIdle(() => rests().then(session.prepare)));
}

/**
 * What the app's widget, which runs in the front end's frame, finds of this page.
 * @param {string} version of the page @param {import("../numbers/model.js").Model} model of the page
 * @param {() => import("./kernel_state.js").State} state of the kernel now
 */
function join(version, model, state) {
  /** @param {any} widget */
  const attach = (widget) => {
    const theirs = widget.get("_facts").version;
    if (theirs !== version) {
      model.say(say("live.version", { page: version, kernel: theirs }), true);
      return model.disconnect();
    }
    const kernel = createKernel(widget);
    if (widget.get("_facts").language !== language()) kernel.send({ type: "language", language: language() });
    model.connect(kernel);
    model.hearOfKernel(state()); // the connection may have gone before the widget came
    return () => model.kernel() === kernel && model.disconnect(); // not of one that came after it
  };
  /** @type {any} */ (globalThis)[PAGE] = { version, attach };
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

const AT_LATEST_MS = 1000;

/** Do something when the page has nothing better to do. @param {() => void} then */
function whenIdle(then) {
  if ("requestIdleCallback" in window) requestIdleCallback(then, { timeout: AT_LATEST_MS });
  else setTimeout(then, 0); // Safari
}

/** Do something once the first heatmap stands: what comes later must not be in its way. @param {HTMLElement} el @param {() => void} then */
function whenColoured(el, then) {
  const observer = new MutationObserver(() => {
    if (!el.querySelector(".cv-plot .hm image")) return;
    observer.disconnect();
    afterPaint(then);
  });
  observer.observe(el, { childList: true, subtree: true });
}

export default { start };
