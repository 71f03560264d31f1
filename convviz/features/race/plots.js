// The curves of a race in its tab: drawn one after the other, and only where they have changed.
import { element, setText } from "../../web/base/dom.js";
import { drawCurves, purgeCurves } from "../../web/base/race_curves.js";
import { say, sayOfRace } from "./sentences.js";

const AT_LATEST_MS = 500;

/** @import { Plot } from "../../web/base/race_curves.js" */

/** Waits until the browser is idle: a slider comes first. @param {() => void} then */
function whenIdle(then) {
  if ("requestIdleCallback" in window) requestIdleCallback(then, { timeout: AT_LATEST_MS });
  else setTimeout(then, 0); // Safari has no requestIdleCallback
}

/** A recorded race has it in English. @param {string} key */
const wordsOf = (key) => ({
  title: sayOfRace(/** @type {"plot.loss.title"} */ (`plot.${key}.title`)),
  unit: sayOfRace(/** @type {"plot.loss.unit"} */ (`plot.${key}.unit`)),
  x: sayOfRace("plot.x"),
});

export class RacePlots {
  #drawNext = () => {
    const plot = this.#waiting.shift();
    this.#drawing = Boolean(plot) && !this.#closed;
    if (!plot || this.#closed) return;
    const at = this.#placeOf(plot.key);
    const style = getComputedStyle(this.#pane.root);
    const colors = {
      ink: style.getPropertyValue("--cv-ink").trim(),
      line: style.getPropertyValue("--cv-line").trim(),
    };
    const now = JSON.stringify([plot, colors]);
    if (this.#drawn.get(plot.key) === now) return this.#drawNext(); // accuracy, all through an epoch
    this.#drawn.set(plot.key, now);
    drawCurves(this.#Plotly, at, plot, colors).then(() => {
      at.dataset.last = String(Math.max(...plot.traces.flatMap(({ x }) => x)));
      whenIdle(this.#drawNext);
    });
  };
  #place = element("div.cv-race-plots");
  el = element("section", element("h4", say("curves")), this.#place);
  /** @type {Map<string, HTMLElement>} */
  #places = new Map();
  /** @type {Map<string, string>} */
  #drawn = new Map();
  /** @type {Plot[]} */
  #waiting = [];
  /** @type {Plotly | null} */
  #Plotly = null;
  #drawing = false;
  #closed = false;
  #pane;

  /** @param {PaneTools} pane */
  constructor(pane) {
    this.#pane = pane;
    const failed = element("p.cv-muted");
    const { ready, cancel } = pane.loadPlotly();
    ready.then(
      (loaded) => {
        this.#Plotly = loaded;
        if (!loaded) setText(failed, sayOfRace("plot.left_out"));
        this.#drawAll();
      },
      (error) => this.#closed || setText(failed, error.message),
    );
    pane.onClose(() => {
      this.#closed = true;
      cancel();
      for (const at of this.#places.values()) purgeCurves(this.#Plotly, at);
    });
    this.el.append(failed);
  }

  /** @param {string} key */
  #placeOf(key) {
    const found = this.#places.get(key) ?? element("figure", { "data-plot": key });
    if (!this.#places.has(key)) this.#place.append(found);
    this.#places.set(key, found);
    return found;
  }

  #drawAll() {
    if (this.#Plotly && !this.#drawing) this.#drawNext();
  }

  /** @param {Plot[]} plots */
  set(plots) {
    this.el.hidden = !plots.length;
    this.#waiting = plots.map((plot) => ({ ...plot, ...wordsOf(plot.key) }));
    for (const [key, at] of this.#places) at.hidden = !plots.some((plot) => plot.key === key);
    this.#drawAll();
  }
}
