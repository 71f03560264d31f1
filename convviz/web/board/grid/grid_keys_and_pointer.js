// Keys and pointer over a grid.

import { ARROWS } from "../../base/keys.js";

/** @import { Grid, GridEvents } from "./grid_overlay.js" */

const KEYS = {
  ...ARROWS,
  PageUp: [-1e6, 0],
  PageDown: [1e6, 0],
  Home: [0, -1e6],
  End: [0, 1e6],
};
const TYPED = /^[-\u2212.,\d]$/;

export class GridInput {
  #grid;
  #events;
  #tapped = ""; // tapped before: a second tap opens it
  /** Pressed: a text may move the grid before the click. @type {[number, number] | null} */
  #pressed = null;
  #opened = false; // so that a double click need not

  /** @param {Grid} grid @param {GridEvents} events */
  constructor(grid, events) {
    [this.#grid, this.#events] = [grid, events];
    const { svg } = grid;
    svg.addEventListener("keydown", (event) => {
      if (!this.#act(event)) return;
      event.preventDefault();
      event.stopPropagation(); // or a notebook takes the keys
    });
    svg.addEventListener("pointerdown", (event) => (this.#pressed = grid.place(event)));
    svg.addEventListener("click", (event) => this.#click(/** @type {PointerEvent} */ (event)));
    svg.addEventListener("dblclick", (event) => {
      if (grid.editable() && !this.#opened) events.onEdit?.(...grid.place(event), "");
    });
    svg.addEventListener("pointermove", (event) => events.onFocus?.(...grid.place(event)));
    svg.addEventListener("pointerleave", () => events.onLeave?.());
    svg.addEventListener("focusout", () => events.onLeave?.());
    // Screen readers focus any cell: the cursor follows.
    svg.addEventListener("focusin", (event) => {
      const { row, column } = grid.focus;
      const { cell } = /** @type {SVGElement} */ (event.target).dataset;
      const at = cell?.split(",").map(Number) ?? [row, column];
      if (at[0] === row && at[1] === column) events.onFocus?.(row, column);
      else grid.focusCell(at[0], at[1], false);
    });
  }

  /** @param {KeyboardEvent} event */
  #act(event) {
    const { row, column } = this.#grid.focus;
    if (this.#events.onArrow?.(event, row, column)) return true;
    // else whoever is around may take it
    if (event.key === "Escape") return this.#events.onRelease?.() !== false;
    return this.#move(event) || this.#open(event, row, column);
  }

  /** @param {KeyboardEvent} event */
  #move({ key, altKey, ctrlKey, metaKey }) {
    const by = altKey || metaKey ? null : KEYS[key];
    if (!by) return false;
    const { row, column } = this.#grid.focus;
    const edge = ctrlKey && (key === "Home" || key === "End");
    this.#grid.focusCell(row + by[edge ? 1 : 0], column + by[1]);
    return true;
  }

  /** @param {KeyboardEvent} event @param {number} row @param {number} column */
  #open({ key, ctrlKey, metaKey, shiftKey }, row, column) {
    const editable = this.#grid.editable();
    if (key === "ContextMenu" || (key === "F10" && shiftKey)) this.#events.onMenu?.();
    else if (editable && (key === "Enter" || key === "F2")) this.#events.onEdit?.(row, column, "");
    else if (["Enter", "F2", " "].includes(key)) this.#events.onSelect?.(row, column);
    else if (editable && TYPED.test(key) && !ctrlKey && !metaKey) this.#events.onEdit?.(row, column, key);
    else return false;
    return true;
  }

  /** @param {PointerEvent} event */
  #click(event) {
    // A screen reader clicks without a press.
    const [row, column] = (event.detail ? this.#pressed : null) ?? this.#grid.place(event);
    this.#pressed = null;
    this.#grid.focusCell(row, column, true, true);
    const isAgain =
      event.pointerType === "touch" && this.#grid.editable() && this.#tapped === `${row},${column}`;
    [this.#tapped, this.#opened] = [isAgain ? "" : `${row},${column}`, isAgain];
    if (isAgain) this.#events.onEdit?.(row, column, "");
    else this.#events.onSelect?.(row, column);
  }
}
