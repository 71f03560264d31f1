// The switch of readings: window, stamps or both.
import { element, makeButton } from "../../base/dom.js";
import { explain } from "../../base/help.js";
import { say } from "../../base/board_sentences.js";

const VIEWS = { both: say("view.both"), stamps: say("view.stamps"), window: say("view.window") };

/** @param {(view: string) => void} onChoose */
export function createViewSwitch(onChoose) {
  const el = element("div.cv-seg.cv-views", { role: "group", "aria-label": say("view"), hidden: "" });
  for (const [view, words] of Object.entries(VIEWS)) {
    const button = makeButton({ "data-view": view }, words, () => onChoose(view));
    el.append(button);
  }
  return {
    el,
    /** @param {string} view @param {boolean} transposed */
    set(view, transposed) {
      el.hidden = !view;
      for (const button of /** @type {Iterable<HTMLElement>} */ (el.children)) {
        explain(button, `help.view_${button.dataset.view}`, transposed);
        button.setAttribute("aria-pressed", String(button.dataset.view === view));
      }
    },
  };
}
