// Two rows of maps: forward above, backward below, at the same cells. A column an operation.
import { element, setAttribute, setStyle } from "../../web/base/dom.js";
import { Column } from "./column.js";
import { areScores, columnsOf, firstOf, tilingOf } from "./layout.js";
import { cellBeside } from "./cell_steps.js";
import { dimsOf } from "./relations.js";
import { say } from "./sentences.js";

/**
 * @import { Colours, Pointed } from "./column.js"
 * @import { Field } from "./fields.js"
 * @typedef {{ point: (pointed: Pointed | null) => void, pin: (pointed: Pointed) => void, open: () => void, back: ()
 *   => boolean, sendBack: () => void, all: (operation: number) => void }} MapEvents
 */

const AROUND = 104; // pixels above, between and below the two rows; as in tab.css
const ROW = [84, 340];
const GAP = 16;
const LEAST = 92; // pixels of a column
const NARROW = 600;

export class Maps {
  #inner = element("div.cv-network-columns");
  #forward = element("p.cv-network-row-name", say("row.forward"));
  #backward = element("p.cv-network-row-name");
  el;
  /** @type {Map<number, Column>} */
  #columns = new Map();
  #events;
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

  /** @param {MapEvents} events */
  constructor(events) {
    this.#events = events;
    const names = [this.#forward, this.#backward].map((name) => element("div.cv-network-row", name));
    this.el = element(
      "div.cv-network-maps",
      { role: "group", "aria-label": say("maps") },
      element("div.cv-network-sheet", ...names, this.#inner),
    );
    this.#inner.addEventListener(
      "pointermove",
      (event) => event.pointerType !== "touch" && this.#events.point(this.#at(event)),
    );
    this.#inner.addEventListener(
      "pointerleave",
      (event) => event.pointerType !== "touch" && this.#events.point(null),
    );
    this.#inner.addEventListener("click", (event) => {
      const pointed = this.#at(event);
      if (pointed) this.#events.pin(pointed);
    });
    this.#inner.addEventListener("dblclick", (event) => this.#at(event) && this.#events.open());
    this.#inner.addEventListener("keydown", (event) => this.#onKey(event));
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

  /** @param {KeyboardEvent} event */
  #onKey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const column = [...this.#columns.values()].find(({ el }) => el === event.target);
    if (!column) return;
    const here = this.cursor?.operation === column.operation.index ? this.cursor : startOf(column);
    const handled = event.key.startsWith("Arrow")
      ? this.#step(column, here, event.key)
      : this.#press(event.key, here);
    if (!handled) return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** @param {Column} column @param {Pointed | null} here @param {string} key */
  #step(column, here, key) {
    const began = this.cursor?.operation === column.operation.index;
    const next = here && (began ? cellBeside(column, here, key) : here);
    if (next) this.#events.point(next);
    else if (key === "ArrowLeft" || key === "ArrowRight") {
      const all = [...this.#columns.values()];
      const beside = all[all.indexOf(column) + (key === "ArrowRight" ? 1 : -1)];
      const start = beside && startOf(beside, here?.row);
      if (!start) return true;
      beside.el.focus({ preventScroll: true });
      this.reveal(beside.operation.index);
      this.#events.point(start);
    }
    return true;
  }

  /** @param {string} key @param {Pointed | null} here */
  #press(key, here) {
    if (key === "Escape") return this.#events.back();
    if (!here) return false;
    if (key === "Enter" || key === " ") this.#events.pin(here);
    else if (key === "s" || key === "1") this.#events.sendBack();
    else if (key === "o") this.#events.open();
    else return false;
    return true;
  }

  /** In sight, moved no more than needed. @param {number} operation @param {boolean} [focus] */
  reveal(operation, focus = false) {
    const column = this.#columns.get(operation);
    if (!column) return;
    const [box, view] = [column.el.getBoundingClientRect(), this.el.getBoundingClientRect()];
    if (box.left < view.left) this.el.scrollLeft -= view.left - box.left + GAP;
    if (box.right > view.right)
      this.el.scrollLeft += Math.min(box.right - view.right + GAP, box.left - view.left);
    if (focus) column.el.focus({ preventScroll: true });
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
      before.get(index) ?? new Column(network.operations[index], () => this.#events.all(index));
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
    this.#events.point(null);
  }

  draw() {
    if (!this.#source || !this.#back || !this.#colours) return;
    const { network } = this.#source;
    const [width, height] = [this.el.clientWidth, this.el.clientHeight];
    this.#size = `${width} ${height}`;
    const row = Math.min(ROW[1], Math.max(ROW[0], Math.floor((height - AROUND) / 2)));
    setStyle(this.el, "--row", `${row}px`);
    const narrow = width < NARROW;
    this.el.classList.toggle("cv-narrow", narrow);
    const tilings = this.#fitted(row, narrow ? width - 24 : width - 24, narrow);
    for (const [index, column] of this.#columns) {
      const tiling = tilings.get(index);
      if (!tiling) continue;
      const labels =
        column.planes?.channels.map((channel) => network.labels?.[channel] ?? String(channel)) ?? [];
      const { shape } = network.operations[index];
      const hidden = shape.length === 3 ? shape[0] - tiling.count : 0;
      const more =
        this.choice.whole.has(index) && shape[0] > 16
          ? say("fewer")
          : hidden > 0
            ? say("more", { count: shape[0] })
            : "";
      column.draw(tiling, this.#colours, labels, this.#back.zeros[index], more);
    }
  }

  /** As large as the width allows. @param {number} row @param {number} width @param {boolean} narrow */
  #fitted(row, width, narrow) {
    const { operations } = /** @type {NetworkSource} */ (this.#source).network;
    const tile = (/** @type {number} */ budget) =>
      new Map(
        [...this.#columns].flatMap(([index, { planes }]) => {
          if (!planes) return [];
          const vector = planes.height === 1 && planes.width === 1;
          const count = this.choice.whole.has(index)
            ? planes.count
            : Math.min(planes.count, firstOf(operations[index].shape[0] ?? 1, vector));
          const all = {
            count,
            size: /** @type {Pair} */ ([planes.height, planes.width]),
            scores: areScores(operations, index),
          };
          return [[index, tilingOf(all, row, budget)]];
        }),
      );
    if (narrow) return tile(width);
    const least = tile(LEAST);
    let [low, high] = [LEAST, Math.max(LEAST, row)];
    const fits = (/** @type {Map<number, { width: number }>} */ tilings) =>
      [...tilings.values()].reduce((sum, each) => sum + Math.max(LEAST, each.width) + GAP, -GAP) <= width;
    if (!fits(least)) return least;
    for (let step = 0; step < 7; step++) {
      const middle = (low + high) / 2;
      if (fits(tile(middle))) low = middle;
      else high = middle;
    }
    return tile(low);
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

/** @param {Column} column @param {import("./column.js").Row} [row] @returns {Pointed | null} */
function startOf(column, row = "forward") {
  if (!column.planes) return null;
  const at = /** @type {Pair} */ (
    [column.planes.height, column.planes.width].map((size) => Math.floor((size - 1) / 2))
  );
  return { operation: column.operation.index, row, plane: 0, at };
}
