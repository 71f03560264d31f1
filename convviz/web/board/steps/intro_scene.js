// What the arrival shows: plates over two panels, sheets over the second reading, a stamp and a number that
// fly, and the tray that becomes rotated_weight.
import WORDS from "../../../facts/data/words/intro_animation.json" with { type: "json" };
import { element, setText } from "../../base/dom.js";
import { formatNumber } from "../../base/format.js";
import { sentences } from "../../base/sentences.js";
import { writeLike } from "../grid/digit_size.js";
import { boxIn, createFloat, createPlate, dressAs, groundOf } from "../grid/floating_cells.js";
import { wear } from "../panel/panel_animations.js";
import { eachCell } from "../../rules/shapes_and_indices.js";

const say = sentences(WORDS);
const NAMES = /** @type {const} */ ([
  "grad_output",
  "weight",
  "grad_input",
  "padded_grad_output",
  "rotated_weight",
]);
// Milliseconds: before the first stamp, of the first two, of the others, before the tray leaves, of its way,
// after it.
const [INTRO, SLOW, BEAT, REST, WAY, AFTER] = [400, 540, 440, 400, 750, 350];
const SLOWLY = 2;
const FLIGHT = 0.58; // the share of a beat in which a stamp flies
const [MARGIN, LABEL] = [4, 28]; // pixels; with the space around it
const FADE = [{ opacity: 1 }, { opacity: 0 }];

/**
 * @import { Arrival, At, Step } from "../../picture/intro_steps.js"
 * @import { Plate } from "../grid/floating_cells.js"
 * @import { Band } from "../layout/band_layout.js"
 * @typedef {{ scale: ScaleOf, limits: Record<string, number> }} Look
 * @typedef {{ left: number, top: number }} Point
 */

/** In the order of NAMES; null if one is missing. @param {Band} band @returns {Panel[] | null} */
export function panelsFor(band) {
  const all = [...band.panels.values()];
  const found = NAMES.map((name) => all.find((panel) => panel.spec().name === name));
  return found.every(Boolean) ? /** @type {Panel[]} */ (found) : null;
}

/** @param {Point} point */
const movedTo = ({ left, top }) => `translate(${left}px, ${top}px)`;

/** Resolves to true at the end, or to false if a motion was cancelled. @param {Animation[]} motions */
const done = (motions) =>
  Promise.all(motions.map(({ finished }) => finished)).then(
    () => true,
    () => false,
  );

/**
 * Over a whole panel, first with its own numbers.
 * @param {Panel} panel @param {Look} look @returns {Plate}
 */
function coverOf(panel, { scale, limits }) {
  const [rows, columns] = [panel.spec().rows.length, panel.spec().columns.length];
  const plate = createPlate({ rows, columns }, scale(panel.spec().quantity), limits[panel.spec().key]);
  plate.set(eachCell(rows, columns, (row, column) => panel.grid.value(row, column)));
  writeLike(plate.el, panel.grid);
  panel.grid.svg.append(plate.el);
  return plate;
}

/** @param {Panel} panel @param {Band} band */
function sheetOver(panel, { el, stage }) {
  const box = boxIn(/** @type {Element} */ (panel.el.parentElement), stage);
  const sheet = element("div.cv-second");
  Object.assign(sheet.style, {
    left: `${box.left - MARGIN}px`,
    top: `${box.top - MARGIN}px`,
    width: `${box.width + 2 * MARGIN}px`,
    height: `${box.height + 2 * MARGIN}px`,
    background: groundOf(el),
  });
  return sheet;
}

export class Scene {
  #band;
  #panels;
  #arrival;
  #measured;
  #places;
  #plates;
  #nodes;
  /** What the tray becomes, filled from grad_input. @type {Scale} */
  #kernelScale;
  /** @type {(number | null)[]} */
  #received;
  /** @type {Animation[]} */
  #motions = [];

  /** @param {Band} band @param {Panel[]} panels @param {Arrival} arrival @param {Look} look */
  constructor(band, panels, arrival, look) {
    [this.#band, this.#panels, this.#arrival] = [band, panels, arrival];
    this.#measured = this.#measure();
    this.#places = this.#measurePlaces();
    const [from, kernel, to, window_, rotated] = panels;
    const limit = look.limits[rotated.spec().key];
    const [plain, received] = [rotated, to].map((panel) => look.scale(panel.spec().quantity));
    const [stampPlate, tray] = [plain, received].map((scale) => createPlate(arrival, scale, limit));
    this.#kernelScale = plain;
    this.#plates = { sent: coverOf(from, look), landed: coverOf(to, look), tray };
    this.#plates.landed.ring(arrival.pixel);
    this.#received = arrival.weight.map(() => null);
    stampPlate.set(arrival.weight);
    tray.set(this.#received);
    this.#nodes = {
      sheets: [window_, rotated].map((panel) => sheetOver(panel, band)),
      tray: createFloat(kernel, tray, arrival, to.el),
      stamp: createFloat(kernel, stampPlate, arrival, kernel.el),
      number: element("span"),
      label: element("p.cv-float-label", say("tray", arrival.pixel)),
      whole: element("div.cv-flights.cv-arrival", { "aria-hidden": "true" }),
    };
    this.#lay();
  }

  #lay() {
    const { whole, sheets, tray, stamp, number, label } = this.#nodes;
    tray.append(label);
    stamp.classList.add("cv-stamp");
    tray.style.transform = movedTo(this.#places.tray);
    whole.style.fontSize = `${Math.max(11, this.#places.cell.height * 0.4)}px`;
    whole.append(...sheets, tray, stamp, number);
    this.#band.stage.append(whole);
  }

  #measure() {
    const boxes = this.#panels.map(({ area }) => Object.values(boxIn(area, this.#band.stage)));
    return JSON.stringify(boxes.map((sides) => sides.map(Math.round)));
  }

