// @ts-check
// The layer over a heatmap: numbers, hatching, focus, and the accessible grid. It draws with the size of a cell
// fixed in its own units, so that resizing the panel needs no work.
import WORDS from "../../../facts/words/board.json" with { type: "json" };
import { svgElement, focusOf, setText } from "../base/dom.js";
import { colorOf, formatNumber, fullNumber, needsWhiteInk } from "../base/format.js";
import { CELL, corners, frames, holesIn, isMarked, isUnread, linesBetween, makeBands, patterns, roleOf } from "./grid_marks.js";
import { isBeyond } from "../picture/scales.js";
import { sentences } from "../base/words.js";

const say = sentences(WORDS);
const NUMBERS_UP_TO = 12;
const BLANK = "cv-blank"; // a 0 that its mark tells: nothing is printed
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
 *   onRelease: () => boolean | void }} GridEvents
 * @typedef {{ box: SVGElement, text: SVGElement | null, short: string, look: string }} Cell `short`: its number as it is
 *   printed, `look`: the classes of its letters
 */

/**
 * Make the layer.
 * @param {string} uid unique in the page: names the hatching patterns
 * @param {GridEvents} events
 * @param {number} [numbersUpTo] rows or columns; in a larger grid a cell has no room for its number
 */
export function createGrid(uid, events, numbersUpTo = NUMBERS_UP_TO) {
  const bands = svgElement("g", { "aria-hidden": "true" });
  const body = svgElement("g", { role: "presentation" });
  const numbers = svgElement("g", { class: "cv-printed", "aria-hidden": "true" });
  const ring = svgElement("rect", { class: "cv-ring", width: CELL, height: CELL, visibility: "hidden" });
  const lines = svgElement("path", { class: "cv-lines", "aria-hidden": "true" });
  const lights = svgElement("g", { class: "cv-lights", "aria-hidden": "true" });
  const beyond = svgElement("path", { class: "cv-beyond", "aria-hidden": "true" });
  // Listening for the focus makes an svg a tab stop of its own in Chromium: the one stop is a cell.
  const attributes = { class: "cv-grid", role: "grid", tabindex: -1 };
  const dim = svgElement("path", { class: "cv-dim", "fill-rule": "evenodd" });
  const svg = svgElement("svg", attributes, patterns(uid), bands, lights, lines, body, numbers, dim, beyond, ring); // no frame lies over a number
  /** @type {GridSpec} */
  let spec = { rows: "", columns: "", unread_rows: [], unread_columns: [], label: "", editable: false };
  /** @type {{ line: SVGElement, cells: Cell[] }[]} */
  const rows = [];
  /** @type {Cell[]} */
  let cells = []; // of all rows
  /** Of each cell whether a mark says what it is, and whether it is never read. @type {[boolean[], boolean[]]} */
  let [marked, unread] = [[], []];
  let focus = { row: 0, column: 0 };
  /** @type {{ values: ArrayLike<number>, dtype: string, scale: any, limit: number } | null} */
  let shown = null;
  /** @type {{ row: number, column: number } | null} */
  let asked = null; // a cell whose number is to be predicted
  let anyBeyond = false;
  let printed = true; // whether the cells are large enough for their numbers
  const isAsked = (row, column) => asked !== null && asked.row === row && asked.column === column;

  const numbered = () => spec.numbers ?? Math.max(spec.rows.length, spec.columns.length) <= numbersUpTo;
  const cellAt = (row, column) => (numbered() ? cells[row * spec.columns.length + column] : cells[0]);

  /** @param {number} row @param {number} column */
  function makeCell(row, column) {
    const place = { x: column * CELL, y: row * CELL, width: CELL, height: CELL, "data-cell": `${row},${column}` };
    const box = svgElement("rect", { role: "gridcell", class: "cv-cell", tabindex: -1, "aria-colindex": column + 1, ...place });
    return { box, text: null, short: "", look: "" };
  }

  /** Print a cell's number, where there is room for it: letters that are not seen would cost as much as those that are. @param {Cell} cell @param {number} index */
  function letter(cell, index) {
    const { short, look } = cell;
    if (short !== ASKED && (!printed || look === BLANK)) {
      cell.text?.remove();
      cell.text = null;
      return;
    }
    if (!cell.text) {
      const [row, column] = [Math.floor(index / spec.columns.length), index % spec.columns.length];
      numbers.append((cell.text = svgElement("text", { x: (column + 0.5) * CELL, y: (row + 0.5) * CELL })));
    }
    setText(cell.text, short);
    if (cell.text.getAttribute("class") !== look) cell.text.setAttribute("class", look);
  }

  /** @param {Cell} cell */
  function drop({ box, text }) {
    box.remove();
    text?.remove();
  }

  /** Bring the cells to their number; those that are there stay, and what stays need not be laid out anew. */
  function fit(height, width) {
    for (const { line, cells: own } of rows.splice(height)) {
      own.forEach(drop);
      line.remove();
    }
    while (rows.length < height) {
      const line = svgElement("g", { role: "row", "aria-rowindex": rows.length + 1 });
      rows.push({ line, cells: [] });
      body.append(line);
    }
    rows.forEach(({ line, cells: own }, row) => {
      own.splice(width).forEach(drop);
      while (own.length < width) own.push(makeCell(row, own.length));
      line.append(...own.slice(line.childElementCount).map(({ box }) => box));
    });
    cells = rows.flatMap((row) => row.cells);
  }

  /** @param {boolean} wasNumbered */
  function build(wasNumbered) {
    const [height, width] = [spec.rows.length, spec.columns.length];
    svg.setAttribute("viewBox", `0 0 ${width * CELL} ${height * CELL}`);
    svg.setAttribute("aria-rowcount", String(height));
    svg.setAttribute("aria-colcount", String(width));
    svg.classList.toggle("cv-numbered", numbered());
    lines.setAttribute("d", numbered() ? linesBetween(height, width) : "");
    const places = numbered() ? [...spec.rows].flatMap((_, row) => [...spec.columns].map((__, column) => /** @type {const} */ ([row, column]))) : [];
    marked = places.map(([row, column]) => isMarked(spec, row, column));
    unread = places.map(([row, column]) => isUnread(spec, row, column));
    bands.replaceChildren(...makeBands(spec, uid));
    const held = body.contains(focusOf(body));
    if (numbered() !== wasNumbered) fit(0, 0); // the one cell that stood for all is none of them
    fit(numbered() ? height : 1, numbered() ? width : 1);
    focus = { row: Math.min(focus.row, height - 1), column: Math.min(focus.column, width - 1) };
    moveCursor();
    const { box } = cellAt(focus.row, focus.column);
    box.setAttribute("tabindex", "0");
    if (held) box.focus({ preventScroll: true }); // else the next key would go nowhere
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
    const { box } = cells[0];
    const { row, column } = focus;
    box.setAttribute("data-cell", `${row},${column}`);
    box.setAttribute("aria-colindex", String(column + 1));
    box.parentElement?.setAttribute("aria-rowindex", String(row + 1));
    box.setAttribute("x", String(column * CELL));
    box.setAttribute("y", String(row * CELL));
    const value = shown ? shown.values[row * spec.columns.length + column] : 0;
    box.setAttribute("data-value", String(value));
    box.setAttribute("aria-label", formatNumber(value));
  }

  /**
   * @param {number} row @param {number} column @param {boolean} [take] whether to take the keyboard focus
   * @param {boolean} [seen] whether it is in sight: what is pointed at is, and the page must not move below the pointer
   */
  function focusCell(row, column, take = true, seen = false) {
    const [height, width] = [spec.rows.length, spec.columns.length];
    cellAt(focus.row, focus.column).box.setAttribute("tabindex", "-1");
    focus = { row: clamp(row, height), column: clamp(column, width) };
    moveCursor();
    const cell = cellAt(focus.row, focus.column).box;
    cell.setAttribute("tabindex", "0");
    if (take) cell.focus({ preventScroll: seen });
    events.onFocus(focus.row, focus.column);
  }

  /** @param {KeyboardEvent} event */
  function onKey(event) {
    const move = KEYS[event.key];
    if (move && !event.altKey && !event.metaKey) {
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
    const again = /** @type {PointerEvent} */ (event).pointerType === "touch" && spec.editable && tapped === `${row},${column}`;
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
    const at = /** @type {SVGElement} */ (event.target).dataset.cell?.split(",").map(Number) ?? [focus.row, focus.column];
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
    /** How many letters the longest number has. */
    longest: () => cells.reduce((most, { short }) => Math.max(most, short.length), 0),
    /** A cell in its colours, for what moves over the grid. @param {number} row @param {number} column */
    copy(row, column) {
      const { text } = cells[row * spec.columns.length + column];
      const { values, scale, limit } = /** @type {NonNullable<typeof shown>} */ (shown);
      const value = values[row * spec.columns.length + column];
      const fill = `rgb(${colorOf(scale, Number.isFinite(value) ? value : 0, limit).map(Math.round).join()})`;
      const box = svgElement("rect", { x: column * CELL, y: row * CELL, width: CELL, height: CELL, style: `fill: ${fill}` });
      return svgElement("g", {}, box, ...(text ? [text.cloneNode(true)] : []));
    },
    /** @param {number} row @param {number} column */
    value: (row, column) => (shown ? shown.values[row * spec.columns.length + column] : NaN),

    /** @param {GridSpec} next */
    setSpec(next) {
      const [before, wasNumbered] = [JSON.stringify({ ...spec, label: "" }), numbered()];
      spec = next;
      svg.setAttribute("aria-label", next.label);
      if (JSON.stringify({ ...next, label: "" }) !== before) build(wasNumbered);
    },

    /** @param {ArrayLike<number>} values @param {string} dtype @param {any} scale @param {number} limit */
    setValues(values, dtype, scale, limit) {
      shown = { values, dtype, scale, limit };
      let crossed = false; // whether a number stands where nothing is read
      markBeyond();
      if (!numbered()) {
        svg.removeAttribute("data-crossed");
        return moveCursor();
      }
      cells.forEach((cell, index) => {
        const { box } = cell;
        const value = values[index];
        const hidden = isAsked(Math.floor(index / spec.columns.length), index % spec.columns.length);
        const full = hidden ? "" : String(value);
        if (box.getAttribute("data-value") !== full) {
          cell.short = hidden ? ASKED : formatNumber(value);
          box.setAttribute("data-value", full);
          box.setAttribute("aria-label", cell.short);
          box.classList.toggle("cv-asked", hidden);
        }
        const ink = needsWhiteInk(colorOf(scale, Number.isFinite(value) ? value : 0, limit));
        const blank = value === 0 && marked[index];
        cell.look = hidden ? "cv-asked" : blank ? BLANK : looks(cell.short, ink);
        letter(cell, index);
        crossed ||= value !== 0 && unread[index];
      });
      svg.toggleAttribute("data-crossed", crossed);
    },

    /**
     * Light cells up: a frame in a colour, or a thin dashed one where a factor is zero by construction.
     * @param {{ row: number, column: number, color: string, real: boolean }[]} links
     * @param {{ row: number, column: number }[] | null} [clear] what stays clear beside them while all others fade
     */
    light(links, clear = null) {
      dim.setAttribute("d", clear ? holesIn(spec, [...links, ...clear]) : "");
      const inside = links.filter(({ row, column }) => row < spec.rows.length && column < spec.columns.length);
      const names = (real) => inside.filter((link) => link.real === real).map(({ row, column }) => `${row},${column}`).join(" ");
      if (!inside.length && !lights.childElementCount) return;
      lights.replaceChildren(...frames(inside));
      lights.setAttribute("data-lit", names(true));
      lights.setAttribute("data-zero", names(false));
    },

    /** Whether the numbers are drawn. @param {boolean} are */
    print(are) {
      if (are === printed) return;
      printed = are;
      if (numbered()) cells.forEach(letter);
    },

    /** Keep a cell's number to itself, until it is predicted; or none. @param {{ row: number, column: number } | null} cell */
    hide(cell) {
      if (cell?.row === asked?.row && cell?.column === asked?.column) return;
      asked = cell;
      if (shown) this.setValues(shown.values, shown.dtype, shown.scale, shown.limit);
    },
    isAsked,

    /** Draw a ring around a cell, or none. @param {{ row: number, column: number } | null} cell */
    mark(cell) {
      const inside = cell && cell.row < spec.rows.length && cell.column < spec.columns.length;
      ring.setAttribute("visibility", inside ? "visible" : "hidden");
      if (!cell || !inside) return;
      ring.setAttribute("x", String(cell.column * CELL));
      ring.setAttribute("y", String(cell.row * CELL));
    },

    /** The cell's name, place, value and role in words. @param {number} row @param {number} column */
    describe(row, column) {
      if (!shown) return "";
      if (isAsked(row, column)) return say("cell.asked", { name: spec.label, row, column });
      const number = shown.values[row * spec.columns.length + column];
      const far = isBeyond(number, shown.limit) ? say("cell.beyond", { end: formatNumber(shown.limit) }) : "";
      const roles = [roleOf(spec, row, column), far].filter(Boolean);
      const role = roles.length > 1 ? say("cell.both", { one: roles[0], other: far }) : roles.join("");
      const value = fullNumber(number, shown.dtype);
      return say(role ? "cell.read_role" : "cell.read", { name: spec.label, row, column, value, role });
    },
  };
}

/** The classes of a number's letters. @param {string} short @param {boolean} white on a dark ground */
function looks(short, white) {
  const wide = short.length === 4 && !short.includes("."); // a point is narrow
  return [short.length > 2 && `cv-long${short.length}`, wide && "cv-wide", white && "cv-white"].filter(Boolean).join(" ");
}

/** @param {number} index @param {number} count */
function clamp(index, count) {
  return Math.min(Math.max(index, 0), count - 1);
}
