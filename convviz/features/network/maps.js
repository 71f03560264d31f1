// Two rows of maps: forward above, backward below, at the same cells. A column an operation.
import { element, setAttribute, setStyle } from "../../web/base/dom.js";
import { isAfter } from "./bars_data.js";
import { Column } from "./column.js";
import { areScores, columnsOf, firstOf, fitted, scoresIndex } from "./layout.js";
import { pressedInMaps } from "./map_keys.js";
import { dimsOf } from "./relations.js";
import { say } from "./sentences.js";

/**
 * @import { Colours, Pointed } from "./column.js"
 * @import { Field } from "./fields.js"
 * @typedef {{ point: (pointed: Pointed | null) => void, pin: (pointed: Pointed) => void, open: () => void, back: ()
 *   => boolean, sendBack: () => void, all: (operation: number) => void }} MapEvents
 */

const AROUND = 104; // pixels above, between and below the two rows; as in tab.css
const ROW = [60, 340];
const GAP = 14; // pixels beside a column that is brought in sight
const SIDES = 24;
const NARROW = 600;

export class Maps {
  #inner = element("div.cv-network-columns");
  #forward = element("p.cv-network-row-name", say("row.forward"));
  #backward = element("p.cv-network-row-name");
  el;
  /** @type {Map<number, Column>} */
  #columns = new Map();
  events;
  /** @type {NetworkSource | null} */
  #source = null;
  /** @type {NetworkBack | null} */
  #back = null;
  /** @type {Colours | null} */
  #colours = null;
  choice = {
    all: false,
    more: /** @type {Set<number>} */ (new Set()),
    whole: /** @type {Set<number>} */ (new Set()),
  };
  #size = "";
  /** @type {Column[]} */
  #marked = [];
  /** One column at a time. */
  narrow = false;
  /** To be brought in sight once there is room; −1: the scores, if one column is seen at a time. @type {number | null} */
  #begin = null;

