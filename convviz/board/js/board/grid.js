// @ts-check
// The layer over a heatmap: numbers, hatching, focus, and the accessible grid. It draws with the size of a cell
// fixed in its own units, so that resizing the panel needs no work.
import WORDS from "../../../facts/words/board.json" with { type: "json" };
import { svgElement, focusOf } from "../base/dom.js";
import { colorOf, formatNumber, fullNumber, needsWhiteInk } from "../base/format.js";
import { createCells } from "./grid_cells.js";
import { createNumbers } from "./grid_numbers.js";
import {
  CELL,
  corners,
  drawFrames,
  gapsBetween,
  holesIn,
  isMarked,
  isUnread,
  makeBands,
  patterns,
  roleOf,
} from "./grid_marks.js";
import { isBeyond } from "../picture/scales.js";
import { widthOf } from "./digits.js";
import { equal } from "./pixels.js";
import { NUMBERED_UP_TO } from "./stage.js";
import { sentences } from "../base/words.js";

const say = sentences(WORDS);
const ASKED = "?"; // in place of a number that is to be predicted
const KEYS = {
  ArrowUp: [-1, 0],
  ArrowDown: [1, 0],
  ArrowLeft: [0, -1],
  ArrowRight: [0, 1],
  PageUp: [-1e6, 0],
  PageDown: [1e6, 0],
  Home: [0, -1e6],
  End: [0, 1e6],
};

/**
 * @typedef {{ rows: string, columns: string, unread_rows: number[], unread_columns: number[], label: string,
 *   editable: boolean, words?: Record<string, string>, numbers?: boolean }} GridSpec `numbers`: whether the cells have
 *   room for them, where their count does not tell it
 * @typedef {{ onFocus: (row: number, column: number) => void, onSelect: (row: number, column: number) => void,
 *   onEdit: (row: number, column: number, typed: string) => void, onMenu: () => void, onLeave: () => void,
 *   onRelease: () => boolean | void, onArrow?: (event: KeyboardEvent, row: number, column: number) => boolean }} GridEvents
 *   onArrow: asked first, whether a key is no step of the focus here
 */

/**
 * Make the layer.
 * @param {string} uid unique in the page: names the hatching patterns
 * @param {GridEvents} events
 * @param {number} [numbersUpTo] rows or columns; in a larger grid a cell has no room for its number
 */
