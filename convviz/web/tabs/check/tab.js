// @ts-check
// The tab Check: every gradient of the shown plane held against finite differences, in float32 beside
// float64.
import WORDS from "../../../facts/words/tabs.json" with { type: "json" };
import { element, setText } from "../../base/dom.js";
import { ErrorCurve } from "./error_curve.js";
import { colorOf, formatNumber, fullNumber } from "../../base/format.js";
import { Heatmap } from "../../board/heatmap.js";
import { openPane, split } from "../pane.js";
import { pieces, sentences } from "../../base/words.js";

const say = sentences(WORDS);
const sayPieces = pieces(WORDS);
const DTYPES = ["float64", "float32"]; // the other one comes beside it when it is asked for
const DECADES = 12; // from the strongest colour down to the faintest
const CELL_SIDE = 52; // pixels, as in tab.css
const READ_COLUMNS = 5; // a wider plane has no room for numbers such as 2.1e-9 beside another

/**
 * @typedef {{ analytic: number[][], difference: number[][][], largest: number[], passes: boolean, warning:
 *   string }} Slopes
 */

/**
 * @typedef {{ panel: string, label: string, size: [number, number], slopes: Record<string, Slopes> }}
 *   Gradient
 * @typedef {{ eps: number[], gradcheck: { eps: number, atol: number, rtol: number }, bend: string, size:
 *   number, spacing: Record<string, number>, gradients: Gradient[] }} CheckData as app/tabs/check.py sends it
 */

class CheckPane {
  #pane;
  #body;
  #data = /** @type {CheckData} */ (/** @type {unknown} */ (null));
  #chosen = -1; // which eps
  #dtypes = DTYPES.slice(0, 1); // those that are shown
  /** @type {Row[]} */
  #rows = [];
  #slider;
  #eps;
  #verdicts = element("table", { class: "cv-verdicts" });
  #why = element("p");
  #list = element("div", { class: "cv-check-rows" });
  #readout = element("p", { class: "cv-readout" }, say("check.hint"));
  #key = element("div", { class: "cv-logscale", role: "img" });
  #curve = new ErrorCurve((index) => this.#choose(index));
  #shape = element("p");
  #both = element("button", { type: "button", class: "cv-button cv-check-both" }, say("check.both"));

