// How the error of a finite difference depends on the step: one line a dtype, both axes in powers of ten.
import { element, svgElement } from "../../web/base/dom.js";
import { upTo } from "../../web/rules/shapes_and_indices.js";

const [WIDTH, HEIGHT] = [420, 210];
const [LEFT, RIGHT, TOP, BOTTOM] = [40, 60, 12, 34];

/**
 * @typedef {{ name: string, values: number[], expected: number[] }} CurveLine expected: from rounding alone
 */

export class ErrorCurve {
  #svg = svgElement("svg.cv-curve", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img" });
  el = element("div.cv-curve-box", this.#svg);
  #count = 1;

  /** @param {(index: number) => void} onChoose */
  constructor(onChoose) {
    this.#svg.addEventListener("click", (event) => {
      const box = this.#svg.getBoundingClientRect();
      const at = (((event.clientX - box.left) / box.width) * WIDTH - LEFT) / (WIDTH - LEFT - RIGHT);
      onChoose(Math.min(this.#count - 1, Math.max(0, Math.round(at * (this.#count - 1)))));
    });
  }

  /** @param {{ eps: number[], lines: CurveLine[], chosen: number, label: string }} data */
  set({ eps, lines, chosen, label }) {
    this.#count = eps.length;
    const last = this.#count - 1;
    const drawn = lines.flatMap((line) => [...line.values, ...line.expected]);
    const shown = drawn.filter((value) => value > 0 && Number.isFinite(value));
    const low = Math.floor(Math.log10(Math.min(...shown, 1)));
    const high = Math.ceil(Math.log10(Math.max(...shown, 1e-12)));
    const x = (/** @type {number} */ index) => LEFT + (index / Math.max(1, last)) * (WIDTH - LEFT - RIGHT);
    const y = (/** @type {number} */ value) => {
      // zero has no logarithm
      const power = value > 0 ? Math.min(high, Math.max(low, Math.log10(value))) : low;
      return TOP + ((high - power) / Math.max(1, high - low)) * (HEIGHT - TOP - BOTTOM);
    };
    const powers = upTo(high - low + 1)
      .map((step) => low + step)
      .filter((power) => (power - high) % Math.ceil((high - low) / 5) === 0);
    const under = HEIGHT - BOTTOM + 18;
    this.#svg.setAttribute("aria-label", label);
    this.#svg.replaceChildren(
      ...powers.map((power) => lineAt("grid", [LEFT, x(last)], [y(10 ** power), y(10 ** power)])),
      ...powers.map((power) => tenTo(power, { x: LEFT - 6, y: y(10 ** power) + 4, "text-anchor": "end" })),
      ...eps.map((step, at) => tenTo(Math.log10(step), { x: x(at), y: under, "text-anchor": "middle" })),
      svgElement("text", { x: x(last) + 22, y: under }, "eps"),
      lineAt("chosen", [x(chosen), x(chosen)], [TOP, HEIGHT - BOTTOM]),
      ...lines.flatMap((line) => drawLine(line, x, y, chosen)),
    );
  }
}

/** @param {string} kind @param {Pair} x @param {Pair} y */
const lineAt = (kind, [x1, x2], [y1, y2]) => svgElement(`line.cv-curve-${kind}`, { x1, x2, y1, y2 });

/**
 * @param {CurveLine} line @param {(index: number) => number} x @param {(value: number) => number} y
 * @param {number} chosen
 */
function drawLine({ name, values, expected }, x, y, chosen) {
  const path = (/** @type {number[]} */ heights) =>
    heights.map((value, at) => `${at ? "L" : "M"}${x(at).toFixed(1)} ${y(value).toFixed(1)}`).join("");
  const own = `cv-curve-${name}`;
  const last = values.length - 1;
  return [
    svgElement("path.cv-curve-expected", { d: path(expected) }),
    svgElement(`path.cv-curve-line.${own}`, { d: path(values), "data-line": name }),
    ...values.map((value, at) =>
      svgElement(`circle.cv-curve-dot.${own}`, { cx: x(at), cy: y(value), r: at === chosen ? 4.5 : 2.5 }),
    ),
    svgElement(`text.cv-curve-name.${own}`, { x: x(last) + 8, y: y(values[last]) + 4 }, name),
  ];
}

/** @param {number} power @param {Record<string, string | number>} attributes */
function tenTo(power, attributes) {
  const exponent = svgElement(
    "tspan",
    { "baseline-shift": "super", "font-size": "8" },
    String(Math.round(power)).replace("-", "\u2212"),
  );
  return svgElement("text", attributes, "10", exponent);
}