  #measurePlaces() {
    const [, kernel, to, window_, rotated] = this.#panels.map(({ area }) => boxIn(area, this.#band.stage));
    const { rows, columns } = this.#arrival;
    const below = to.top + to.height + LABEL;
    const isBelow = window_.top > below; // on a low phone sliders cover its middle
    const tray = {
      left: window_.left + (window_.width - kernel.width) / 2,
      top: isBelow ? below : window_.top + (window_.height - kernel.height) / 2,
    };
    return {
      kernel,
      to,
      tray,
      rotated,
      cell: { width: kernel.width / columns, height: kernel.height / rows },
    };
  }

  /**
   * A cell of what starts at a point; `by` 0.5: its middle.
   * @param {Point} start @param {At} cell @returns {Point}
   */
  #cellFrom({ left, top }, { row, column }, by = 0) {
    const { width, height } = this.#places.cell;
    return { left: left + (column + by) * width, top: top + (row + by) * height };
  }

  /** @param {Element} node @param {Keyframe[]} frames @param {number} duration */
  #move(node, frames, duration, delay = 0) {
    const motion = node.animate(frames, { duration, delay, fill: "both", easing: "ease-in-out" });
    this.#motions.push(motion);
    return motion;
  }

  #still() {
    for (const motion of this.#motions.splice(0)) motion.cancel();
  }

  stands = () => this.#measure() === this.#measured;

  /** @returns {Promise<boolean>} */
  async play() {
    if (!(await done([this.#move(this.#nodes.whole, [...FADE].reverse(), INTRO)]))) return false;
    for (const [index, step] of this.#arrival.steps.entries())
      if (!(await this.#land(step, index)) || !(await this.#fall(step, index))) return false;
    return this.#become();
  }

  /** @param {Step} step @param {number} index */
  async #land({ corner, sent, landed }, index) {
    const { kernel, to } = this.#places;
    this.#plates.sent.set(sent);
    this.#plates.landed.set(landed.map(() => 0));
    const flight = [
      { transform: movedTo(kernel), opacity: 0.5 },
      { opacity: 1, offset: 0.3 },
      { transform: movedTo(this.#cellFrom(to, corner)), opacity: 1 },
    ];
    if (!(await done([this.#move(this.#nodes.stamp, flight, beatOf(index) * FLIGHT)]))) return false;
    this.#plates.landed.set(landed);
    this.#still();
    return true;
  }

  /** @param {Step} step @param {number} index */
  async #fall({ at, received }, index) {
    const { to, tray } = this.#places;
    setText(this.#nodes.number, formatNumber(received));
    wear(this.#nodes.number, this.#panels[NAMES.indexOf("grad_input")].grid.dye(received));
    const ends = [this.#cellFrom(to, this.#arrival.pixel, 0.5), this.#cellFrom(tray, at, 0.5)];
    const fall = ends.map((end) => ({ transform: `${movedTo(end)} translate(-50%, -50%)`, opacity: 1 }));
    if (!(await done([this.#move(this.#nodes.number, fall, beatOf(index) * (1 - FLIGHT))]))) return false;
    this.#received[index] = received;
    this.#plates.tray.set(this.#received);
    this.#still();
    return true;
  }

  #become() {
    const { tray: node, label, sheets } = this.#nodes;
    const { kernel, tray, rotated } = this.#places;
    const size = `scale(${rotated.width / kernel.width}, ${rotated.height / kernel.height})`;
    const way = [{ transform: movedTo(tray) }, { transform: `${movedTo(rotated)} ${size}` }];
    const late = REST + WAY * 0.7;
    const fading = [...sheets, this.#plates.sent.el, this.#plates.landed.el];
    this.#plates.tray.set(this.#received, this.#kernelScale);
    dressAs(node, this.#panels[NAMES.indexOf("rotated_weight")].el);
    return done([
      this.#move(node, way, WAY, REST),
      this.#move(label, FADE, WAY / 3, REST),
      ...fading.map((each) => this.#move(each, FADE, REST + WAY + AFTER - late, late)),
    ]);
  }

  remove() {
    this.#still();
    for (const each of [this.#nodes.whole, this.#plates.sent.el, this.#plates.landed.el]) each.remove();
  }
}

/** @param {number} index */
const beatOf = (index) => (index < SLOWLY ? SLOW : BEAT);
