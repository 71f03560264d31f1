// Two rows of maps: forward above, backward below, at the same cells. A column an operation.
import { element, setAttribute, setStyle } from "../../web/base/dom.js";
import { Arcs, skipsOf } from "./arcs.js";
import { isAfter } from "./bars_data.js";
import { Column } from "./column.js";
import { areScores, columnsOf, firstOf, fitted, scoresIndex } from "./layout.js";
import { pressedInMaps } from "./map_keys.js";
import { Overlay } from "./overlay.js";
import { nameBackward, nameForward } from "./row_name.js";
import { say } from "./sentences.js";

/**
 * @import { Colours, Pointed } from "./column.js"
 * @typedef {{ point: (pointed: Pointed | null) => void, pin: (pointed: Pointed) => void, open: () => void, back: ()
 *   => boolean, sendBack: () => void, all: (operation: number) => void }} MapEvents
 */

const AROUND = 60; // pixels above, between and below the two rows, without their names; as in tab.css
const HEAD = 22; // of a row: its name, and what its colours mean
const NARROW_HEAD = 54;
const BELOW_NAME = 4;
const ARCS = 14;
const ROW = [60, 340];
const GAP = 14; // pixels beside a column that is brought in sight
const SIDES = 24;
const NARROW = 600;

export class Maps {
  #inner = element("div.cv-network-columns");
  #forward = element("p.cv-network-row-name");
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
  over = new Overlay();
  arcs = new Arcs();
  /** @type {import("./overlay.js").Marked | null} */
  #marked = null;
  /** @type {MouseEvent | null} */
  #moved = null;
  #frame = 0;
  #left = 0; // how far it is scrolled: asked for in between, it would cost a layout
  /** One column at a time. */
  narrow = false;
  /**
   * Holds the operation to scroll to once there is room; −1 means the scores where only one column is in sight.
   * @type {number | null}
   */
  #begin = null;

  /** @param {MapEvents} events */
  constructor(events) {
    this.events = events;
    const names = [this.#forward, this.#backward].map((name) => element("div.cv-network-row", name));
    this.el = element(
      "div.cv-network-maps",
      { role: "group", "aria-label": say("maps") },
      element("div.cv-network-sheet", ...names, this.arcs.el, this.#inner),
    );
    this.#inner.addEventListener(
      "pointermove",
      (event) => event.pointerType !== "touch" && this.#follow(event),
    );
    this.#inner.addEventListener(
      "pointerleave",
      (event) => event.pointerType !== "touch" && this.#follow(null),
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
    this.el.addEventListener("scroll", () => {
      this.#left = this.el.scrollLeft;
      if (this.#marked) this.mark(this.#marked);
    });
    new ResizeObserver(() => this.#refit()).observe(this.el);
  }

  /** Where the pointer is, once a frame. @param {MouseEvent | null} event */
  #follow(event) {
    this.#moved = event;
    this.#frame ||= requestAnimationFrame(() => {
      this.#frame = 0;
      this.events.point(this.#moved && this.#at(this.#moved));
    });
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

  /**
   * Prepares for a new network: resets the choices and remembers the operation to scroll to.
   * @param {number} operation that is spoken of; −1: none
   */
  begin(operation) {
    this.choice = { all: false, more: new Set(operation < 0 ? [] : [operation]), whole: new Set() };
    this.#begin = operation;
  }

  /** @param {NetworkSource} source @param {NetworkBack} back @param {Colours} colours @param {string} sent in a formula @param {string} from in words */
  set(source, back, colours, sent, from) {
    const isNew = source !== this.#source;
    [this.#source, this.#back, this.#colours] = [source, back, colours];
    nameForward(this.#forward, colours.value);
    nameBackward(this.#backward, colours.gradient, sent, from);
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
    const { cursor } = this;
    this.draw();
    this.events.point(null);
    if (cursor) this.events.point(cursor);
  }

  draw() {
    if (!this.#source || !this.#back || !this.#colours) return;
    const { network } = this.#source;
    const [width, height] = [this.el.clientWidth, this.el.clientHeight];
    this.#size = `${width} ${height}`;
    this.over.size(width, height);
    this.narrow = width < NARROW;
    const skips = skipsOf(network.operations);
    // The name of a cell that is sent back makes two lines of the lower row's.
    const wide = Math.max(HEAD, this.#backward.offsetHeight + BELOW_NAME);
    const [head, arcs] = this.narrow ? [NARROW_HEAD, 0] : [wide, skips.length && ARCS];
    const row = Math.min(ROW[1], Math.max(ROW[0], Math.floor((height - AROUND - arcs) / 2 - head)));
    for (const [name, size] of Object.entries({ row, head, arcs }))
      setStyle(this.el, `--${name}`, `${size}px`);
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
    this.arcs.set(arcs ? skips : [], this.#across(), this.#inner.offsetWidth);
    if (width) this.#revealBegin(network.operations);
  }

  /** @param {NetworkOperation[]} operations */
  #revealBegin(operations) {
    if (this.#begin === null) return;
    const begin = this.#begin < 0 && this.narrow ? scoresIndex(operations) : this.#begin;
    this.reveal(begin < 0 && this.narrow ? operations.length - 1 : begin);
    this.#begin = null;
  }

  /** Where an operation is in the row; one without a column stands between its neighbours. */
  #across() {
    const [first, ...places] = this.columns().map(
      ({ el, operation }) => /** @type {Pair} */ ([operation.index, el.offsetLeft + el.offsetWidth / 2]),
    );
    return (/** @type {number} */ operation) => {
      let [at, left] = first;
      for (const [next, right] of places) {
        if (next >= operation) return left + ((right - left) * (operation - at)) / (next - at);
        [at, left] = [next, right];
      }
      return left;
    };
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

  /** Draws the fields of the pointed cell; null removes them. @param {import("./overlay.js").Marked | null} marked */
  mark(marked) {
    this.#marked = marked;
    this.over.draw(marked, this.#columns, this.#left);
  }
}
