// The tab Check: every gradient of the shown plane against finite differences, in float32 beside float64.
import { element, setText } from "../../web/base/dom.js";
import { colorOf, cssColor, formatNumber, fullNumber } from "../../web/base/format.js";
import { Heatmap } from "../../web/board/grid/tab_heatmap.js";
import { split, tab } from "../../web/tabs/pane.js";
import { code, tableHead, tableRow, button } from "../../web/tabs/pane_elements.js";
import WORDS from "./words.json" with { type: "json" };
import { pieces, sentences } from "../../web/base/sentences.js";
import { ErrorCurve } from "./error_curve.js";
import { upTo } from "../../web/rules/shapes_and_indices.js";

const say = sentences(WORDS);
const sayPieces = pieces(WORDS);

const DTYPES = ["float64", "float32"]; // the second on demand
const DECADES = 12;
const CELL_SIDE = 52; // pixels, as in tab.css
const READ_COLUMNS = 5; // wider ones cannot stand side by side

/**
 * @typedef {{ analytic: number[][], difference: number[][][], largest: number[], passes: boolean, warning:
 *   string }} Slopes
 * @typedef {{ panel: string, label: string, size: Pair, slopes: Record<string, Slopes> }}
 *   Gradient
 * @typedef {{ eps: number[], gradcheck: { eps: number, atol: number, rtol: number }, bend: string, size:
 *   number, spacing: Record<string, number>, gradients: Gradient[] }} CheckData by data.py
 * @typedef {(gradient: Gradient | null, dtype: string, row: number, column: number) => void} Read
 */

