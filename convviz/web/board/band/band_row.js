// A band's panels and signs in one row, and the sizes of their cells.
import { element } from "../../base/dom.js";
import { createSign, createTerm, putInOrder, signWidth } from "./band_elements.js";
import { Panel } from "../panel/panel.js";
import { MAX_LINES } from "../panel/name_line_breaks.js";
import {
  GAP,
  NUMBERED_UP_TO,
  bareHeight,
  bareLine,
  fitCells,
  leastHeight,
  leastLine,
  linesOf,
  numbered,
} from "../layout/screen_layout.js";

const EDGES = 32; // pixels beside a row
const NAME_LINES = 2; // for the least room
const LINES = Array.from({ length: MAX_LINES }, (_, index) => index + 1);
const LARGE = 390; // pixels of a panel without numbers

/**
 * @import { Sign } from "../../picture/panels.js"
 * @import { Room, Term } from "../layout/screen_layout.js"
 * @typedef {{ thumbs: number, planes: number, letters: number, hasWidth: boolean }} Asks thumbs: height of a row of
 *   planes; planes: the most of them that are shown;
 *   letters: scale; hasWidth: what is tall may stand beside
 * @typedef {Sign & { key?: undefined, width: number }} SignItem
 */

export class BandRow {
  /** @type {Map<string, Panel>} */
  panels = new Map();
  el = element("div.cv-row");
  #board;
  #asks;
  /** @type {(PanelItem | SignItem)[]} */
  #items = [];
  #fitted = ""; // panels that were crowded when last fitted

  /** @param {Shared} board @param {(beside: boolean) => Asks} asks */
  constructor(board, asks) {
    [this.#board, this.#asks] = [board, asks];
  }

  /** @param {RowItem[]} items */
  set(items) {
    this.#items = items.map((item) =>
      item.key ? item : { ...item, width: signWidth(/** @type {Sign} */ (item)) },
    );
    const wanted = new Set(items.map((item) => item.key).filter(Boolean));
    for (const key of [...this.panels.keys()]) if (!wanted.has(key)) this.panels.delete(key);
    for (const item of items) if (item.key) this.#setPanel(item);
    const order = items.map((item) => item.key ?? `${item.symbol} ${item.note}`).join("|");
    if (this.el.dataset.order === order) return;
    this.el.dataset.order = order;
    putInOrder(this.el, this.#createTerms());
  }

  /** @param {PanelItem} item */
  #setPanel(item) {
    const panel = this.panels.get(item.key) ?? new Panel(this.#board, item);
    // kept in order: sizes are chosen in it
    this.panels.delete(item.key);
    this.panels.set(item.key, panel);
    panel.setSpec(item);
  }

  /** A sign wraps with the panel after it. */
  #createTerms() {
    const terms = [];
    const signs = [];
    for (const item of this.#items) {
      if (item.turns) terms.push(element("div.cv-turn")); // a line break
      if (item.key)
        terms.push(createTerm(/** @type {Panel} */ (this.panels.get(item.key)).el, signs.splice(0)));
      else signs.push(createSign(/** @type {SignItem} */ (item)));
    }
    return terms;
  }

  /**
   * For each of some counts of a name's lines.
   * @param {number[]} counts @param {Asks} asks @returns {Term[][]}
   */
  #terms(counts, asks) {
    /** @type {Term[][]} */
    const terms = counts.map(() => []);
    let [before, turns] = [0, false];
    for (const item of this.#items) {
      const panel = item.key && this.panels.get(item.key);
      turns ||= Boolean(item.turns);
      if (panel) {
        for (const [index, { beside, ...need }] of panel.needs(counts, asks).entries())
          terms[index].push({ ...need, before: before + beside, turns });
      }
      before = panel ? 0 : before + /** @type {SignItem} */ (item).width * asks.letters + GAP;
      turns &&= !panel;
    }
    return terms;
  }

  #crowding() {
    return [...this.panels.values()].map((panel) => panel.crowded()).join();
  }

  outgrown() {
    return this.#crowding() !== this.#fitted;
  }

  /** @param {Room} room @param {boolean} wraps */
  fit(room, wraps) {
    const asks = this.#asks(false);
    // Break names where numbers or cells gain.
    const tries = this.#terms(LINES, asks).map((terms, index) => {
      const sizes = fitCells(terms, room, wraps);
      const isWhole = linesOf(terms, sizes, wraps ? room.width : Infinity).every(
        ({ width }) => width <= room.width,
      );
      const gains = [numbered(terms, sizes), Number(isWhole), smallest(sizes)];
      return { lines: LINES[index], terms, sizes, gains };
    });
    const best = tries.reduce((one, other) => (isMore(other.gains, one.gains) ? other : one));
    [...this.panels.values()].forEach((panel, index) =>
      panel.setSize(best.sizes[index], best.lines, asks.letters),
    );
    this.el.toggleAttribute("data-turns", wraps && linesOf(best.terms, best.sizes, room.width).length > 1);
    this.#fitted = this.#crowding();
  }

  /** @param {number} cell @param {number} width */
  setSize(cell, width) {
    for (const panel of this.panels.values()) {
      const { rows, columns } = panel.spec();
      const most = Math.max(rows.length, columns.length);
      const isLarge = most > NUMBERED_UP_TO;
      const side = Math.min(
        cell,
        (width - 34) / columns.length,
        isLarge ? Math.max(LARGE / most, 4) : Infinity,
      );
      const whole = isLarge ? side : Math.floor(side);
      panel.setSize({ width: whole, height: whole });
    }
  }

  /**
   * Beside other bands the least room for readable numbers, 0 without any; and for colours alone.
   * @returns {Room & { bare: number, low: number }} bare: a width, low: a height
   */
  least() {
    const [terms] = this.#terms([NAME_LINES], this.#asks(true));
    const numbered = terms.filter(({ digits }) => digits);
    const low = bareHeight(terms);
    if (!numbered.length) return { width: 0, bare: 0, height: 0, low };
    const heights = numbered.map(({ rows, around, digits }) => around + rows * (digits?.height ?? 0));
    const [width, bare] = [EDGES + leastLine(terms), EDGES + bareLine(terms)];
    return { width, bare, height: Math.max(...heights), low };
  }

  /** The height for every number to be read, in as many lines as the width asks for. @param {number} width */
  leastHeight = (width) => leastHeight(this.#terms([NAME_LINES], this.#asks(false))[0], width);

  /** The width besides cells, and the cells side by side. */
  measure() {
    const columns = [...this.panels.values()].map((panel) => panel.spec().columns.length);
    const small = columns.filter((count) => count <= NUMBERED_UP_TO);
    const signs = this.#items.length - columns.length;
    return {
      cells: small.reduce((sum, count) => sum + count, 0),
      rest: LARGE * (columns.length - small.length) + 58 * signs + 24 * columns.length,
    };
  }
}

/** @param {Room[]} cells */
const smallest = (cells) => Math.min(...cells.map(({ height }) => height));

/** The first that differs decides. @param {number[]} one @param {number[]} other */
function isMore(one, other) {
  const at = one.findIndex((gain, index) => gain !== other[index]);
  return at >= 0 && one[at] > other[at];
}
