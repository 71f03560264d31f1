// @ts-check
// The 1 in grad_output has a handle: it is dragged from cell to cell, by pointer, finger or keys, and both
// gradients follow. Shift and an arrow key carry it from anywhere in its panel. A bare arrow key does where
// the 1 is chosen and has the focus: it was clicked, or dropped there. Else arrow keys walk over the cells,
// as they do in every panel, and Esc lets go of it.
import WORDS from "../../facts/words/hands.json" with { type: "json" };
import { element, setAttribute, setHidden, svgElement } from "../base/dom.js";
import { isBare } from "../base/keys.js";
import { sentences } from "../base/words.js";
import { shownOne } from "../rules/change.js";
import { CELL } from "./grid_marks.js";

const say = sentences(WORDS);
const CLICK = 4; // pixels that are no drag yet
/** @type {Record<string, [number, number]>} */
const ARROWS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };

/**
 * @typedef {{ row: number, column: number }} Place
 */

export class OneHandle {
  #ring = svgElement("circle", { class: "cv-handle", r: CELL / 2 - 3, visibility: "hidden" });
  hint = element("span", { class: "cv-drag-hint", "aria-hidden": "true", hidden: "" }, say("one.hint"));
  #place = () => shownOne(this.#board.model.settings());
  #board;
  #grid;
  #spec;

  /**
   * @param {import("./shared.js").Shared} board @param {import("./grid.js").Grid} grid of the panel
   * @param {() => import("./panel.js").PanelSpec} spec
   */
  constructor(board, grid, spec) {
    [this.#board, this.#grid, this.#spec] = [board, grid, spec];
    grid.svg.append(this.#ring);
  }

  /** @param {Place} to @param {string} move */
  #carry({ row, column }, move) {
    this.#board.draggedOne = true;
    this.#board.model.send({ type: "select", panel: this.#spec().name, row, column, move });
  }

  /**
   * What a press drags here: the 1 comes to the pointer, wherever it was pressed.
   * @param {(event: MouseEvent) => [number, number]} placeOf
   */
  take(placeOf) {
    let last = this.#place();
    return {
      far: (/** @type {number} */ down, /** @type {number} */ right) => Math.hypot(down, right) >= CLICK,
      to: (/** @type {PointerEvent} */ event, /** @type {string} */ move) => {
        const [row, column] = placeOf(event); // the nearest cell, where the pointer has left the panel
        if (last?.row === row && last.column === column) return;
        last = { row, column };
        this.#board.highlight.hover(null); // its links are those of what is chosen
        this.#board.unread();
        this.#carry(last, move);
      },
      ended: () => last && this.#grid.focusCell(last.row, last.column, true, true),
    };
  }

  /**
   * Carry the 1 along with an arrow key, if that is what it does here.
   * @param {KeyboardEvent} event @param {Place} at where the focus is @returns {boolean}
   */
  key(event, at) {
    const by = ARROWS[event.key];
    if (!by || !isBare(event)) return false;
    const from = this.#place();
    const chosen = this.#board.model.get("selected");
    const isHere = from?.row === at.row && from.column === at.column;
    const isChosen =
      chosen?.panel === this.#spec().name && chosen.row === at.row && chosen.column === at.column;
    if (!event.shiftKey && !(isHere && isChosen)) return false;
    this.step(by);
    return true;
  }

  /** @param {[number, number]} by */
  step([down, right]) {
    const { row, column } = this.#place() ?? { row: 0, column: 0 };
    const most = [this.#spec().rows.length - 1, this.#spec().columns.length - 1];
    const to = {
      row: Math.min(Math.max(row + down, 0), most[0]),
      column: Math.min(Math.max(column + right, 0), most[1]),
    };
    if (to.row !== row || to.column !== column) this.#carry(to, "one");
    this.#grid.focusCell(to.row, to.column);
    this.#board.say(say("one.moved", { ...to }));
  }

  /** What is said of a cell beside its number. @param {number} row @param {number} column */
  words(row, column) {
    const at = this.#spec().single ? this.#place() : null;
    return at?.row === row && at.column === column ? say("one.how") : "";
  }

  /** Stand where the 1 does. @param {ArrayLike<number>} values as they are shown */
  see(values) {
    const { single, columns } = this.#spec();
    const index = single ? Array.prototype.indexOf.call(values, 1) : -1;
    const isLearnt = !single || Boolean(this.#board.draggedOne) || values.length === 1;
    setHidden(this.hint, isLearnt);
    setAttribute(this.#ring, "visibility", index < 0 ? "hidden" : "visible");
    if (index < 0) return;
    const [column, row] = [index % columns.length, Math.floor(index / columns.length)];
    setAttribute(this.#ring, "cx", String((column + 0.5) * CELL));
    setAttribute(this.#ring, "cy", String((row + 0.5) * CELL));
  }
}

/**
 * Arrow keys carry the 1 as well before anything has the focus, in a page of our own that has nothing to
 * scroll.
 * @param {HTMLElement} root the board @param {boolean} own
 * @param {() => Iterable<import("./panel.js").Panel>} panels @returns {() => void} stop
 */
export function followArrows(root, own, panels) {
  /** @param {KeyboardEvent} event */
  function onKey(event) {
    const by = ARROWS[event.key];
    const { scrollHeight, clientHeight } = document.documentElement;
    if (!own || !by || event.target !== document.body || event.defaultPrevented || !isBare(event)) return;
    if (scrollHeight > clientHeight || root.closest("[data-stage=lecture]")) return;
    const panel = [...panels()].find((each) => each.spec().single && each.area.getClientRects().length);
    if (!panel) return;
    panel.handle.step(by);
    event.preventDefault();
  }
  document.addEventListener("keydown", onKey);
  return () => document.removeEventListener("keydown", onKey);
}
