// @ts-check
// What Learn shows: the kernel goes down its own gradient, a step at a time, and every number of the step can be read.
// The board shows the rest: it follows the weights as it follows a slider.
import SETTINGS from "../../../facts/settings.json" with { type: "json" };
import WORDS from "../../../facts/words/learn.json" with { type: "json" };
import { createHeatmap } from "../board/heatmap.js";
import { explain } from "../base/help.js";
import { element, setText, svgElement } from "../base/dom.js";
import { formatNumber } from "../base/format.js";
import { sentences } from "../base/words.js";
import { RATES, learned, lowestAlong, safeRate, steepness } from "../numbers/learn.js";
import { shownWeightPlane } from "../rules/change.js";
import { replaced } from "../rules/settings.js";
import { createDescent } from "./descent.js";

const say = sentences(WORDS);
const BEAT_MS = 450;
const SIDE = 54; // pixels of a heatmap

/**
 * Make the panel.
 * @param {import("../numbers/model.js").Model} model
 * @returns {{ el: HTMLElement, draw: () => void, close: () => void }}
 */
export function createLearnPanel(model) {
  const descent = createDescent();
  const rate = /** @type {HTMLInputElement} */ (
    element("input", { type: "range", min: "0", max: String(RATES.length - 1), step: "1" })
  );
  const words = element("span", {}, say("lr"));
  explain(words, "help.lr");
  const number = element("span", { class: "cv-number", "aria-hidden": "true" });
  const [step, play, back] = [
    button("step", takeStep),
    button("play", () => (timer ? pause() : start())),
    button("back", goBack),
  ];
  const pane = {
    uid: "learn",
    scale: () =>
      model.get("structure").colorscales[el.closest("[data-theme]")?.getAttribute("data-theme") ?? "light"],
  };
  const maps = ["weight", "grad", "next"].map(() =>
    createHeatmap(/** @type {any} */ (pane), { onPoint: tell, onLeave: () => tell(), numbersUpTo: 3 }),
  );
  const signs = ["\u2212 \u03b7 \u00b7", "="].map((sign) =>
    element("span", { class: "cv-learn-sign", "aria-hidden": "true" }, sign),
  );
  const sum = element("p", { class: "cv-learn-sum" });
  const path = svgElement("polyline", { class: "cv-learn-path" });
  const now = svgElement("circle", { class: "cv-learn-now", r: 3 });
  const logs = svgElement("text", { x: 236, y: 13 });
  const curve = svgElement(
    "svg",
    { class: "cv-learn-curve", viewBox: "0 0 240 56", preserveAspectRatio: "xMinYMid", role: "img" },
    logs,
    path,
    now,
  );
  const [losses, verdict] = [
    element("p", { class: "cv-learn-loss" }),
    element("p", { class: "cv-learn-verdict", role: "status" }),
  ];
  const el = element(
    "div",
    {},
    element("p", {}, say("rule")),
    element("div", { class: "cv-control cv-set-lr" }, element("label", {}, words, rate), number),
    element("div", { class: "cv-learn-maps" }, maps[0].el, signs[0], maps[1].el, signs[1], maps[2].el),
    sum,
    element("div", { class: "cv-tools" }, step, play, back),
    losses,
    /** @type {any} */ (curve),
    verdict,
  );
  let timer = 0;
  /** @type {{ stages: object | null, lowest: number | null, safe: number }} */
  let known = { stages: null, lowest: null, safe: 0 };

  /** @param {keyof typeof WORDS & string} name @param {() => void} act */
  function button(name, act) {
    const made = /** @type {HTMLButtonElement} */ (element("button", { type: "button" }, say(name)));
    made.addEventListener("click", act);
    return made;
  }

  /** @param {number} lr */
  const setRate = (lr) => model.change((settings) => [replaced(settings, { lr }), []]);

  /** One step, with the numbers that are on the board. */
  function takeStep() {
    const shown = model.shown();
    if (!shown || !model.settled()) return; // they are of weights that are gone
    const { lr } = model.settings();
    descent.leave({ lr, lowest: ratesOf(shown).lowest });
    model.change((settings) => learned(settings, shown.numbers.stages, lr), "learn");
    if (!model.get("failed")) return;
    descent.leave(null);
    pause();
  }

  function goBack() {
    pause();
    const before = descent.before();
    if (before) model.change((settings) => [replaced(settings, before), []]);
  }

  function start() {
    takeStep();
    timer = window.setInterval(takeStep, BEAT_MS);
    setText(play, say("pause"));
  }

  function pause() {
    window.clearInterval(timer);
    timer = 0;
    setText(play, say("play"));
  }

  /** The weight, its gradient and the next weight of a cell of the plane that is shown; of the steepest one by itself. @param {number} [row] @param {number} [column] */
  function tell(row, column) {
    const shown = model.shown();
    if (!shown) return;
    const { lr, spec } = model.settings();
    const [weight, grad] = planesOf(shown);
    const steepest = grad.reduce(
      (best, value, at) => (Math.abs(value) > Math.abs(grad[best]) ? at : best),
      0,
    );
    const columns = spec.kernel_size[1];
    const at = row === undefined || column === undefined ? steepest : row * columns + column;
    const size = {
      value: formatNumber(weight[at]),
      lr,
      grad: formatNumber(Math.abs(grad[at])),
      next: formatNumber(weight[at] - lr * grad[at]),
    };
    setText(
      sum,
      say(grad[at] < 0 ? "sum.plus" : "sum", {
        name: "w",
        row: Math.floor(at / columns),
        column: at % columns,
        ...size,
      }),
    );
  }

  /** What is shown of the weight and of its gradient. @param {NonNullable<ReturnType<typeof model.shown>>} shown */
  function planesOf({ settings, numbers: { stages } }) {
    const [height, width] = settings.spec.kernel_size;
    const first = shownWeightPlane(settings) * height * width;
    return [stages.weight, stages.grad_weight].map(({ data }) =>
      data.subarray(first, first + height * width),
    );
  }

  function draw() {
    const shown = model.shown();
    const { lr } = model.settings();
    if (!shown) return;
    const at = RATES.indexOf(lr);
    rate.value = String(at);
    rate.setAttribute("aria-valuetext", String(lr));
    setText(number, String(lr));
    const [weight, grad] = planesOf(shown);
    const planes = [weight, grad, weight.map((value, index) => value - lr * grad[index])];
    const {
      kernel_size: [height, width],
    } = shown.settings.spec;
    const limit = Math.max(...[...planes[0], ...planes[2]].map(Math.abs)) || 1; // one scale for the two that are compared
    ["weight", "grad_weight", say("next")].forEach((label, index) => {
      const values = Array.from({ length: height }, (_, row) => [
        ...planes[index].subarray(row * width, (row + 1) * width),
      ]);
      maps[index].set({
        values,
        label,
        shape: "",
        cell: Math.floor(SIDE / Math.max(height, width)),
        limit: index === 1 ? undefined : limit,
      });
      maps[index].grid.print(maps[index].grid.longest() < 4); // the others are read below
      maps[index].el.dataset.quantity = "weight"; // the next one, too
    });
    tell();
    descent.arrive(shown);
    drawCurve(shown);
  }

  /** @param {NonNullable<ReturnType<typeof model.shown>>} shown */
  function drawCurve(shown) {
    const taken = descent.losses();
    const [first, last] = [taken[0], taken[taken.length - 1]].map(formatNumber);
    setText(
      losses,
      taken.length > 1 ? say("fell", { first, last, count: taken.length - 1 }) : say("start", { loss: last }),
    );
    curve.setAttribute("aria-label", say("curve", { losses: taken.slice(-10).map(formatNumber).join(", ") }));
    const wide = Math.min(...taken) > 0 && Math.max(...taken) > 20 * Math.min(...taken);
    logs.textContent = wide ? say("logs") : "";
    const points = placed(wide ? taken.map(Math.log) : taken);
    path.setAttribute("points", points.map((point) => point.join()).join(" "));
    const [x, y] = points[points.length - 1];
    now.setAttribute("cx", String(x));
    now.setAttribute("cy", String(y));
    back.setAttribute("aria-disabled", String(!descent.before()));
    const sentence = judged(shown);
    setText(verdict, sentence.text);
    verdict.dataset.rose = String(sentence.rose);
    if (timer && sentence.ends) pause();
  }

  /** What there is to say about the last step, or about the next. @param {NonNullable<ReturnType<typeof model.shown>>} shown */
  function judged(shown) {
    const {
      settings,
      numbers: { stages },
    } = shown;
    const taken = descent.losses();
    const [before, after] = taken.slice(-2);
    const last = descent.last();
    if (last && after > before) {
      const values = { before: formatNumber(before), after: formatNumber(after), lr: last.lr };
      const text =
        last.lowest === null ? say("rose.other", values) : say("rose", { ...values, ...valley(last.lowest) });
      return { text, rose: true, ends: false };
    }
    if (!SETTINGS.losses_with_a_lowest_point.includes(settings.loss))
      return { text: say("endless"), rose: false, ends: false };
    if (steepness(stages) < 1e-20) return { text: say("flat"), rose: false, ends: true };
    const { lowest, safe } = ratesOf(shown);
    if (safe < RATES[0])
      return { text: say("steep", { lr: RATES[0], safe: formatNumber(safe) }), rose: false, ends: false };
    return { text: lowest === null ? "" : say("hint", valley(lowest)), rose: false, ends: false };
  }

  /** Computed once for numbers that are drawn when they come and when settings are told, and left by a step. @param {NonNullable<ReturnType<typeof model.shown>>} shown */
  function ratesOf({ settings, numbers: { stages } }) {
    if (known.stages !== stages)
      known = { stages, lowest: lowestAlong(settings, stages), safe: safeRate(settings) };
    return known;
  }

  const valley = (lowest) => ({ lowest: formatNumber(lowest), twice: formatNumber(2 * lowest) });

  rate.addEventListener("input", () => setRate(RATES[Number(rate.value)]));
  return { el, draw, close: pause };
}

/** The places of a curve's heights in 240 by 56. @param {number[]} heights @returns {[number, number][]} */
function placed(heights) {
  const [low, high] = [Math.min(...heights), Math.max(...heights)];
  return heights.map((height, index) => [
    4 + (232 * index) / Math.max(heights.length - 1, 10),
    high > low ? 52 - (48 * (height - low)) / (high - low) : 28,
  ]);
}
