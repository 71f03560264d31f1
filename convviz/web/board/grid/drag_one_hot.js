// The handle of the 1 in grad_output: pointer, finger or keys drag it, and both gradients follow. Shift and
// arrows carry it from anywhere in its panel, bare arrows where it is selected and focused; Esc releases it.
import { element, listen, setAttribute, setHidden, svgElement } from "../../base/dom.js";
import { ARROWS, isBare, isUnfocused } from "../../base/keys.js";
import { sayGesture } from "../../picture/gesture_sentences.js";
import { shownOne } from "../../rules/change_settings.js";
import { CELL } from "./grid_marks.js";

const CLICK = 4; // less is a click

export class OneHandle {
  #ring = svgElement("circle.cv-handle", { r: CELL / 2 - 3, visibility: "hidden" });
  hint = element("span.cv-drag-hint", { "aria-hidden": "true", hidden: "" }, sayGesture("one.hint"));
  #place = () => shownOne(this.#board.model.settings());
  #board;
  #panel;

  /** @param {Shared} board @param {Panel} panel */
  constructor(board, panel) {
    [this.#board, this.#panel] = [board, panel];
    panel.grid.svg.append(this.#ring);
  }

  /** @param {Point} to @param {string} move */
  #carry({ row, column }, move) {
    this.#board.draggedOne = true;
    this.#board.model.send({ type: "select", panel: this.#panel.spec().name, row, column, move });
  }

  /** The 1 jumps to the pointer. @param {(event: MouseEvent) => [number, number]} placeOf */
  take(placeOf) {
    let last = this.#place();
    return {
      far: (/** @type {number} */ down, /** @type {number} */ right) => Math.hypot(down, right) >= CLICK,
      to: (/** @type {PointerEvent} */ event, /** @type {string} */ move) => {
        const [row, column] = placeOf(event); // outside of the grid, its nearest cell
        if (last?.row === row && last.column === column) return;
        last = { row, column };
        this.#board.highlight.hover(null); // the selection's links stay
        this.#board.unread();
        this.#carry(last, move);
      },
      ended: () => last && this.#panel.grid.focusCell(last.row, last.column, true, true),
    };
  }

  /** @param {KeyboardEvent} event @param {Point} at */
  key(event, at) {
    const by = ARROWS[event.key];
    if (!by || !isBare(event)) return false;
    const from = this.#place();
    const chosen = this.#board.model.get("selected");
    const isHere = from?.row === at.row && from.column === at.column;
    const isChosen =
      chosen?.panel === this.#panel.spec().name && chosen.row === at.row && chosen.column === at.column;
    if (!event.shiftKey && !(isHere && isChosen)) return false;
    this.step(by);
    return true;
  }

  /** @param {[number, number]} by */
  step([down, right]) {
    const { row, column } = this.#place() ?? { row: 0, column: 0 };
    const most = [this.#panel.spec().rows.length - 1, this.#panel.spec().columns.length - 1];
    const to = {
      row: Math.min(Math.max(row + down, 0), most[0]),
      column: Math.min(Math.max(column + right, 0), most[1]),
    };
    if (to.row !== row || to.column !== column) this.#carry(to, "one");
    this.#panel.grid.focusCell(to.row, to.column);
    this.#board.say(sayGesture("one.moved", { ...to }));
  }

  /** @param {number} row @param {number} column */
  words(row, column) {
    const at = this.#panel.spec().single ? this.#place() : null;
    return at?.row === row && at.column === column ? sayGesture("one.how") : "";
  }

  /** @param {ArrayLike<number>} values */
  see(values) {
    const { single, columns } = this.#panel.spec();
    const index = single ? Array.prototype.indexOf.call(values, 1) : -1;
    // The 1 may be in another plane.
    setHidden(this.hint, index < 0 || Boolean(this.#board.draggedOne) || values.length === 1);
    setAttribute(this.#ring, "visibility", index < 0 ? "hidden" : "visible");
    if (index < 0) return;
    const [column, row] = [index % columns.length, Math.floor(index / columns.length)];
    setAttribute(this.#ring, "cx", String((column + 0.5) * CELL));
    setAttribute(this.#ring, "cy", String((row + 0.5) * CELL));
    setAttribute(this.#ring, "stroke", this.#panel.grid.dye(1).ink);
  }
}

/**
 * Arrows carry the 1 without focus, in a page of our own that does not scroll.
 * @param {HTMLElement} root @param {boolean} own @param {() => Iterable<Panel>} panels
 */
export function followArrows(root, own, panels) {
  /** @param {KeyboardEvent} event */
  function onKey(event) {
    const by = ARROWS[event.key];
    const { scrollHeight, clientHeight } = document.documentElement;
    if (!own || !by || !isUnfocused(event.target, root) || event.defaultPrevented || !isBare(event)) return;
    if (scrollHeight > clientHeight || root.closest("[data-stage=lecture]")) return;
    const panel = [...panels()].find((each) => each.spec().single && each.area.getClientRects().length);
    if (!panel) return;
    panel.handle.step(by);
    event.preventDefault();
  }
  return listen(document, "keydown", onKey);
}
