// @ts-check
// How the error of a finite difference depends on the step: one line a dtype, both axes in powers of ten.
import { element, svgElement } from "../../base/dom.js";

const [WIDTH, HEIGHT] = [420, 210];
const [LEFT, RIGHT, TOP, BOTTOM] = [40, 60, 12, 34];

/**
 * @typedef {{ name: string, values: number[], expected: number[] }} CurveLine `expected`: what rounding alone
 *   explains
 */

export class ErrorCurve {
  #svg = svgElement("svg", { class: "cv-curve", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img" });
  el = element("div", { class: "cv-curve-box" }, this.#svg);
  #count = 1;

  /** @param {(index: number) => void} onChoose called with the number of the step that was clicked */
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
    const drawn = lines
      .flatMap((line) => [...line.values, ...line.expected])
      .filter((value) => value > 0 && Number.isFinite(value));
    const [low, high] = [
      Math.floor(Math.log10(Math.min(...drawn, 1))),
      Math.ceil(Math.log10(Math.max(...drawn, 1e-12))),
    ];
    const x = (index) => LEFT + (index / Math.max(1, this.#count - 1)) * (WIDTH - LEFT - RIGHT);
    const y = (value) => {
      // zero has no logarithm
      const power = value > 0 ? Math.min(high, Math.max(low, Math.log10(value))) : low;
      return TOP + ((high - power) / Math.max(1, high - low)) * (HEIGHT - TOP - BOTTOM);
    };
    const path = (values) =>
      values
        .map((value, index) => `${index ? "L" : "M"}${x(index).toFixed(1)} ${y(value).toFixed(1)}`)
        .join("");
    const powers = [...Array(high - low + 1).keys()]
      .map((step) => low + step)
      .filter((power) => (power - high) % Math.ceil((high - low) / 5) === 0);
    const last = this.#count - 1;
    this.#svg.setAttribute("aria-label", label);
    this.#svg.replaceChildren(
      ...powers.map((power) =>
        svgElement("line", {
          class: "cv-curve-grid",
          x1: LEFT,
          x2: x(last),
          y1: y(10 ** power),
          y2: y(10 ** power),
        }),
      ),
      ...powers.map((power) => tenTo(power, { x: LEFT - 6, y: y(10 ** power) + 4, "text-anchor": "end" })),
      ...eps.map((step, index) =>
        tenTo(Math.log10(step), { x: x(index), y: HEIGHT - BOTTOM + 18, "text-anchor": "middle" }),
      ),
      textAt("eps", { x: x(last) + 22, y: HEIGHT - BOTTOM + 18 }),
      svgElement("line", {
        class: "cv-curve-chosen",
        x1: x(chosen),
        x2: x(chosen),
        y1: TOP,
        y2: HEIGHT - BOTTOM,
      }),
      ...lines.flatMap(({ name, values, expected }) => [
        svgElement("path", { class: "cv-curve-expected", d: path(expected) }),
        svgElement("path", { class: `cv-curve-line cv-curve-${name}`, d: path(values), "data-line": name }),
        ...values.map((value, index) =>
          svgElement("circle", {
            class: `cv-curve-dot cv-curve-${name}`,
            cx: x(index),
            cy: y(value),
            r: index === chosen ? 4.5 : 2.5,
          }),
        ),
        textAt(name, { x: x(last) + 8, y: y(values[last]) + 4, class: `cv-curve-name cv-curve-${name}` }),
      ]),
    );
  }
}

/** @param {string} text @param {Record<string, string | number>} attributes */
function textAt(text, attributes) {
  return svgElement("text", attributes, text);
}

/**
 * A power of ten, written with a raised exponent. @param {number} power
 * @param {Record<string, string | number>} attributes
 */
function tenTo(power, attributes) {
  const exponent = svgElement(
    "tspan",
    { "baseline-shift": "super", "font-size": "8" },
    String(Math.round(power)).replace("-", "\u2212"),
  );
  return svgElement("text", attributes, "10", exponent);
}
