// @ts-check
// What all panes share: a pane stands in a tab beside the board and draws plain data that Python made.
import WORDS from "../../facts/words/pane.json" with { type: "json" };
import TERMS from "../../facts/words/terms.json" with { type: "json" };
import SETTINGS from "../../facts/settings.json" with { type: "json" };
import { element, setText } from "../base/dom.js";
import { keepKeys } from "../base/keys.js";
import { followKernel } from "../base/lost_kernel.js";
import { nameAfterTab } from "../base/placed.js";
import { followTheme } from "../base/theme.js";
import { setRich } from "../base/rich_text.js";
import { followPointer, pointAt } from "../base/wire.js";
import { sentences } from "../base/words.js";

const say = sentences(WORDS);
const meaningOf = sentences(TERMS);

/**
 * @import { Pointed } from "../base/wire.js"
 * @import { loadPlotly } from "../board/plotly.js"
 * @import { Settings } from "../rules/settings.js"
 * @typedef {Record<string, any>} Choices what was chosen in a tab; what is not there has its default in
 *   Python
 *
 * What a pane's own code gets. choose: other data are made of what was chosen; chosen: so far, in this page.
 * @typedef {{ root: HTMLElement, uid: string, send: (message: object) => void, choose: (changes: Choices) =>
 *   void, chosen: () => Choices, say: (text: string) => void, scale: () => [number, string][], point:
 *   (pointed?: Partial<Pointed>) => void, onPoint: (listener: (pointed: Pointed) => void) => void, onReply:
 *   (listener: (reply: any, buffers: DataView<ArrayBuffer>[]) => void) => void, onClose: (action: () => void)
 *   => void }} PaneTools
 * @typedef {Pick<ReturnType<typeof import("../base/events.js").createValues>, "get" | "on" | "off"> & {
 *   send: (message: object) => void, choose?: (changes: Choices) => void,
 *   goTo: (changes: Partial<Settings> | ((settings: Settings) => Partial<Settings>), words: string) => void,
 *   loadPlotly: () => ReturnType<typeof loadPlotly>, page: import("./mistakes/tab.js").Page }} PaneModel
 *   choose: where torch makes the data
 * @typedef {{ model: PaneModel, el: HTMLElement }} PaneContext the model has the page
 */

/**
 * Open a pane.
 * @param {PaneContext} context
 * @param {string} name names its class, cv-pane-<name>
 * @param {(pane: PaneTools, body: HTMLElement) => (data: any) => void} build makes everything once, and
 *   returns what shows new data; called with the same data again when the theme has changed
 * @returns {() => void} close it
 */
export function openPane({ model, el }, name, build) {
  const failure = element("p", { class: "cv-pane-failure", role: "alert" });
  const body = element("div", { class: "cv-pane-body" });
  const live = element("p", { class: "cv-live", role: "status", "aria-live": "polite" });
  const root = element(
    "section",
    { class: `cv-pane cv-pane-${name} cv-look` },
    failure,
    body,
    createTerms(name),
    live,
  );
  el.append(root);
  let theme = "light";
  let lost = ""; // that nobody answers any more
  /** @type {HTMLElement | null} */
  let app = null; // the app that the pane stands in
  /** @type {(() => void)[]} */
  const closers = model.get("tab") ? [nameAfterTab(root, model.get("tab"))] : standAlone();
  const pane = {
    root,
    uid: Math.random().toString(36).slice(2, 8),
    send: (message) => model.send(message),
    choose: (changes) => /** @type {Required<PaneModel>} */ (model).choose(changes),
    chosen: () => model.get("choices"),
    say: (text) => setText(live, text),
    scale: () => model.get("colorscales")[theme],
    point(pointed) {
      app = root.closest(".cv-app") ?? app;
      pointAt(root.isConnected ? root : (app ?? root), pointed); // a closing pane has left the page already
    },
    onPoint: (listener) => closers.push(followPointer(root, listener)),
    onReply: (listener) => {
      model.on("msg:custom", listener);
      closers.push(() => model.off("msg:custom", listener));
    },
    onClose: (action) => closers.push(action),
  };
  const show = build(pane, body);

  /** In an app, the board does this for all of it. */
  function standAlone() {
    const end = () => {
      lost = say("ended");
      update();
    };
    return [keepKeys(root), followKernel(model, end)];
  }

  function update() {
    const data = model.get("data");
    setText(failure, lost || (data.error ?? ""));
    root.classList.toggle("cv-pane-stale", Boolean(data.error)); // the last picture stays, faded
    if (!data.error && Object.keys(data).length) show(data);
    root.dataset.shown = String(data.step ?? "");
  }

  /** Whether other data were asked for. */
  const tellBusy = () => root.setAttribute("aria-busy", String(Boolean(model.get("busy"))));

  const follower = followTheme(
    () => model.get("theme"),
    (next) => {
      const changed = theme !== next;
      theme = next;
      root.dataset.theme = next;
      if (changed) update();
    },
  );
  model.on("change:data", update);
  model.on("change:busy", tellBusy);
  model.on("change:theme", follower.refresh);
  update();
  tellBusy();
  return () => {
    model.off("change:data", update);
    model.off("change:busy", tellBusy);
    model.off("change:theme", follower.refresh);
    follower.stop();
    pane.point();
    for (const close of closers) close();
    root.remove();
  };
}

/**
 * Words and controls beside what they are about: a wide drawer is used to its full width, in a narrow one
 * they stand above it.
 * @param {(Node | string)[]} words @param {(Node | string)[]} picture
 */
export const split = (words, picture) =>
  element("div", { class: "cv-split" }, element("div", {}, ...words), element("div", {}, ...picture));

/** What the words mean that a pane uses and nobody else. @param {string} name of the pane */
function createTerms(name) {
  const terms =
    /** @type {Record<string, (keyof typeof TERMS)[]>} */ (/** @type {unknown} */ (SETTINGS.tab_terms))[
      name
    ] ?? [];
  const lines = terms.map((term) => {
    const line = element("li", {});
    setRich(line, meaningOf(term));
    return line;
  });
  return element(
    "details",
    { class: "cv-terms", ...(terms.length ? {} : { hidden: "" }) },
    element("summary", {}, say("terms")),
    element("ul", {}, ...lines),
  );
}