  /** @param {MapEvents} events */
  constructor(events) {
    this.events = events;
    const names = [this.#forward, this.#backward].map((name) => element("div.cv-network-row", name));
    this.el = element(
      "div.cv-network-maps",
      { role: "group", "aria-label": say("maps") },
      element("div.cv-network-sheet", ...names, this.#inner),
    );
    this.#inner.addEventListener(
      "pointermove",
      (event) => event.pointerType !== "touch" && this.events.point(this.#at(event)),
    );
    this.#inner.addEventListener(
      "pointerleave",
      (event) => event.pointerType !== "touch" && this.events.point(null),
    );
    this.#inner.addEventListener("click", (event) => {
      const pointed = this.#at(event);
      if (pointed) this.events.pin(pointed);
    });
    this.#inner.addEventListener("dblclick", (event) => this.#at(event) && this.events.open());
    this.#inner.addEventListener("keydown", (event) => {
      if (!pressedInMaps(this, event)) return;
      event.preventDefault();
      event.stopPropagation(); // or a notebook takes the arrow keys
    });
    this.#inner.addEventListener("focusin", ({ target }) => this.#reach(/** @type {Element} */ (target)));
    new ResizeObserver(() => this.#refit()).observe(this.el);
  }

  /** @param {number} operation */
  column = (operation) => this.#columns.get(operation);

  /** @param {MouseEvent} event */
  #at(event) {
    const el = /** @type {HTMLElement} */ (event.target).closest(".cv-network-column");
    return el instanceof HTMLElement
      ? (this.#columns.get(Number(el.dataset.operation))?.hit(event) ?? null)
      : null;
  }

  /** @param {Element} target */
  #reach(target) {
    for (const { el } of this.#columns.values()) setAttribute(el, "tabindex", el === target ? "0" : "-1");
  }

  /** @type {Pointed | null} */
  cursor = null;

  columns = () => [...this.#columns.values()];

  /** Its bar is pointed at. @param {number | null} operation */
  light(operation) {
    for (const { el, operation: own } of this.columns())
      el.classList.toggle("cv-lit", own.index === operation);
  }

  /** In sight, moved no more than needed. @param {number} operation @param {boolean} [focus] */
  reveal(operation, focus = false) {
    const column = this.#columns.get(operation);
    if (!column) return;
    const [box, view] = [column.el.getBoundingClientRect(), this.el.getBoundingClientRect()];
    const gap = this.narrow ? 0 : GAP;
    const [before, after] = [view.left - box.left, box.right - view.right];
    if (before > 0) this.el.scrollLeft -= before + gap;
    else if (after > 0) this.el.scrollLeft += Math.min(after + gap, -before);
    if (focus) column.el.focus({ preventScroll: true });
  }

  /** Of a new network. @param {number} operation that is spoken of; −1: none */
  begin(operation) {
    this.choice = { all: false, more: new Set(operation < 0 ? [] : [operation]), whole: new Set() };
    this.#begin = operation;
  }

  /** @param {NetworkSource} source @param {NetworkBack} back @param {Colours} colours @param {string} sent */
  set(source, back, colours, sent) {
    const isNew = source !== this.#source;
    [this.#source, this.#back, this.#colours] = [source, back, colours];
    this.#backward.textContent = say("row.backward", { sent });
    this.build(isNew);
  }

  /** @param {boolean} [anew] */
  build(anew = false) {
    const { network } = /** @type {NetworkSource} */ (this.#source);
    const shown = columnsOf(network.operations, this.choice);
    if (anew) this.#columns.clear();
    const before = this.#columns;
    const columnFor = (/** @type {number} */ index) =>
      before.get(index) ?? new Column(network.operations[index], () => this.events.all(index));
    this.#columns = new Map(shown.map((index) => [index, columnFor(index)]));
    const els = [...this.#columns.values()].map(({ el }) => el);
    if (els.length !== this.#inner.childElementCount || els.some((el, at) => el !== this.#inner.children[at]))
      this.#inner.replaceChildren(...els);
    if (!els.some((el) => el.tabIndex === 0)) els[0]?.setAttribute("tabindex", "0");
    for (const [index, column] of this.#columns)
      column.read(network.planes[index], this.#back?.planes[index] ?? null);
    this.draw();
  }

  #refit() {
    const size = `${this.el.clientWidth} ${this.el.clientHeight}`;
    if (size === this.#size || !this.#source) return;
    this.draw();
    this.events.point(null);
  }

  draw() {
    if (!this.#source || !this.#back || !this.#colours) return;
    const { network } = this.#source;
    const [width, height] = [this.el.clientWidth, this.el.clientHeight];
    this.#size = `${width} ${height}`;
    const row = Math.min(ROW[1], Math.max(ROW[0], Math.floor((height - AROUND) / 2)));
    setStyle(this.el, "--row", `${row}px`);
    this.narrow = width < NARROW;
    const tilings = fitted(this.#wanted(), row, width - SIDES, this.narrow);
    for (const [index, column] of this.#columns) {
      const tiling = tilings.get(index);
      if (!tiling) continue;
      const labels =
        column.planes?.channels.map((channel) => network.labels?.[channel] ?? String(channel)) ?? [];
      const { zeros } = this.#back;
      column.draw(tiling, this.#colours, {
        labels,
        zeros: zeros[index],
        more: this.#moreOf(column, tiling.count),
        after: isAfter(this.#back, index),
      });
    }
    if (this.#begin === null || !width) return;
    const begin = this.#begin < 0 && this.narrow ? scoresIndex(network.operations) : this.#begin;
    this.reveal(begin < 0 && this.narrow ? network.operations.length - 1 : begin);
    this.#begin = null;
  }

  /** What the button below a column offers. @param {Column} column @param {number} shown */
  #moreOf({ operation, planes }, shown) {
    const all = operation.shape[0];
    if (!planes || operation.shape.length !== 3) return "";
    if (this.choice.whole.has(operation.index)) return say("fewer");
    const can = this.#source?.channels ? all : planes.count;
    if (can <= shown) return "";
    return can === all ? say("more", { count: all }) : say("more.some", { count: can, all });
  }

  /** How many planes of each column are drawn, and how large they are. */
  #wanted() {
    const { operations } = /** @type {NetworkSource} */ (this.#source).network;
    return this.columns().flatMap(({ operation: { index, shape }, planes }) => {
      if (!planes) return [];
      const { count, height, width } = planes;
      const first = firstOf(shape[0] ?? 1, height === 1 && width === 1);
      const size = /** @type {Pair} */ ([height, width]);
      const drawn = this.choice.whole.has(index) ? count : Math.min(count, first);
      return [{ index, count: drawn, size, scores: areScores(operations, index) }];
    });
  }

  /** @param {import("./column.js").Row} row @param {Field} field @param {number} except */
  #markField(row, { masks: all }, except) {
    for (const [index, masks] of all) {
      const column = this.#columns.get(index);
      const planes = row === "forward" ? column?.planes : column?.gradients;
      const dims = dimsOf(column?.operation.shape ?? []);
      if (!column?.tiling || !planes || !dims || index === except || !this.#colours) continue;
      column.maps[row].mark(masks, planes, column.tiling, [dims[1], dims[2]], this.#colours);
      this.#marked.push(column);
    }
  }

  /** The fields of the pointed cell; null: of none. @param {Pointed | null} pointed @param {{ receptive: Field, projective: Field } | null} fields @param {boolean} pinned */
  mark(pointed, fields, pinned) {
    for (const column of this.#marked) for (const map of Object.values(column.maps)) map.clear();
    this.#marked = [];
    const colours = this.#colours;
    if (!pointed || !fields || !colours) return;
    this.#markField("forward", fields.receptive, pointed.operation);
    this.#markField("backward", fields.projective, pointed.operation);
    const column = this.#columns.get(pointed.operation);
    if (!column?.planes || !column.tiling) return;
    this.#marked.push(column);
    for (const map of Object.values(column.maps))
      map.ring(pointed.plane, pointed.at, column.planes, column.tiling, colours, pinned);
  }
}
