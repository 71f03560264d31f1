// @ts-check
// The app as a widget: its model lives here, for all its views; the kernel is where torch computes.
import SETTINGS from "../../../facts/settings.json" with { type: "json" };
import WORDS from "../../../facts/words/app.json" with { type: "json" };
import { element } from "../base/dom.js";
import { setRich } from "../base/rich_text.js";
import { sentences } from "../base/words.js";
import { createShare } from "../controls/share.js";
import { createKernel } from "../numbers/from_kernel.js";
import { createPageModel } from "../numbers/model.js";
import { createTabs } from "../tabs/tabbar.js";
import { createPanes } from "./panes.js";
import { drawApp } from "./view.js";

const say = sentences(WORDS);

/**
 * @import { Model } from "../numbers/model.js"
 * @import { DrawPane } from "../tabs/tabbar.js"
 */

/** What a person reads first: what the app was given to say, or its own words. @param {any} widget @param {Model} model */
function createHeading(widget, model) {
  const words = element("p");
  const el = element("div", { class: "cv-heading" }, words);
  const show = () => {
    const given = widget.get("_introduction");
    if (given) words.textContent = given;
    else setRich(words, say(model.settings().transposed ? "heading.transposed" : "heading"));
  };
  widget.on("change:_introduction", show);
  model.on("settings", show);
  show();
  const close = () => {
    widget.off("change:_introduction", show);
    model.off("settings", show);
  };
  return { el, close };
}

/** One view. @param {any} widget @param {HTMLElement} el @param {Model} model @param {DrawPane} drawPane */
function drawView(widget, el, model, drawPane) {
  const root = element("div", { class: "cv-app cv-page cv-full cv-look" });
  const heading = createHeading(widget, model);
  const share = createShare(model);
  const tabs = createTabs(model, drawPane);
  root.append(heading.el);
  el.append(root);
  const close = drawApp(root, model, Object.keys(SETTINGS.controls), share, [tabs.bar, tabs.slot]);
  return () => {
    for (const part of [heading, share, tabs]) part.close();
    close();
    root.remove();
  };
}

/** What anywidget calls once for each widget. */
function createApp() {
  /** @type {Model} */
  let model;
  /** @type {DrawPane} */
  let drawPane;
  return {
    /** @param {{ model: any }} context nothing is waited for here: after two seconds anywidget would give up for good */
    initialize({ model: widget }) {
      const { colorscales } = widget.get("_facts");
      model = createPageModel({ state: widget.get("_start"), colorscales, plotly: null, ground: {} }, null);
      model.connect(createKernel(widget), true);
      const [notice, failed] = widget.get("_notice");
      model.say(notice, failed);
      drawPane = createPanes(model, colorscales);
      return () => model.kernel()?.close();
    },
    /** @param {{ model: any, el: HTMLElement }} context */
    render: ({ model: widget, el }) => drawView(widget, el, model, drawPane),
  };
}

export default createApp;
