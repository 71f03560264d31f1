// @ts-check
// The app as a widget: its model lives here, for all its views; the kernel is where torch computes.
import SETTINGS from "../../facts/settings.json" with { type: "json" };
import { element } from "../base/dom.js";
import { followKernel } from "../base/lost_kernel.js";
import { createShelf } from "../lesson/lessons.js";
import { Player } from "../lesson/player.js";
import { KernelClient } from "../numbers/from_kernel.js";
import { createPageModel } from "../numbers/model.js";
import { lessonFromKernel } from "./bring_lesson.js";
import { createWidgetLanguages, goOnFrom, whereItIs } from "./languages.js";
import { drawLive } from "./live.js";
import { createPanes } from "./panes.js";
import { hideStills } from "./still.js";

/**
 * @import { Model } from "../numbers/model.js"
 * @import { DrawPane } from "../tabs/tabbar.js"
 */

/** What anywidget calls once for each widget. */
export function createApp() {
  /** @type {Model} */
  let model;
  /** @type {DrawPane} */
  let drawPane;
  /** @type {Player} */
  let player;
  return {
    /** Where it is, for the one that follows in another language. */
    kept: () => whereItIs(model, player),
    /**
     * @param {{ model: any, kept?: ReturnType<typeof whereItIs> }} context kept: of the one that it follows.
     *   Nothing is waited for here: after two seconds anywidget would give up for good
     */
    initialize({ model: widget, kept }) {
      const { colorscales } = widget.get("_facts");
      model = createPageModel({ state: widget.get("_start"), colorscales, plotly: null, ground: {} }, null);
      model.connect(new KernelClient(widget), true);
      drawPane = createPanes(model, colorscales);
      const opened = widget.get("_lesson");
      player = new Player(
        model,
        createShelf(opened.name ? { [opened.name]: opened.told } : {}, (name) =>
          lessonFromKernel(model, name),
        ),
      );
      if (kept) goOnFrom(kept, model, player);
      else if (opened.name) player.play(opened.name);
      const stopFollowing = followKernel(widget, () => model.disconnect());
      return () => {
        stopFollowing();
        model.kernel()?.close();
      };
    },
    /** @param {{ model: any, el: HTMLElement }} context */
    render({ model: widget, el }) {
      const root = element("div");
      el.append(root);
      const choose = (/** @type {string} */ tag) => widget.send({ type: "language", language: tag });
      const menu = createWidgetLanguages(widget.get("_facts").languages, choose);
      const without = widget.get("_facts").served ? SETTINGS.tabs_of_a_notebook : [];
      const close = drawLive(root, model, drawPane, player, null, { menu, without });
      const show = hideStills(root, widget.get("_facts").id);
      return () => {
        show();
        close();
        root.remove();
      };
    },
  };
}

export default createApp;