export function createGrid(uid, events, numbersUpTo = NUMBERED_UP_TO) {
  const bands = svgElement("g", { "aria-hidden": "true" });
  const cells = createCells();
  const numbers = createNumbers();
  const ring = svgElement("rect", { class: "cv-ring", width: CELL, height: CELL, visibility: "hidden" });
  const gaps = svgElement("path", { class: "cv-gaps", "aria-hidden": "true" });
  const lights = svgElement("g", { class: "cv-lights", "aria-hidden": "true" });
  const beyond = svgElement("path", { class: "cv-beyond", "aria-hidden": "true" });
  // Listening for the focus makes an svg a tab stop of its own in Chromium: the one stop is a cell.
  const attributes = { class: "cv-grid", role: "grid", tabindex: -1, preserveAspectRatio: "none" };
  const dim = svgElement("path", { class: "cv-dim", "fill-rule": "evenodd" });
  const svg = svgElement(
    "svg",
    attributes,
    patterns(uid),
    bands,
    lights,
    gaps,
    cells.el,
    numbers.el,
    dim,
    beyond,
    ring,
  ); // no frame lies over a number
  /** @type {GridSpec} */
  let spec = { rows: "", columns: "", unread_rows: [], unread_columns: [], label: "", editable: false };
  let built = ""; // what of it is drawn
  /** Of each cell whether a mark says what it is, and whether it is never read. @type {[boolean[], boolean[]]} */
  let [marked, unread] = [[], []];
  /** The numbers as they are printed, and those they were made of. @type {[string[], number[]]} */
  let [shorts, told] = [[], []];
  let focus = { row: 0, column: 0 };
  /** @type {{ values: ArrayLike<number>, dtype: string, scale: any, limit: number } | null} */
  let shown = null;
  /** @type {{ row: number, column: number } | null} */
  let asked = null; // a cell whose number is to be predicted
  let anyBeyond = false;
  let printed = true; // whether the cells are large enough for their numbers
  let wasNumbered = false; // whether each cell of the grid has one of its own
  const isAsked = (row, column) => asked !== null && asked.row === row && asked.column === column;

  const numbered = () => spec.numbers ?? Math.max(spec.rows.length, spec.columns.length) <= numbersUpTo;
  const cellAt = (row, column) => (numbered() ? cells.at(row, column) : cells.at(0, 0));
  const valueAt = (row, column) => (shown ? shown.values[row * spec.columns.length + column] : NaN);

  /** Do something for each place, in reading order. @param {(row: number, column: number, index: number) => void} task */
  function eachPlace(task) {
    for (let row = 0, index = 0; row < spec.rows.length; row++)
      for (let column = 0; column < spec.columns.length; column++) task(row, column, index++);
  }

  /** Print a cell's number, where it is read. @param {number} row @param {number} column @param {number} index */
  function letter(row, column, index) {
    if (isAsked(row, column)) return numbers.write(row, column, ASKED, "cv-asked");
    const value = valueAt(row, column);
    if (!printed || !shown) return numbers.write(row, column, "", "");
    if (value === 0) return numbers.write(row, column, "0", marked[index] ? "cv-zero cv-marked" : "cv-zero");
    const white = needsWhiteInk(colorOf(shown.scale, Number.isFinite(value) ? value : 0, shown.limit));
    numbers.write(row, column, shorts[index], white ? "cv-white" : "");
  }

  function build() {
    const [height, width] = [spec.rows.length, spec.columns.length];
    shown = null; // numbers that were laid out otherwise: in these rows and columns they would stand in other cells
    svg.setAttribute("viewBox", `0 0 ${width * CELL} ${height * CELL}`);
    svg.setAttribute("aria-rowcount", String(height));
    svg.setAttribute("aria-colcount", String(width));
    svg.classList.toggle("cv-numbered", numbered());
    gaps.setAttribute("d", numbered() ? gapsBetween(height, width) : "");
    [marked, unread] = [[], []];
    if (numbered())
      eachPlace((row, column) => {
        marked.push(isMarked(spec, row, column));
        unread.push(isUnread(spec, row, column));
      });
    bands.replaceChildren(...makeBands(spec, uid));
    numbers.fit(numbered() ? height : 0, numbered() ? width : 0);
    fitCells(height, width);
  }

  /** @param {number} height @param {number} width */
  function fitCells(height, width) {
    const held = cells.el.contains(focusOf(cells.el));
    if (numbered() !== wasNumbered) cells.fit(0, 0); // the one cell that stood for all is none of them
    wasNumbered = numbered();
    cells.fit(wasNumbered ? height : 1, wasNumbered ? width : 1);
    focus = { row: Math.min(focus.row, height - 1), column: Math.min(focus.column, width - 1) };
    moveCursor();
    const cell = cellAt(focus.row, focus.column);
    if (cell.getAttribute("tabindex") !== "0") cell.setAttribute("tabindex", "0");
    if (held && focusOf(cells.el) !== cell) cell.focus({ preventScroll: true }); // else the next key would go nowhere
  }

  /** Name the cells by the numbers that are shown. */
  function nameCells() {
    eachPlace((row, column, index) => {
      const hidden = isAsked(row, column);
      cells.name(row, column, hidden ? "" : String(valueAt(row, column)), hidden ? ASKED : shorts[index]);
    });
  }

  /** Mark the numbers that are larger than the colours tell. */
  function markBeyond() {
    if (!shown) return;
    const { values, limit } = shown;
    const found = [];
    for (let index = 0; index < values.length; index++) if (isBeyond(values[index], limit)) found.push(index);
    anyBeyond = found.length > 0;
    const d = corners(found, spec.columns.length, numbered() ? 12 : 24);
    if (beyond.getAttribute("d") !== d) beyond.setAttribute("d", d);
  }

  /** In a large panel one cell stands for all: it moves to where the focus is. */
  function moveCursor() {
    if (numbered()) return;
    const value = shown ? valueAt(focus.row, focus.column) : 0;
    cells.move(focus.row, focus.column, String(value), formatNumber(value));
  }

  /**
   * @param {number} row @param {number} column @param {boolean} [take] whether to take the keyboard focus
   * @param {boolean} [seen] whether it is in sight: what is pointed at is, and the page must not move below the pointer
   */
  function focusCell(row, column, take = true, seen = false) {
    const [height, width] = [spec.rows.length, spec.columns.length];
    cellAt(focus.row, focus.column).setAttribute("tabindex", "-1");
    focus = { row: clamp(row, height), column: clamp(column, width) };
    moveCursor();
    const cell = cellAt(focus.row, focus.column);
    cell.setAttribute("tabindex", "0");
    if (take) cell.focus({ preventScroll: seen });
    events.onFocus(focus.row, focus.column);
  }

  /** @param {KeyboardEvent} event */
  function onKey(event) {
    const move = KEYS[event.key];
    if (events.onArrow?.(event, focus.row, focus.column)) {
      // the 1 is carried, or a number is changed
    } else if (move && !event.altKey && !event.metaKey) {
      const edge = event.ctrlKey && (event.key === "Home" || event.key === "End");
      focusCell(focus.row + (edge ? move[1] : move[0]), focus.column + move[1]);
    } else if (event.key === "Escape") {
      if (events.onRelease() === false) return; // there was nothing: whoever is around may take the key
    } else if (event.key === "ContextMenu" || (event.key === "F10" && event.shiftKey)) {
      events.onMenu();
    } else if (event.key === "Enter" || event.key === "F2") {
      if (spec.editable) events.onEdit(focus.row, focus.column, "");
      else events.onSelect(focus.row, focus.column);
    } else if (event.key === " ") {
      events.onSelect(focus.row, focus.column);
    } else if (spec.editable && /^[-\u2212.,\d]$/.test(event.key) && !event.ctrlKey && !event.metaKey) {
      events.onEdit(focus.row, focus.column, event.key);
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation(); // a notebook would take the arrow keys for its own cells
  }

  /** @param {MouseEvent} event @returns {[number, number]} */
  function place(event) {
    const box = svg.getBoundingClientRect();
    const row = Math.floor(((event.clientY - box.top) / box.height) * spec.rows.length);
    const column = Math.floor(((event.clientX - box.left) / box.width) * spec.columns.length);
    return [clamp(row, spec.rows.length), clamp(column, spec.columns.length)];
  }

  svg.addEventListener("keydown", onKey);
  let tapped = ""; // the cell that a finger tapped last: a second tap on it opens it, however slow
  let opened = false; // whether that second tap has opened it, so that a double click need not
  svg.addEventListener("click", (event) => {
    const [row, column] = place(event);
    focusCell(row, column, true, true);
    const again =
      /** @type {PointerEvent} */ (event).pointerType === "touch" &&
      spec.editable &&
      tapped === `${row},${column}`;
    [tapped, opened] = [again ? "" : `${row},${column}`, again];
    if (again) events.onEdit(row, column, "");
    else events.onSelect(row, column);
  });
  svg.addEventListener("dblclick", (event) => {
    if (spec.editable && !opened) events.onEdit(...place(event), "");
  });
  svg.addEventListener("pointermove", (event) => events.onFocus(...place(event)));
  svg.addEventListener("pointerleave", () => events.onLeave());
  svg.addEventListener("focusout", () => events.onLeave());
  // A screen reader puts the focus into any cell by itself: the cursor follows it there.
  svg.addEventListener("focusin", (event) => {
    const at = /** @type {SVGElement} */ (event.target).dataset.cell?.split(",").map(Number) ?? [
      focus.row,
      focus.column,
    ];
    if (at[0] === focus.row && at[1] === focus.column) events.onFocus(focus.row, focus.column);
    else focusCell(at[0], at[1], false);
  });

  return {
    svg,
    place,
    focusCell,
    numbered,
    /** Whether a number is larger than the colours tell. */
    anyBeyond: () => anyBeyond,
    /** How wide the widest number is, in units of its letters' size. */
    widest: () => shorts.reduce((most, short) => Math.max(most, widthOf(short)), 0),
    /** A cell in its colours, for what moves over the grid. @param {number} row @param {number} column */
    copy(row, column) {
      const text = numbers.at(row, column);
      const { scale, limit } = /** @type {NonNullable<typeof shown>} */ (shown);
      const value = valueAt(row, column);
      const fill = `rgb(${colorOf(scale, Number.isFinite(value) ? value : 0, limit)
        .map(Math.round)
        .join()})`;
      const box = svgElement("rect", {
        x: column * CELL,
        y: row * CELL,
        width: CELL,
        height: CELL,
        style: `fill: ${fill}`,
      });
      return svgElement("g", {}, box, ...(text ? [text.cloneNode(true)] : []));
    },
    /** @param {number} row @param {number} column */
    value: valueAt,

    /** @param {GridSpec} next */
    setSpec(next) {
      spec = next;
      svg.setAttribute("aria-label", next.label);
      const { rows, columns, unread_rows, unread_columns, editable, words, numbers: own } = next;
      const drawn = JSON.stringify([rows, columns, unread_rows, unread_columns, editable, words, own]);
      if (drawn !== built) build();
      built = drawn;
    },

    /** @param {ArrayLike<number>} values @param {string} dtype @param {any} scale @param {number} limit */
    setValues(values, dtype, scale, limit) {
      const before = shown;
      shown = { values, dtype, scale, limit };
      const isSame = before?.dtype === dtype && before.scale === scale && before.limit === limit;
      if (isSame && equal(before.values, values)) return false; // as most panels at a move
      markBeyond();
      if (!numbered()) {
        [shorts, told] = [[], []];
        svg.removeAttribute("data-crossed");
        moveCursor();
        return true;
      }
      let crossed = false; // whether a number stands where nothing is read
      for (let index = 0; index < values.length; index++) {
        if (!Object.is(values[index], told[index])) shorts[index] = formatNumber(values[index]);
        crossed ||= values[index] !== 0 && unread[index];
      }
      shorts.length = values.length;
      told = Array.from(values);
      if (printed || asked) eachPlace(letter);
      nameCells();
      svg.toggleAttribute("data-crossed", crossed);
      return true;
    },

    /**
     * Light cells up: a frame in a colour, or a thin dashed one where a factor is zero by construction.
     * @param {{ row: number, column: number, color: string, real: boolean }[]} links
     * @param {{ row: number, column: number }[] | null} [clear] what stays clear beside them while all others fade
     */
    light(links, clear = null) {
      const holes = clear ? holesIn(spec, [...links, ...clear]) : "";
      if (dim.getAttribute("d") !== holes) dim.setAttribute("d", holes);
      const inside = links.filter(
        ({ row, column }) => row < spec.rows.length && column < spec.columns.length,
      );
      const names = (real) =>
        inside
          .filter((link) => link.real === real)
          .map(({ row, column }) => `${row},${column}`)
          .join(" ");
      if (!inside.length && !lights.childElementCount) return;
      drawFrames(lights, inside);
      lights.setAttribute("data-lit", names(true));
      lights.setAttribute("data-zero", names(false));
    },

    /** Whether the numbers are drawn. @param {boolean} are */
    print(are) {
      if (are === printed) return;
      printed = are;
      if (numbered()) eachPlace(letter);
    },

    /** Keep a cell's number to itself, until it is predicted; or none. @param {{ row: number, column: number } | null} cell */
    hide(cell) {
      if (cell?.row === asked?.row && cell?.column === asked?.column) return;
      asked = cell;
      svg.toggleAttribute("data-asked", Boolean(cell));
      if (!shown || !numbered()) return;
      eachPlace(letter);
      nameCells();
    },
    isAsked,

    /** Draw a ring around a cell, or none. @param {{ row: number, column: number } | null} cell */
    mark(cell) {
      const inside = cell && cell.row < spec.rows.length && cell.column < spec.columns.length;
      const shows = inside ? "visible" : "hidden";
      if (ring.getAttribute("visibility") !== shows) ring.setAttribute("visibility", shows);
      if (!cell || !inside) return;
      ring.setAttribute("x", String(cell.column * CELL));
      ring.setAttribute("y", String(cell.row * CELL));
    },

    /** The cell's name, place, value and role in words. @param {number} row @param {number} column */
    describe(row, column) {
      if (!shown) return "";
      if (isAsked(row, column)) return say("cell.asked", { name: spec.label, row, column });
      const number = valueAt(row, column);
      const far = isBeyond(number, shown.limit) ? say("cell.beyond", { end: formatNumber(shown.limit) }) : "";
      const roles = [roleOf(spec, row, column), far].filter(Boolean);
      const role = roles.length > 1 ? say("cell.both", { one: roles[0], other: far }) : roles.join("");
      const value = fullNumber(number, shown.dtype);
      return say(role ? "cell.read_role" : "cell.read", { name: spec.label, row, column, value, role });
    },
  };
}

/** @param {number} index @param {number} count */
function clamp(index, count) {
  return Math.min(Math.max(index, 0), count - 1);
}
