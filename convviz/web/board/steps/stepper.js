// Stepping through an equation: the window or stamp moves, the result fills in; all in the page.
import { focusOf, makeButton } from "../../base/dom.js";
import { Readings } from "../../picture/both_readings.js";
import { stampLinks } from "../../picture/stamp_and_window_pairs.js";
import { windowWalk } from "../../picture/window_positions.js";
import { LONGEST_MS } from "../../base/motion.js";
import {
  stepFlights,
  planesOfGroup,
  productLinks,
  productWords,
  stampWords,
  sumOfStamps,
} from "./step_animation.js";
import { StepControls } from "./step_controls.js";
import { veilPanels } from "./step_veils.js";
import { bringInSight } from "../../base/in_sight.js";
import { say } from "../../base/board_sentences.js";
import { pointAt } from "../../rules/shapes_and_indices.js";

const BETWEEN = 12; // pixels from the bar to the words below its band
const WHERE = /** @type {const} */ ({ cell: "step.cell", stamp: "step.stamp" });

/**
 * @import { Values } from "../band/band.js"
 * @import { Walk } from "../../picture/window_positions.js"
 * @typedef {{ panels: Map<string, Panel>, refresh: () => void, film: import("../panel/panel_animations.js").Animations }}
 *   OfBand
 */

export class Stepper {
  button = makeButton({ class: "cv-step", "aria-expanded": "false" }, say("step"), () =>
    this.#transport.isOpen() ? this.close(true) : this.#open(),
  );
  bar;
  #board;
  #name;
  #equation;
  #transport;
  #view = "";
  #geometry = /** @type {Geometry} */ (/** @type {unknown} */ (null));
  #known = ""; // the steps are made for it
  /** @type {Values | null} */
  #numbers = null;
  #walk = /** @type {Walk} */ (/** @type {unknown} */ (null)); // from the first opening on
  /** @type {Readings | null} */
  #products = null; // the steps of both readings
  #position = -1; // -1 before the first step
  /** @type {Record<string, Float64Array>} */
  #partial = {}; // stand in for the final numbers

