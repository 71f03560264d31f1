// Learn's panel: the kernel steps down its gradient, every number readable; the board follows as with a
// slider.
import { Heatmap } from "../board/grid/tab_heatmap.js";
import { explain } from "../base/help.js";
import { element, makeButton, setText } from "../base/dom.js";
import { formatApart, formatNumber } from "../base/format.js";
import { sayDescent } from "./gradient_descent_sentences.js";
import { RATES, hasLowestPoint, gradientStep, slopeAt, withLowestPoint } from "../numbers/gradient_step.js";
import { planeOf, pointAt, rowsOf } from "../rules/shapes_and_indices.js";
import { shownAt } from "../rules/shown_plane.js";
import { Descent } from "./descent_history.js";
import { createLossCurve } from "./loss_curve.js";
import { verdictOn } from "./descent_verdict.js";

const BEAT_MS = 450;
const SIDE = 54;

/**
 * @import { Shown } from "../numbers/actions.js"
 * @import { Slope } from "../numbers/gradient_step.js"
 */

export class LearnPanel {
  #takeStep = () => {
    const shown = this.#model.shown();
    if (!shown || !this.#model.settled()) return; // the shown numbers are stale
    const { lr } = this.#model.settings();
    this.#descent.leave({ lr, lowest: this.#slopeOf(shown).lowest });
    this.#model.change((settings) => gradientStep(settings, shown.numbers.stages, lr), "learn");
    if (!this.#model.get("failed")) return;
    this.#descent.leave(null);
    this.close();
  };
  #model;
  #descent = new Descent();
  #rate = element("input", { type: "range", min: "0", max: String(RATES.length - 1), step: "1" });
  #number = element("span.cv-number", { "aria-hidden": "true" });
  #step = this.#button("step", this.#takeStep);
  #play = this.#button("play", () => (this.#timer ? this.close() : this.#start()));
  #back = this.#button("back", () => this.#goBack());
  #pane = {
    uid: "learn",
    scale: (/** @type {keyof Hues} */ quantity) =>
      this.#model.get("structure").colorscales[
        this.el.closest("[data-theme]")?.getAttribute("data-theme") ?? "light"
      ][quantity],
  };
  #maps = ["weight", "grad", "next"].map(
    () =>
      new Heatmap(this.#pane, {
        onPoint: (row, column) => this.#describe(row, column),
        onLeave: () => this.#describe(),
        numbersUpTo: 3,
      }),
  );
  #sum = element("p.cv-learn-sum");
  #curve = createLossCurve();
  #losses = element("p.cv-learn-loss");
  #verdict = element("p.cv-learn-verdict", { role: "status" });
  #choose = this.#button("choose", () => this.#model.change((settings) => [withLowestPoint(settings), []]));
  el;
  #timer = 0;
  /** @type {Slope & { stages: object | null }} */
  #known = { stages: null, lowest: null, safe: 0, rounding: 0, fall: 0 };

  /** @param {Model} model */
  constructor(model) {
    this.#model = model;
    const words = element("span", sayDescent("lr"));
    explain(words, "help.lr");
    const signs = ["\u2212 \u03b7 \u00b7", "="].map((sign) =>
      element("span.cv-learn-sign", { "aria-hidden": "true" }, sign),
    );
    this.el = element(
      "div",
      element("p", sayDescent("rule")),
      element("div.cv-control.cv-set-lr", element("label", words, this.#rate), this.#number),
      element("div.cv-learn-maps", this.#maps[0].el, signs[0], this.#maps[1].el, signs[1], this.#maps[2].el),
      this.#sum,
      element("div.cv-tools", this.#step, this.#play, this.#back),
      this.#losses,
      this.#curve.el,
      this.#verdict,
      element("div.cv-tools", this.#choose),
    );
    this.#rate.addEventListener("input", () => model.set({ lr: RATES[Number(this.#rate.value)] }));
  }

  /** @param {Parameters<typeof sayDescent>[0]} name @param {() => void} act */
  #button(name, act) {
    return makeButton({}, sayDescent(name), act);
  }

  #goBack() {
    this.close();
    const before = this.#descent.before();
    if (before) this.#model.set(before);
  }

  #start() {
    this.#takeStep();
    this.#timer = window.setInterval(this.#takeStep, BEAT_MS);
    setText(this.#play, sayDescent("pause"));
  }

  close() {
    window.clearInterval(this.#timer);
    this.#timer = 0;
    setText(this.#play, sayDescent("play"));
  }

  /** Of a cell, else of the steepest. @param {number} [row] @param {number} [column] */
  #describe(row, column) {
    const shown = this.#model.shown();
    if (!shown) return;
    const { lr, spec } = this.#model.settings();
    const [weight, grad] = planesOf(shown);
    const steepest = grad.reduce(
      (best, value, at) => (Math.abs(value) > Math.abs(grad[best]) ? at : best),
      0,
    );
    const columns = spec.kernel_size[1];
    const at = row === undefined || column === undefined ? steepest : row * columns + column;
    const cell = { name: "w", ...pointAt(at, columns) };
    const [value, slope, next] = [weight[at], Math.abs(grad[at]), weight[at] - lr * grad[at]];
    const [before, after] = formatApart(value, next);
    const numbers = { value: before, lr, grad: formatNumber(slope), next: after };
    setText(this.#sum, sayDescent(grad[at] < 0 ? "sum.plus" : "sum", { ...cell, ...numbers }));
  }

  draw() {
    const shown = this.#model.shown();
    const { lr } = this.#model.settings();
    if (!shown) return;
    const at = RATES.indexOf(lr);
    this.#rate.value = String(at);
    this.#rate.setAttribute("aria-valuetext", String(lr));
    setText(this.#number, String(lr));
    const [weight, grad] = planesOf(shown);
    const planes = [weight, grad, weight.map((value, index) => value - lr * grad[index])];
    this.#drawMaps(planes, shown.settings.spec.kernel_size);
    this.#describe();
    this.#descent.arrive(shown);
    this.#drawCurve(shown);
  }

  /** @param {Float64Array[]} planes @param {Pair} size */
  #drawMaps(planes, [height, width]) {
    const limit = Math.max(...[...planes[0], ...planes[2]].map(Math.abs)) || 1;
    const cell = Math.floor(SIDE / Math.max(height, width));
    ["weight", "grad_weight", sayDescent("next")].forEach((label, index) => {
      const map = this.#maps[index];
      const values = rowsOf(planes[index], width);
      map.set({ values, label, shape: "", cell, limit: index === 1 ? undefined : limit, dtype: "float32" });
      map.grid.print(map.grid.widest() < 2.4); // others are read below
      map.el.dataset.quantity = "weight";
    });
  }

  /** @param {Shown} shown */
  #drawCurve(shown) {
    const taken = this.#descent.losses();
    const [first, last] = formatApart(taken[0], taken[taken.length - 1]);
    const count = taken.length - 1;
    setText(
      this.#losses,
      count ? sayDescent("fell", { first, last, count }) : sayDescent("start", { loss: last }),
    );
    this.#curve.show(taken);
    this.#back.setAttribute("aria-disabled", String(!this.#descent.before()));
    const { text, rose, ends } = verdictOn(shown, this.#descent, () => this.#slopeOf(shown));
    setText(this.#verdict, text);
    this.#choose.hidden = hasLowestPoint(shown.settings);
    this.#verdict.dataset.rose = String(rose);
    if (this.#timer && ends) this.close();
  }

  /** @param {Shown} shown */
  #slopeOf({ settings, numbers: { stages } }) {
    if (this.#known.stages !== stages) this.#known = { stages, ...slopeAt(settings, stages) };
    return this.#known;
  }
}

/** @param {Shown} shown */
function planesOf({ settings, numbers: { stages } }) {
  const at = shownAt(settings.plane, settings.spec, "weight", settings.transposed);
  return [stages.weight, stages.grad_weight].map((tensor) => planeOf(tensor, at));
}