class CheckPane {
  #pane;
  #body;
  #data = /** @type {CheckData} */ (/** @type {unknown} */ (null));
  #chosen = -1; // index of the chosen eps; -1 before the first numbers
  #dtypes = DTYPES.slice(0, 1);
  /** @type {Row[]} */
  #rows = [];
  #slider;
  #eps;
  #verdicts = element("table.cv-verdicts");
  #why = element("p");
  #list = element("div.cv-check-rows");
  #readout = element("p.cv-readout", say("hint"));
  #key = element("div.cv-logscale", { role: "img" });
  #curve = new ErrorCurve((index) => this.#choose(index));
  #shape = element("p");
  #both = button(
    say("both"),
    () => {
      this.#dtypes = this.#dtypes.length > 1 ? DTYPES.slice(0, 1) : DTYPES;
      this.#draw();
    },
    { class: "cv-check-both" },
  );

  /** @param {PaneTools} pane @param {HTMLElement} body */
  constructor(pane, body) {
    [this.#pane, this.#body] = [pane, body];
    this.#slider = element("input", { type: "range", min: "0", step: "1", id: `${pane.uid}-eps` });
    this.#eps = element("output", { for: this.#slider.id });
    const words = [
      element("h3", say("title")),
      element("p", say("about")),
      element("div.cv-flow", this.#both),
      element("h4", say("verdicts")),
      this.#verdicts,
      this.#why,
    ];
    const label = element("span", ...sayPieces("step", { eps: this.#eps }));
    const picture = [
      element("label.cv-eps", { for: this.#slider.id }, label, this.#slider),
      this.#list,
      this.#key,
      this.#readout,
      element("h4", say("curve")),
      this.#curve.el,
      this.#shape,
    ];
    body.append(split(words, picture));
    this.#slider.addEventListener("input", () => this.#choose(Number(this.#slider.value)));
    pane.onPoint(({ cell }) => {
      for (const row of this.#rows) row.light(cell);
    });
    body.hidden = true; // the geometry may take too long
  }

  /** @param {number} index */
  #choose(index) {
    this.#chosen = index;
    this.#draw();
  }

  /** @type {Read} */
  #read = (gradient, dtype, row, column) => {
    if (!gradient) return setText(this.#readout, say("hint"));
    const { analytic, difference } = gradient.slopes[dtype];
    const [exact, apart] = [analytic[row][column] ?? NaN, difference[this.#chosen][row][column] ?? NaN];
    const [right, numeric] = [exact, exact - apart].map((value) =>
      fullNumber(Number(value.toPrecision(7)), "float64"),
    );
    const cell = `${gradient.label}[${row},${column}]`;
    const values = { cell, dtype, analytic: right, numeric, apart: formatNumber(Math.abs(apart)) };
    setText(this.#readout, say("read", values));
    this.#pane.point({ cell: { panel: gradient.panel, row, column } });
  };

  #draw() {
    const [data, dtypes, chosen] = [this.#data, this.#dtypes, this.#chosen];
    this.#both.setAttribute("aria-pressed", String(dtypes.length > 1));
    const [limit, step] = [topOf(data.gradients), data.eps[chosen]];
    Object.assign(this.#slider, { max: data.eps.length - 1, value: chosen });
    const eps = formatNumber(step);
    this.#slider.setAttribute("aria-valuetext", eps);
    setText(this.#eps, say(step === data.gradcheck.eps ? "eps_gradcheck" : "eps", { eps }));
    while (this.#rows.length < data.gradients.length) this.#rows.push(new Row(this.#pane, this.#read));
    this.#rows.length = data.gradients.length;
    this.#list.replaceChildren(...this.#rows.map((row) => row.el));
    const colors = logScale(this.#pane.scale("other"), DECADES);
    this.#rows.forEach((row, index) => row.set(data.gradients[index], dtypes, chosen, limit, colors));
    drawKey(this.#key, limit, this.#pane.scale("other"));
    this.#curve.set(curveOf(data, dtypes, chosen));
    setText(this.#shape, shapeOf(data, dtypes));
    this.#verdicts.replaceChildren(...verdictRows(data, dtypes));
    setText(this.#why, reason(data, dtypes));
  }

  /** @param {CheckData} next */
  set = (next) => {
    this.#data = next;
    this.#body.hidden = false;
    if (this.#chosen < 0) this.#chosen = next.eps.indexOf(next.gradcheck.eps);
    this.#draw();
    setText(this.#readout, say("hint"));
  };
}

class Row {
  /** @type {Gradient | null} */
  #gradient = null;
  #heading = element("h4");
  #part = element("p.cv-muted");
  #maps;
  el;

  /** @param {PaneTools} pane @param {Read} read */
  constructor(pane, read) {
    this.#maps = DTYPES.map(
      (dtype) =>
        new Heatmap(pane, {
          onPoint: (row, column) => read(this.#gradient, dtype, row, column),
          onLeave: () => {
            read(null, dtype, 0, 0);
            pane.point();
          },
        }),
    );
    const pair = element("div.cv-pair", ...this.#maps.map((map) => map.el));
    this.el = element("section.cv-check-row", this.#heading, this.#part, pair);
  }

  /**
   * @param {Gradient} next @param {string[]} dtypes @param {number} step @param {number} limit @param {Scale}
   * colors
   */
  set(next, dtypes, step, limit, colors) {
    this.#gradient = next;
    const [height, width] = next.size;
    const { analytic } = next.slopes.float32;
    const [rows, columns] = [analytic.length, analytic[0].length];
    setText(this.#heading, next.label);
    this.el.dataset.gradient = next.panel;
    this.el.classList.toggle("cv-check-wide", columns > READ_COLUMNS);
    this.#part.hidden = rows === height && columns === width;
    setText(this.#part, this.#part.hidden ? "" : say("part", { rows, columns, height, width }));
    this.#maps.forEach((map, index) => {
      map.el.hidden = !dtypes.includes(DTYPES[index]);
      const { difference, largest } = next.slopes[DTYPES[index]];
      map.set({
        values: difference[step].map((line) => line.map((value) => (value === null ? NaN : Math.abs(value)))),
        label: DTYPES[index],
        shape: say("largest", { error: formatNumber(largest[step] ?? NaN) }),
        limit,
        cell: CELL_SIDE,
        colors,
      });
      map.el.style.setProperty("--cv-columns", String(columns));
      map.el.style.setProperty("--cv-rows", String(rows));
    });
  }

  /** @param {Place | null} cell */
  light(cell) {
    for (const map of this.#maps) map.light(cell && cell.panel === this.#gradient?.panel ? [cell] : []);
  }
}

/** A power of ten, the same for all steps. @param {Gradient[]} gradients */
function topOf(gradients) {
  const all = gradients.flatMap(({ slopes }) => DTYPES.flatMap((dtype) => slopes[dtype].largest));
  return 10 ** Math.ceil(Math.log10(Math.max(...all.filter((value) => value !== null), 1e-12)));
}

/** Logarithmic: its stops are powers of ten. @param {Scale} scale @param {number} decades @returns {Scale} */
function logScale(scale, decades) {
  const hex = (/** @type {number} */ share) =>
    `#${colorOf(scale, share, 1)
      .map((part) => Math.round(part).toString(16).padStart(2, "0"))
      .join("")}`;
  const shares = upTo(2 * decades + 1).map((step) => step / (2 * decades));
  /** @type {Scale} */
  const stops = shares.map((share) => [(1 + 10 ** (decades * (share - 1))) / 2, hex(share)]);
  return [[0, hex(0)], ...stops];
}

/** @param {HTMLElement} key @param {number} top @param {Scale} scale */
function drawKey(key, top, scale) {
  const stops = [0, 0.25, 0.5, 0.75, 1].map((share) => cssColor(colorOf(scale, share, 1)));
  const [low, high] = [top * 10 ** -DECADES, top].map(formatNumber);
  const ramp = element("i", { style: `background: linear-gradient(to right, ${stops.join()})` });
  key.replaceChildren(element("span", `\u2264 ${low}`), ramp, element("span", high));
  key.setAttribute("aria-label", say("colours", { low, high }));
}

/**
 * Of all gradients, a line a dtype.
 * @param {CheckData} data @param {string[]} dtypes @param {number} chosen
 */
function curveOf({ eps, gradients, spacing }, dtypes, chosen) {
  const lines = dtypes.map((name) => ({
    name,
    values: eps.map((_, step) =>
      Math.max(...gradients.map(({ slopes }) => slopes[name].largest[step] ?? Infinity)),
    ),
    expected: eps.map((each) => spacing[name] / (2 * each)),
  }));
  const errors = lines.map(({ name, values }) => `${name} ${formatNumber(values[chosen])}`).join(", ");
  return { eps, lines, chosen, label: say("curve_read", { eps: formatNumber(eps[chosen]), errors }) };
}

/** @param {CheckData} data @param {string[]} dtypes */
function verdictRows({ eps, gradcheck, gradients }, dtypes) {
  const step = eps.indexOf(gradcheck.eps);
  const rows = gradients.map(({ label, slopes }) => {
    const row = tableRow([
      code(label),
      ...dtypes.map((name) => {
        const error = formatNumber(slopes[name].largest[step] ?? NaN);
        return say(slopes[name].passes ? "passes" : "fails", { error });
      }),
    ]);
    row.querySelectorAll("td").forEach((cell, index) => {
      cell.dataset.passes = String(slopes[dtypes[index]].passes);
    });
    return row;
  });
  return [tableHead([say("gradient"), ...dtypes]), element("tbody", ...rows)];
}

/** @param {CheckData} data @param {string[]} dtypes */
function reason({ gradcheck, gradients, size, spacing }, dtypes) {
  const [eps, atol, rtol] = [gradcheck.eps, gradcheck.atol, gradcheck.rtol].map(formatNumber);
  const allowed = say("allowed", { eps, atol, rtol });
  if (!dtypes.includes("float32")) return allowed;
  const passes = gradients.every(({ slopes }) => slopes.float32.passes);
  const stepOf = (/** @type {string} */ dtype) => formatNumber(spacing[dtype] / (2 * gradcheck.eps));
  const grain = { size: formatNumber(size), apart: formatNumber(spacing.float32), step: stepOf("float32") };
  return [
    allowed,
    say("grain", grain),
    say(passes ? "fine" : "coarse"),
    say("doubles", { step: stepOf("float64") }),
  ].join(" ");
}

/** No float32 difference shows an error at the largest step. @param {Gradient} gradient */
const isStill = ({ slopes: { float32 } }) =>
  float32.analytic.every((line, row) =>
    line.every((value, column) => {
      const apart = float32.difference[0][row][column];
      return value === apart || Math.abs(value - apart) <= 1e-3 * Math.abs(value);
    }),
  );

/** @param {CheckData} data @param {string[]} dtypes */
function shapeOf({ bend, gradients }, dtypes) {
  const remarks = [say(/** @type {"loss.linear"} */ (`loss.${bend}`)), say("dotted")];
  if (dtypes.includes("float32") && gradients.every(isStill)) remarks.push(say("still"));
  return remarks.join(" ");
}

export default tab("check", (pane, body) => new CheckPane(pane, body).set);