  /** @param {Shared} board @param {string} name @param {OfBand} equation */
  constructor(board, name, equation) {
    [this.#board, this.#name, this.#equation] = [board, name, equation];
    this.#transport = new StepControls(say("step"), {
      onMove: (next, byHand) => this.#moveTo(next, byHand),
      onClose: () => this.close(true),
    });
    this.bar = this.#transport.el;
  }

  #panelOf = (/** @type {string} */ name) =>
    [...this.#equation.panels.values()].find((panel) => panel.spec().name === name);

  #count() {
    return this.#products?.count ?? this.#walk.size[0] * this.#walk.size[1];
  }

  #both = () => this.#products?.at(this.#position) ?? null;

  #at() {
    return this.#both()?.from ?? pointAt(this.#position, this.#walk.size[1]);
  }

  #step() {
    const [panelOf, both, { row, column }] = [this.#panelOf, this.#both(), this.#at()];
    return { geometry: this.#geometry, walk: this.#walk, panelOf, row, column, both };
  }

  /** Returns null where only one reading is shown, or where nothing lands. */
  #productsNow() {
    if (this.#view !== "both" || !this.#numbers) return null;
    const planes = planesOfGroup(this.#geometry, this.#numbers, this.#panelOf);
    const found = new Readings(this.#geometry, this.#walk.result, planes?.gradients ?? []);
    return found.count ? found : null;
  }

  /** The stamps' sums cannot be shown. */
  #isLacking() {
    return this.#position < this.#count() - 1 && !Object.keys(this.#partial).length;
  }

  #open() {
    this.#board.stepping?.close(true);
    this.#board.model.select(null); // its marks would be read as the step's
    this.#board.stepping = this;
    this.#walk = windowWalk(this.#geometry, this.#name, this.#view);
    this.#products = this.#productsNow();
    this.#position = -1;
    this.button.setAttribute("aria-expanded", "true");
    this.#transport.open(this.#count());
    const board = this.bar.closest(".cv-board");
    board?.setAttribute("data-stepping", "");
    const words = /** @type {HTMLElement | null | undefined} */ (board?.querySelector(".cv-sum"));
    // once its band has grown by the bar
    const bring = () => bringInSight(this.bar, { after: (words?.offsetHeight ?? 0) + BETWEEN });
    requestAnimationFrame(() => requestAnimationFrame(bring));
  }

  /** @param {boolean} [draw] false: laid out anew after */
  close(draw = false) {
    if (!this.#transport.isOpen()) return;
    const focused = this.bar.contains(focusOf(this.bar));
    this.#equation.film.finish();
    this.#transport.close();
    this.#board.stepping = null;
    this.bar.closest(".cv-board")?.removeAttribute("data-stepping");
    this.button.setAttribute("aria-expanded", "false");
    if (focused) this.button.focus({ preventScroll: true });
    for (const { veil } of this.#equation.panels.values()) {
      veil.cover(null);
      veil.frame(null, null);
    }
    const stoodIn = Object.keys(this.#partial).length > 0;
    this.#partial = {};
    this.#board.highlight.step(null, draw);
    this.#board.read(() => "", false); // its text is over
    if (draw && stoodIn) this.#equation.refresh();
  }

  /** @param {number} next @param {boolean} byHand */
  #moveTo(next, byHand) {
    const { film } = this.#equation;
    const follows = next === this.#position + 1;
    const begins = next === 0 && (this.#position < 0 || !byHand);
    film.finish();
    this.#position = next;
    this.#addUp();
    this.#veil();
    if (this.#walk.unit === "stamp") this.#equation.refresh();
    this.#light();
    this.sayAgain();
    this.#board.read(() => say("step.read", this.#readout()), byHand && !this.#transport.speaks());
    if (!(begins && film.making()) && (follows || begins))
      this.#animate(byHand ? LONGEST_MS : Math.min(LONGEST_MS, this.#transport.beat() * 0.8));
  }

  /** @param {boolean} [now] false: all is redrawn anyway */
  #light(now = true) {
    const { over, result, unit } = this.#walk;
    const { row, column } = this.#at();
    const [stamps, products, both] = [unit === "stamp", this.#products, this.#both()];
    const links = () => (both ? productLinks(both) : stampLinks(this.#geometry, result, [row, column]));
    const words = () =>
      both && products
        ? productWords({ ...this.#step(), both }, products, this.#isLacking())
        : stampWords(this.#step(), this.#isLacking());
    const cell = { panel: over, row, column };
    this.#board.highlight.step(
      { cell, result, links: stamps ? links : null, text: stamps ? words : null },
      now,
    );
  }

  #readout() {
    const { panel, row, column } = this.#both()?.to ?? { panel: this.#walk.over, ...this.#at() };
    const what = this.#panelOf(panel).grid.describe(row, column);
    const id = this.#products ? "step.product" : WHERE[this.#walk.unit];
    return { step: say(id, { at: this.#position + 1, of: this.#count() }), what };
  }

  /** Says the step again, with new numbers. */
  sayAgain() {
    this.#transport.say(this.#readout().step, say("step.told", this.#readout()));
  }

  /** Products fly to their sum. @param {number} ms */
  #animate(ms) {
    const { film } = this.#equation;
    if (!film.may(ms)) return;
    film.fly(stepFlights(this.#step()), ms);
    if (this.#walk.unit !== "stamp") film.fill(this.#walk.result, { ...this.#at(), rows: 1, columns: 1 }, ms);
  }

  /** The last step shows torch's. */
  #addUp() {
    this.#partial = {};
    if (this.#walk.unit !== "stamp" || !this.#isLacking() || !this.#numbers) return;
    const so_far = this.#products?.upTo(this.#position) ?? { stamps: this.#position + 1, cells: 0 };
    const sums = sumOfStamps(this.#geometry, this.#numbers, so_far, this.#panelOf);
    if (sums) this.#partial = { [this.#walk.result]: sums.plane, grad_input: sums.folded };
  }

  #veil() {
    const [name, view] = [this.#name, this.#view];
    veilPanels(
      this.#equation.panels.values(),
      this.#step(),
      { name, view },
      this.#position,
      this.#isLacking(),
    );
  }

  /** Opens; before the first, closes. @param {number} by */
  step(by) {
    if (this.#name === "bias") return;
    if (this.#transport.isOpen() && this.#position + by < 0) this.close(true);
    else if (this.#transport.isOpen()) this.#transport.step(by);
    else if (by > 0) this.#open();
  }

  play() {
    if (this.#name === "bias") return;
    if (!this.#transport.isOpen()) this.#open();
    this.#transport.play();
  }

  /** @param {BandSpec} spec @param {Geometry} geometry */
  setSpec(spec, geometry) {
    this.#view = spec.view;
    this.#geometry = geometry;
    this.bar.setAttribute("aria-label", say("step.bar", { equation: spec.title }));
    const { plane, ...shape } = geometry;
    const now = JSON.stringify([this.#view, shape]);
    if (now !== this.#known) this.close(); // another geometry has other steps
    this.#known = now;
  }

  /** @param {Values} next */
  setNumbers(next) {
    this.#numbers = next;
    if (!this.#transport.isOpen()) return;
    if (this.#products) this.#products = this.#productsNow(); // other stamps may be zero now
    if (this.#products) {
      this.#position = this.#transport.resize(this.#products.count);
      this.#veil();
      this.#light(false);
    }
    this.#addUp();
  }

  /** @param {string} name */
  valuesOf(name) {
    return this.#partial[name];
  }

  destroy() {
    this.#transport.close();
  }
}