  /** @param {import("../pane.js").PaneTools} pane @param {HTMLElement} body */
  constructor(pane, body) {
    [this.#pane, this.#body] = [pane, body];
    this.#slider = element("input", { type: "range", min: "0", step: "1", id: `${pane.uid}-eps` });
    this.#eps = element("output", { for: this.#slider.id });
    const words = [
      element("h3", {}, say("check")),
      element("p", {}, say("check.about")),
      element("div", { class: "cv-flow" }, this.#both),
      element("h4", {}, say("check.verdicts")),
      this.#verdicts,
      this.#why,
    ];
    const picture = [
      element(
        "label",
        { class: "cv-eps", for: this.#slider.id },
        element("span", {}, ...sayPieces("check.step", { eps: this.#eps })),
        this.#slider,
      ),
      this.#list,
      this.#key,
      this.#readout,
      element("h4", {}, say("check.curve")),
      this.#curve.el,
      this.#shape,
    ];
    body.append(split(words, picture));
    this.#both.addEventListener("click", () => {
      this.#dtypes = this.#dtypes.length > 1 ? DTYPES.slice(0, 1) : DTYPES;
      this.#draw();
    });
    this.#slider.addEventListener("input", () => this.#choose(Number(this.#slider.value)));
    pane.onPoint(({ cell }) => {
      for (const row of this.#rows) row.light(cell);
    });
    body.hidden = true; // until there is something to see: this geometry may be one that takes too long
  }

  /** @param {number} index */
  #choose(index) {
    this.#chosen = index;
    this.#draw();
  }

  /** @param {Gradient | null} gradient @param {string} dtype @param {number} row @param {number} column */
  #read(gradient, dtype, row, column) {
    if (!gradient) return setText(this.#readout, say("check.hint"));
    const { analytic, difference } = gradient.slopes[dtype];
    const [exact, apart] = [analytic[row][column] ?? NaN, difference[this.#chosen][row][column] ?? NaN];
    const numbers = [exact, exact - apart].map((value) =>
      fullNumber(Number(value.toPrecision(7)), "float64"),
    );
    const cell = `${gradient.label}[${row},${column}]`;
    setText(
      this.#readout,
      say("check.read", {
        cell,
        dtype,
        analytic: numbers[0],
        numeric: numbers[1],
        apart: formatNumber(Math.abs(apart)),
      }),
    );
    this.#pane.point({ cell: { panel: gradient.panel, row, column } });
  }

  #draw() {
    this.#both.setAttribute("aria-pressed", String(this.#dtypes.length > 1));
    const limits = topOf(this.#data.gradients);
    this.#slider.max = String(this.#data.eps.length - 1);
    this.#slider.value = String(this.#chosen);
    this.#slider.setAttribute("aria-valuetext", formatNumber(this.#data.eps[this.#chosen]));
    setText(
      this.#eps,
      say(this.#data.eps[this.#chosen] === this.#data.gradcheck.eps ? "check.eps_gradcheck" : "check.eps", {
        eps: formatNumber(this.#data.eps[this.#chosen]),
      }),
    );
    while (this.#rows.length < this.#data.gradients.length)
      this.#rows.push(
        new Row(this.#pane, (gradient, dtype, row, column) => this.#read(gradient, dtype, row, column)),
      );
    this.#rows.length = this.#data.gradients.length;
    this.#list.replaceChildren(...this.#rows.map((row) => row.el));
    const colors = logScale(this.#pane.scale(), DECADES);
    this.#rows.forEach((row, index) =>
      row.set(this.#data.gradients[index], this.#dtypes, this.#chosen, limits, colors),
    );
    drawKey(this.#key, limits, this.#pane.scale());
    this.#curve.set(curveOf(this.#data, this.#dtypes, this.#chosen));
    setText(this.#shape, shapeOf(this.#data, this.#dtypes));
    this.#verdicts.replaceChildren(...verdictRows(this.#data, this.#dtypes));
    setText(this.#why, reason(this.#data, this.#dtypes));
  }

  set(next) {
    this.#data = next;
    this.#body.hidden = false;
    if (this.#chosen < 0) this.#chosen = this.#data.eps.indexOf(this.#data.gradcheck.eps);
    this.#draw();
    setText(this.#readout, say("check.hint"));
  }
}

/** @param {import("../pane.js").PaneContext} context */
function renderCheck(context) {
  return openPane(context, "check", (pane, body) => {
    const made = new CheckPane(pane, body);
    return (next) => made.set(next);
  });
}

/** One gradient: its errors in the dtypes that are shown, side by side. */
class Row {
  /** @type {Gradient | null} */
  #gradient = null;
  #heading = element("h4");
  #part = element("p", { class: "cv-muted" });
  #maps;
  el;
  #pane;
  #read;

  /**
   * @param {import("../pane.js").PaneTools} pane
   * @param {(gradient: Gradient | null, dtype: string, row: number, column: number) => void} read
   */
  constructor(pane, read) {
    [this.#pane, this.#read] = [pane, read];
    this.#maps = DTYPES.map(
      (dtype) =>
        new Heatmap(pane, {
          onPoint: (row, column) => this.#read(this.#gradient, dtype, row, column),
          onLeave: () => {
            this.#read(null, dtype, 0, 0);
            this.#pane.point();
          },
        }),
    );
    this.el = element(
      "section",
      { class: "cv-check-row" },
      this.#heading,
      this.#part,
      element("div", { class: "cv-pair" }, ...this.#maps.map((map) => map.el)),
    );
  }

  /**
   * @param {Gradient} next @param {string[]} dtypes @param {number} step @param {number} limit
   * @param {[number, string][]} colors
   */
  set(next, dtypes, step, limit, colors) {
    this.#gradient = next;
    const [height, width] = next.size;
    setText(this.#heading, next.label);
    this.el.dataset.gradient = next.panel;
    this.el.classList.toggle("cv-check-wide", next.slopes.float32.analytic[0].length > READ_COLUMNS);
    const [rows, columns] = [next.slopes.float32.analytic.length, next.slopes.float32.analytic[0].length];
    const whole = rows === height && columns === width;
    setText(this.#part, whole ? "" : say("check.part", { rows, columns, height, width }));
    this.#part.hidden = whole;
    this.#maps.forEach((map, index) => {
      map.el.hidden = !dtypes.includes(DTYPES[index]);
      const { difference, largest } = next.slopes[DTYPES[index]];
      map.set({
        values: difference[step].map((line) => line.map((value) => (value === null ? NaN : Math.abs(value)))),
        label: DTYPES[index],
        shape: say("check.largest", { error: formatNumber(largest[step] ?? NaN) }),
        limit,
        cell: CELL_SIDE,
        dtype: "float64",
        colors,
      });
      map.el.style.setProperty("--cv-columns", String(columns));
      map.el.style.setProperty("--cv-rows", String(rows));
    });
  }

  /** @param {import("../../base/wire.js").PanelCell | null} cell */
  light(cell) {
    for (const map of this.#maps) map.light(cell && cell.panel === this.#gradient?.panel ? [cell] : []);
  }
}

/** The power of ten at the top of the colour scale, the same for all steps. @param {Gradient[]} gradients */
function topOf(gradients) {
  const all = gradients
    .flatMap(({ slopes }) => DTYPES.flatMap((dtype) => slopes[dtype].largest))
    .filter((value) => value !== null);
  return 10 ** Math.ceil(Math.log10(Math.max(...all, 1e-12)));
}

/**
 * A colour scale that is logarithmic: its stops stand at the powers of ten, from zero to the largest number.
 * @param {[number, string][]} scale @param {number} decades
 * @returns {[number, string][]}
 */
function logScale(scale, decades) {
  const shares = [...Array(2 * decades + 1).keys()].map((step) => step / (2 * decades));
  const hex = (share) =>
    `#${colorOf(scale, share, 1)
      .map((part) => Math.round(part).toString(16).padStart(2, "0"))
      .join("")}`;
  return [
    [0, hex(0)],
    ...shares.map(
      (share) => /** @type {[number, string]} */ ([(1 + 10 ** (decades * (share - 1))) / 2, hex(share)]),
    ),
  ];
}

/** @param {HTMLElement} key @param {number} top @param {[number, string][]} scale */
function drawKey(key, top, scale) {
  const stops = [0, 0.25, 0.5, 0.75, 1].map(
    (share) => `rgb(${colorOf(scale, share, 1).map(Math.round).join()})`,
  );
  const ends = [top * 10 ** -DECADES, top].map(formatNumber);
  key.replaceChildren(
    element("span", {}, `\u2264 ${ends[0]}`),
    element("i", { style: `background: linear-gradient(to right, ${stops.join()})` }),
    element("span", {}, ends[1]),
  );
  key.setAttribute("aria-label", say("check.colours", { low: ends[0], high: ends[1] }));
}

/**
 * The largest error of all gradients, a line a dtype.
 * @param {CheckData} data @param {string[]} dtypes @param {number} chosen
 */
function curveOf(data, dtypes, chosen) {
  const lines = dtypes.map((name) => ({
    name,
    values: data.eps.map((_, step) =>
      Math.max(...data.gradients.map(({ slopes }) => slopes[name].largest[step] ?? Infinity)),
    ),
    expected: data.eps.map((eps) => data.spacing[name] / (2 * eps)),
  }));
  const errors = lines.map(({ name, values }) => `${name} ${formatNumber(values[chosen])}`).join(", ");
  return {
    eps: data.eps,
    lines,
    chosen,
    label: say("check.curve_read", { eps: formatNumber(data.eps[chosen]), errors }),
  };
}

/** @param {CheckData} data @param {string[]} dtypes */
function verdictRows(data, dtypes) {
  const head = element(
    "tr",
    {},
    element("th", { scope: "col" }, say("check.gradient")),
    ...dtypes.map((name) => element("th", { scope: "col" }, name)),
  );
  const step = data.eps.indexOf(data.gradcheck.eps);
  const cellOf = ({ passes, largest }) =>
    element(
      "td",
      { "data-passes": String(passes) },
      say(passes ? "check.passes" : "check.fails", { error: formatNumber(largest[step] ?? NaN) }),
    );
  const rows = data.gradients.map(({ label, slopes }) =>
    element(
      "tr",
      {},
      element("th", { scope: "row" }, element("code", {}, label)),
      ...dtypes.map((name) => cellOf(slopes[name])),
    ),
  );
  return [element("thead", {}, head), element("tbody", {}, ...rows)];
}

/**
 * What is allowed; and why float32 fails, or that it does not.
 * @param {CheckData} data @param {string[]} dtypes
 */
function reason({ gradcheck, gradients, size, spacing }, dtypes) {
  const { eps, atol, rtol } = gradcheck;
  const passes = gradients.every(({ slopes }) => slopes.float32.passes);
  const step = formatNumber(spacing.float32 / (2 * eps));
  const allowed = say("check.allowed", {
    eps: formatNumber(eps),
    atol: formatNumber(atol),
    rtol: formatNumber(rtol),
  });
  if (!dtypes.includes("float32")) return allowed;
  return [
    allowed,
    say("check.grain", { size: formatNumber(size), apart: formatNumber(spacing.float32), step }),
    say(passes ? "check.fine" : "check.coarse"),
    say("check.doubles", { step: formatNumber(spacing.float64 / (2 * eps)) }),
  ].join(" ");
}

/** Why the lines run as they do. @param {CheckData} data @param {string[]} dtypes */
function shapeOf({ bend, gradients }, dtypes) {
  const still =
    dtypes.includes("float32") &&
    gradients.every(({ slopes: { float32 } }) =>
      float32.analytic.every((line, row) =>
        line.every(
          (value, column) =>
            value === float32.difference[0][row][column] ||
            Math.abs(value - float32.difference[0][row][column]) <= 1e-3 * Math.abs(value),
        ),
      ),
    );
  const told = [say(/** @type {"check.linear"} */ (`check.${bend}`)), say("check.dotted")];
  return [...told, ...(still ? [say("check.still")] : [])].join(" ");
}

export default { render: renderCheck };
