// Given numbers are dragged up and down: by 1, with Shift by 0.1; Alt and arrow keys do the same. Weights are
// sliders: they take a slider's keys, and those that move no slider walk from one to the next.
import { element, setText } from "../../base/dom.js";
import { formatNumber } from "../../base/format.js";
import { sayGesture } from "../../picture/gesture_sentences.js";
import { givenNumber } from "../../rules/edit_cells.js";
import { indicesAt } from "../../rules/shapes_and_indices.js";

const CLICK = 4; // less is a click
const PIXELS = 12; // pixels that change a number by one step
const FINE = 0.1;
const REACH = 9; // one digit, or as far as the number
/** @type {Record<string, number>} */
const UP = { ArrowUp: 1, ArrowDown: -1 };
/** @type {Record<string, number>} */
const SLIDER_KEYS = { ...UP, PageUp: 3, PageDown: -3, Home: -Infinity, End: Infinity };
/** Through the rows, as one reads. @type {Record<string, number>} */
const WALK = { ArrowRight: 1, ArrowLeft: -1 };

const framed = () => window.parent !== window;

/** As far as a number goes from zero. @param {number} from */
export const reachOf = (from) => Math.max(REACH, Math.abs(from));

/** 0.1 + 0.2 is 0.3. @param {number} from @param {number} steps @param {boolean} fine */
export function stepped(from, steps, fine) {
  const reach = reachOf(from);
  const to = Number((from + steps * (fine ? FINE : 1)).toPrecision(15));
  return Math.min(Math.max(to, -reach), reach);
}

/**
 * Returns what a key makes of a number: Alt and an arrow, or any key of a slider. Returns null for any other key.
 * @param {number} from @param {Pick<KeyboardEvent, "key" | "altKey" | "shiftKey">} event @param {boolean} slides
 */
export function keyed(from, { key, altKey, shiftKey }, slides) {
  const by = (altKey ? UP : slides ? SLIDER_KEYS : {})[key];
  return by ? stepped(from, by, shiftKey) : null;
}

export class NumberDrag {
  #bubble = element("output.cv-pulled", { "aria-hidden": "true" });
  /** Returns NaN where the cell has no number to drag. @param {number} row @param {number} column */
  #numberIn = (row, column) =>
    this.#panel.spec().dragged && !this.#panel.grid.isAsked(row, column)
      ? givenNumber(this.#board.model.settings(), this.#panel.spec().name, row, column)
      : NaN;
  /** @param {number} row @param {number} column @param {number} value @param {string} move */
  #write = (row, column, value, move) =>
    this.#board.model.send({ type: "edit", panel: this.#panel.spec().name, row, column, value, move });
  #board;
  #panel;

  /** @param {Shared} board @param {Panel} panel */
  constructor(board, panel) {
    [this.#board, this.#panel] = [board, panel];
  }

  /** Not in a frame: it could no longer be scrolled. */
  byTouch = () => this.#panel.spec().dragged && !framed();

  /** @param {number} row @param {number} column @param {PointerEvent} event */
  take(row, column, { clientY, pointerType }) {
    let now = this.#numberIn(row, column);
    if (Number.isNaN(now) || (pointerType === "touch" && framed())) return null;
    let from = { y: clientY, value: now, fine: false };
    return {
      far: (/** @type {number} */ down) => Math.abs(down) >= CLICK,
      to: (/** @type {PointerEvent} */ event, /** @type {string} */ move) => {
        if (event.shiftKey !== from.fine) from = { y: event.clientY, value: now, fine: event.shiftKey };
        const steps = Math.round((from.y - event.clientY) / PIXELS);
        const value = steps ? stepped(from.value, steps, from.fine) : from.value;
        // A finger or small cells hide the number.
        if (pointerType === "touch" || this.#panel.area.matches(".cv-wordless"))
          this.#panel.area.append(this.#bubble);
        this.#bubble.style.left = `${(100 * (column + 0.5)) / this.#panel.spec().columns.length}%`;
        this.#bubble.style.top = `${(100 * row) / this.#panel.spec().rows.length}%`;
        setText(this.#bubble, formatNumber(value));
        if (value === now) return;
        now = value;
        this.#write(row, column, value, move);
      },
      ended: () => this.#bubble.remove(),
    };
  }

  /**
   * Takes Alt and an arrow key, or a slider's keys; returns false for any other.
   * @param {KeyboardEvent} event @param {Point} at
   */
  key(event, { row, column }) {
    const { key, label, slides } = this.#panel.spec();
    const from = event.ctrlKey || event.metaKey ? NaN : this.#numberIn(row, column);
    if (Number.isNaN(from)) return false;
    if (slides && !event.altKey && WALK[event.key]) return this.#walk(row, column, WALK[event.key]);
    const value = keyed(from, event, slides);
    if (value === null) return false;
    if (value !== from) this.#write(row, column, value, `number ${key} ${row} ${column}`);
    // A slider says its own number.
    if (!slides)
      this.#board.say(sayGesture("number.is", { name: label, row, column, value: formatNumber(value) }));
    return true;
  }

  /** @param {number} row @param {number} column @param {number} by */
  #walk(row, column, by) {
    const { rows, columns } = this.#panel.spec();
    const to = row * columns.length + column + by;
    if (to >= 0 && to < rows.length * columns.length)
      this.#panel.grid.focusCell(...indicesAt([rows.length, columns.length], to));
    return true;
  }
}
