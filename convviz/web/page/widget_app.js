// The app as a widget: its model lives here, for all its views; the kernel is where torch computes.
import { element } from "../base/dom.js";
import { followKernel } from "../base/lost_kernel.js";
import { createLessons } from "../lesson/available_lessons.js";
import { Player } from "../lesson/player.js";
import { KernelClient } from "../numbers/ask_kernel.js";
import { createPageModel } from "../numbers/page_model.js";
import { OF_A_NOTEBOOK } from "../rules/features.js";
import { lessonFromKernel } from "./load_on_demand.js";
import { createWidgetLanguages, goOnFrom, whereItIs } from "./languages.js";
import { drawLive } from "./live_app_view.js";
import { createPanes } from "./tab_panes.js";

export function createApp() {
  /** @type {Model} */
  let model;
  /** @type {DrawPane} */
  let drawPane;
  /** @type {Player} */
  let player;
  return {
    /** For the one in another language. */
    kept: () => whereItIs(model, player),
    /** @param {{ model: any, kept?: ReturnType<typeof whereItIs> }} context */
    initialize({ model: widget, kept }) {
      const { colorscales } = widget.get("_facts");
      model = createPageModel({ state: widget.get("_start"), colorscales, plotly: null, ground: {} }, null);
      model.connect(new KernelClient(widget), true);
      drawPane = createPanes(model, colorscales);
      const { name: opened, bundle } = widget.get("_lesson");
      const shelf = createLessons(opened ? { [opened]: bundle } : {}, (name) =>
        lessonFromKernel(model, name),
      );
      player = new Player(model, shelf);
      if (kept) goOnFrom(kept, model, player);
      else if (opened) player.play(opened);
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
      const { id, languages, served } = widget.get("_facts");
      const menu = createWidgetLanguages(languages, (language) =>
        widget.send({ type: "language", language }),
      );
      const without = served ? OF_A_NOTEBOOK : [];
      const close = drawLive(root, model, player, { drawPane, menu, without });
      const show = hideStills(root, id);
      return () => {
        show();
        close();
        root.remove();
      };
    },
  };
}

/**
 * Still pictures above the app, for who opens a notebook without a kernel: in rows of Jupyter's.
 * @param {string} id @returns {HTMLElement[]}
 */
const stillsOf = (id) =>
  [.../** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll(`[data-convviz-still="${id}"]`))].map(
    (still) => /** @type {HTMLElement | null} */ (still.closest(".jp-OutputArea-child")) ?? still,
  );

/** @param {HTMLElement} view @param {string} id @returns {() => void} */
function hideStills(view, id) {
  view.dataset.app = id;
  for (const still of stillsOf(id)) still.style.display = "none";
  return () => {
    delete view.dataset.app;
    if (document.querySelector(`[data-app="${id}"]`)) return;
    for (const still of stillsOf(id)) still.style.display = "";
  };
}

export default createApp;
