// One bar an operation: how large the gradient is that came back to it. The image is left, the loss right.
import { element, setStyle, setText } from "../../web/base/dom.js";
import { formatNumber } from "../../web/base/format.js";
import { rove } from "../../web/base/roving_tabindex.js";
import { waysText } from "./arcs.js";
import { barsOf, sizeOf, stateOf } from "./bars_data.js";
import { nameOf, percentText, say, shapeText, shortName } from "./sentences.js";

const LETTER = 6.6; // pixels
const BETWEEN = 8;
const LEAST = "< 1.2e\u221238"; // of what formatNumber writes
const FEW = 16;

/** @typedef {import("./bars_data.js").Bar} Bar */

/** @param {NetworkSize} size */
export function sizeText(size) {
  const state = stateOf(size);
  if (state === "none") return say("size.none");
  const text = formatNumber(sizeOf(size));
  return text === "0" && state !== "zero" ? LEAST : text;
}

/** All that is known of a bar. @param {NetworkOperation} operation @param {Bar} bar */
export function barText(operation, bar) {
  const name = nameOf(operation);
  const { state, zeros, size } = bar;
  const isThere = state !== "none" && state !== "after";
  const parts = [
    name.includes(operation.kind) ? name : `${name}, ${operation.kind}`,
    shapeText(operation.shape),
    say("bar.value_zeros", { share: percentText(operation.zeros) }),
    isThere ? say("bar.size", { size: sizeText(size) }) : say(state === "after" ? "none.after" : "size.none"),
  ];
  if (zeros !== null && state !== "none") parts.push(say("bar.zeros", { share: percentText(zeros) }));
  if (operation.weight && state !== "after") parts.push(weightText(operation.weight, bar));
  return parts.join(" \u00b7 ");
}

/** @param {NonNullable<NetworkOperation["weight"]>} weight @param {Bar} bar */
function weightText({ norm, trained }, { ratio, gradWeight }) {
  if (stateOf(ratio) !== "none") return say("bar.ratio", { ratio: sizeText(ratio) });
  if (norm === 0 && gradWeight !== null) return say("bar.zero_weight", { size: sizeText(gradWeight) });
  return say(trained ? "bar.no_ratio" : "bar.frozen");
}

export class Bars {
  #row = element("div.cv-network-bar-row", { role: "toolbar", "aria-label": say("bars") });
  #axis = element("div.cv-network-axis", { "aria-hidden": "true" });
  #names = element("div.cv-network-bar-names", { "aria-hidden": "true" });
  #readout = element("p.cv-network-bar-said", say("bars.hint"));
  #begin;
  #events;
  el;
  /** @type {HTMLButtonElement[]} */
  #buttons = [];
  /** @type {NetworkOperation[]} */
  #operations = [];
  #marked = -1;

  /** @param {{ point: (operation: number | null) => void, open: (operation: number) => void }} events */
  constructor(events) {
    this.#events = events;
    const key = element(
      "p.cv-network-key",
      { "aria-hidden": "true" },
      element("span.cv-network-key-size", say("key.size")),
      element("span.cv-network-key-value-zeros", say("key.value_zeros")),
      element("span.cv-network-key-zeros", say("key.zeros")),
      element("span.cv-network-key-none", say("key.none")),
    );
    const plot = element("div.cv-network-plot", this.#axis, this.#row);
    this.el = element(
      "div.cv-network-bars",
      plot,
      this.#names,
      element("div.cv-network-bar-line", this.#readout, key),
    );
    this.#begin = rove(this.#row, () => (this.#buttons.length ? this.#buttons : [this.#row]));
    this.#row.removeAttribute("tabindex");
    this.#row.addEventListener("pointerover", (event) => this.#point(this.#indexOf(event)));
    this.#row.addEventListener("pointerleave", () => this.#point(null));
    this.#row.addEventListener("focusin", (event) => this.#point(this.#indexOf(event)));
    this.#row.addEventListener("focusout", () => this.#point(null));
    this.#row.addEventListener("click", (event) => {
      const index = this.#indexOf(event);
      if (index === null) return;
      this.#events.open(index);
      setText(this.#readout, this.#buttons[index].getAttribute("aria-label") ?? ""); // a finger has left it by now
    });
    new ResizeObserver(() => this.#drawNames()).observe(this.el);
  }

  /** @param {Event} event */
  #indexOf({ target }) {
    const bar = /** @type {Element} */ (target).closest("[data-bar]");
    return bar instanceof HTMLElement ? Number(bar.dataset.bar) : null;
  }

  /** @param {number | null} index */
  #point(index) {
    setText(
      this.#readout,
      index === null ? say("bars.hint") : (this.#buttons[index].getAttribute("aria-label") ?? ""),
    );
    this.#events.point(index);
  }

  /** @param {NetworkOperation[]} operations @param {NetworkBack} back @returns {Bar[]} */
  set(operations, back) {
    const { bars, axis } = barsOf(back, operations.length);
    if (operations !== this.#operations) this.#build(operations);
    bars.forEach((bar, index) => {
      const button = this.#buttons[index];
      button.dataset.state = bar.state;
      const ways = waysText(operations, index);
      button.setAttribute(
        "aria-label",
        [barText(operations[index], bar), ways].filter(Boolean).join(" \u00b7 "),
      );
      setStyle(button, "--share", String(bar.share));
      setStyle(button, "--zeros", String(bar.zeros ?? 0));
      setStyle(button, "--value-zeros", String(operations[index].zeros));
    });
    this.#axis.replaceChildren(
      ...axis.ticks.map((power) => {
        const at = (power - axis.low) / (axis.high - axis.low);
        const tick = element(
          "div.cv-network-tick",
          element("span", "10", element("sup", String(power).replace("-", "\u2212"))),
        );
        setStyle(tick, "--at", String(at));
        return tick;
      }),
    );
    return bars;
  }

  /** @param {NetworkOperation[]} operations */
  #build(operations) {
    this.#operations = operations;
    this.#buttons = operations.map((operation) => {
      const button = element(
        "button.cv-network-bar",
        { type: "button", "data-bar": String(operation.index) },
        element("i"),
      );
      button.classList.toggle("cv-weighted", Boolean(operation.weight));
      return button;
    });
    this.#row.replaceChildren(...this.#buttons);
    this.#begin();
    this.#drawNames();
  }

  /** As many as have room, those of layers with weights first. */
  #drawNames() {
    const count = this.#operations.length;
    const width = this.#row.clientWidth;
    if (!count || !width) return;
    const each = width / count;
    const named = this.#operations.filter(
      ({ kind, weight, index }) => count <= FEW || weight || kind === "input" || index === count - 1,
    );
    /** @type {Pair[]} */
    const taken = [];
    const weighted = named.filter(({ weight }) => weight);
    const shown = [...weighted, ...named.filter(({ weight }) => !weight)].flatMap((operation) => {
      const text = shortName(operation).join(" ").trim();
      const start = (operation.index + 0.5) * each - (text.length * LETTER) / 2;
      const end = start + text.length * LETTER + BETWEEN;
      if (start < 0 || end > width + 20 + BETWEEN || taken.some((span) => start < span[1] && end > span[0]))
        return [];
      taken.push([start, end]);
      const name = element("span", text);
      setStyle(name, "--at", String((operation.index + 0.5) / count));
      return [name];
    });
    this.#names.replaceChildren(...shown);
  }

  /** @param {number | null} operation whose cell is pointed at */
  mark(operation) {
    this.#buttons[this.#marked]?.classList.remove("cv-marked");
    this.#marked = operation ?? -1;
    this.#buttons[this.#marked]?.classList.add("cv-marked");
  }
}
