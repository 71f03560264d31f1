// What all panes share: a pane stands in a tab beside the board and draws plain data that Python made.
import TERMS from "../../facts/data/words/terms.json" with { type: "json" };
import { element, makeId, setText } from "../base/dom.js";
import { keepKeys } from "../base/keys.js";
import { followKernel } from "../base/lost_kernel.js";
import { nameAfterTab } from "../base/tab_ids.js";
import { followTheme } from "../base/theme.js";
import { rich } from "../base/rich_text.js";
import { followPointer, pointAt } from "../base/pointed_cell_events.js";
import { sentences } from "../base/sentences.js";
import { featureOf } from "../rules/features.js";
import { sayPane } from "./pane_sentences.js";

const meaningOf = sentences(TERMS);

/**
 * @import { loadPlotly } from "../board/panel/load_plotly.js"
 * @typedef {Record<string, any>} Choices Python has defaults
 * @typedef {{ shown: () => { settings: Settings, numbers: { stages: Stages } } | null, selected: () => Place
 *   | null, follow: (listener: () => void) => () => void, kept: (tab: string) => Choices, keep: (tab: string,
 *   values: Choices) => void, open: (link: string, words: string) => void }} Page the board's; kept: while the
 *   tab is closed; open: undo leads back
 * @typedef {{ goTo: (changes: Partial<Settings> | ((settings: Settings) => Partial<Settings>), words: string)
 *   => void, loadPlotly: () => ReturnType<typeof loadPlotly>, page: Page }} Around
 * @typedef {Pick<ReturnType<typeof import("../base/observable_values.js").createValues>, "get" | "on" |
 *   "off"> & Around & { send: (message: object) => void, choose?: (changes: Choices) => void }} PaneModel
 *   choose: where torch makes the data
 * @typedef {{ model: PaneModel, el: HTMLElement }} PaneContext
 * @typedef {ReturnType<typeof createTools>} PaneTools
 * @typedef {(pane: PaneTools, body: HTMLElement) => (data: any) => void} Build returns what shows data, also
 *   when the theme changes
 */

/** @param {string} name of its class @param {Build} build */
export const tab = (name, build) => ({
  render: (/** @type {PaneContext} */ context) => openPane(context, name, build),
});

/**
 * @param {PaneModel} model @param {HTMLElement} root @param {(() => void)[]} closers
 * @param {HTMLElement} live
 */
function createTools(model, root, closers, live) {
  /** @type {HTMLElement | null} */
  let app = null;
  const say = (/** @type {string} */ text) => setText(live, text);
  return {
    root,
    uid: makeId(),
    page: model.page,
    goTo: model.goTo,
    loadPlotly: model.loadPlotly,
    send: (/** @type {object} */ message) => model.send(message),
    /** @param {Choices} changes */
    choose: (changes) => model.choose?.(changes),
    /** @returns {Choices} */
    chosen: () => model.get("choices"),
    say,
    /** Who came by keys hears it. @param {Element} node @param {string} text */
    read(node, text) {
      setText(node, text);
      if (document.activeElement?.closest(".cv-pane") === root) say(text);
    },
    /** @type {ScaleOf} */
    scale: (quantity) => model.get("colorscales")[root.dataset.theme ?? "light"][quantity],
    /** @param {Partial<Pointed>} [pointed] */
    point(pointed) {
      app = root.closest(".cv-app") ?? app;
      pointAt(root.isConnected ? root : (app ?? root), pointed); // a closing pane is out of the page
    },
    /** @param {(pointed: Pointed) => void} listener */
    onPoint: (listener) => void closers.push(followPointer(root, listener)),
    /** @param {(reply: any, buffers: Buffers) => void} listener */
    onReply(listener) {
      model.on("msg:custom", listener);
      closers.push(() => model.off("msg:custom", listener));
    },
    /** @param {() => void} action */
    onClose: (action) => void closers.push(action),
  };
}

/** @param {PaneContext} context @param {string} name @param {Build} build @returns {() => void} */
function openPane({ model, el }, name, build) {
  const failure = element("p.cv-pane-failure", { role: "alert" });
  const body = element("div.cv-pane-body");
  const live = element("p.cv-live", { role: "status", "aria-live": "polite" });
  const parts = [failure, body, createTerms(name), live];
  const root = element(`section.cv-pane.cv-pane-${name}.cv-look`, { "data-theme": "light" }, ...parts);
  el.append(root);
  let lost = "";
  /** @type {(() => void)[]} */
  const closers = model.get("tab") ? [nameAfterTab(root, model.get("tab"))] : standAlone();
  const pane = createTools(model, root, closers, live);
  const show = build(pane, body);

  /** In an app the board does this. */
  function standAlone() {
    const end = () => {
      lost = sayPane("ended");
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

  const showBusy = () => root.setAttribute("aria-busy", String(Boolean(model.get("busy"))));

  const follower = followTheme(
    () => model.get("theme"),
    (next) => {
      const changed = root.dataset.theme !== next;
      root.dataset.theme = next;
      if (changed) update();
    },
  );
  const heard = { "change:data": update, "change:busy": showBusy, "change:theme": follower.refresh };
  for (const [event, listener] of Object.entries(heard)) model.on(event, listener);
  update();
  showBusy();
  return () => {
    for (const [event, listener] of Object.entries(heard)) model.off(event, listener);
    follower.stop();
    pane.point();
    for (const close of closers) close();
    root.remove();
  };
}

/**
 * In a narrow drawer words stand above the picture.
 * @param {(Node | string)[]} words @param {(Node | string)[]} picture
 */
export const split = (words, picture) =>
  element("div.cv-split", element("div", ...words), element("div", ...picture));

/** @param {string} name */
function createTerms(name) {
  const terms = /** @type {(keyof typeof TERMS)[]} */ (featureOf(name)?.terms ?? []);
  const list = element("ul", ...terms.map((term) => rich("li", meaningOf(term))));
  const el = element("details.cv-terms", element("summary", sayPane("terms")), list);
  el.hidden = !terms.length;
  return el;
}
