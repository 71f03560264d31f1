// @ts-check
// The curves of a race in its tab: drawn one after the other, and only where they have changed.
import WORDS from "../../../facts/words/race.json" with { type: "json" };
import { element, setText } from "../base/dom.js";
import { drawCurves, purgeCurves } from "../base/race_curves.js";
import { sentences } from "../base/words.js";

const say = sentences(WORDS);
const AT_LATEST_MS = 500;

/** @import { Plot } from "../base/race_curves.js" */

/** When the page has nothing better to do: a slider comes first. @param {() => void} then */
function whenIdle(then) {
  if ("requestIdleCallback" in window) requestIdleCallback(then, { timeout: AT_LATEST_MS });
  else setTimeout(then, 0); // Safari
}

/** What is said of a plot; a race that was recorded has it in English. @param {string} key */
const wordsOf = (key) => ({
  title: say(/** @type {"plot.loss.title"} */ (`plot.${key}.title`)),
  unit: say(/** @type {"plot.loss.unit"} */ (`plot.${key}.unit`)),
  x: say("plot.x"),
});

/**
 * Make the plots, drawn one after the other.
 * @param {import("./pane.js").PaneContext} context @param {import("./pane.js").PaneTools} pane
 */
export function createPlots({ model }, pane) {
  const place = element("div", { class: "cv-race-plots" });
  const el = element("section", {}, element("h4", {}, say("curves")), place);
  const failed = element("p", { class: "cv-muted" });
  const { ready, cancel } = model.loadPlotly();
  /** @type {Map<string, HTMLElement>} */
  const places = new Map();
  /** @type {Map<string, string>} */
  const drawn = new Map();
  /** @type {Plot[]} */
  let waiting = [];
  /** @type {import("../board/plotly.js").Plotly | null} */
  let Plotly = null;
  let drawing = false;
  let closed = false;

  /** @param {string} key */
  function placeOf(key) {
    const found = places.get(key) ?? element("figure", { "data-plot": key });
    if (!places.has(key)) place.append(found);
    places.set(key, found);
    return found;
  }

  function drawNext() {
    const plot = waiting.shift();
    drawing = Boolean(plot) && !closed;
    if (!plot || closed) return;
    const at = placeOf(plot.key);
    const style = getComputedStyle(pane.root);
    const colors = {
      ink: style.getPropertyValue("--cv-ink").trim(),
      line: style.getPropertyValue("--cv-line").trim(),
    };
    const now = JSON.stringify([plot, colors]);
    if (drawn.get(plot.key) === now) return drawNext(); // accuracy, all through an epoch
    drawn.set(plot.key, now);
    drawCurves(Plotly, at, plot, colors).then(() => {
      at.dataset.last = String(Math.max(...plot.traces.flatMap(({ x }) => x)));
      whenIdle(drawNext);
    });
  }

  function drawAll() {
    if (Plotly && !drawing) drawNext();
  }

  ready.then(
    (loaded) => {
      Plotly = loaded;
      drawAll();
    },
    (error) => closed || setText(failed, error.message),
  );
  pane.onClose(() => {
    closed = true;
    cancel();
    for (const at of places.values()) purgeCurves(Plotly, at);
  });
  el.append(failed);
  return {
    el,
    /** @param {Plot[]} plots */
    set(plots) {
      el.hidden = !plots.length;
      waiting = plots.map((plot) => ({ ...plot, ...wordsOf(plot.key) }));
      for (const [key, at] of places) at.hidden = !plots.some((plot) => plot.key === key);
      drawAll();
    },
  };
}
