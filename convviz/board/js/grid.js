// @ts-check
// The layer over a heatmap: numbers, hatching, focus, and the accessible grid. It draws with the size of a cell
// fixed in its own units, so that resizing the panel needs no work.
import { svgElement, focusOf, setText } from "./dom.js";
import { colorOf, formatNumber, fullNumber, needsWhiteInk } from "./format.js";

export const CELL = 40;
const NUMBERS_UP_TO = 12;
const BANDS = { p: "padding", i: "inserted", r: "remainder" };
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
const ROLE_WORDS = {
  padding: "padding",
  inserted: "zero inserted by the stride",
  remainder: "padding for the remainder",
  unread: "never read",
}; // a transposed convolution says some of it in other words: spec.words

/**
 * @typedef {{ rows: string, columns: string, unread_rows: number[], unread_columns: number[], label: string,
 *   editable: boolean, words?: Record<string, string>, numbers?: boolean }} GridSpec `numbers`: whether the cells have
 *   room for them, where their count does not tell it
 * @typedef {{ onFocus: (row: number, column: number) => void, onSelect: (row: number, column: number) => void,
 *   onEdit: (row: number, column: number, typed: string) => void, onMenu: () => void, onLeave: () => void,
 *   onRelease: () => void }} GridEvents
 */

/**
 * What a cell is, in words; empty for data.
 * @param {GridSpec} spec @param {number} row @param {number} column
 */
export function roleOf(spec, row, column) {
  const words = [];
  const named = { ...ROLE_WORDS, ...spec.words };
  const letters = [spec.rows[row], spec.columns[column]];
  for (const letter of ["p", "r", "i"]) {
    if (letters.includes(letter)) {
      words.push(named[BANDS[letter]]);
      break;
    }
  }
  if (spec.unread_rows.includes(row) || spec.unread_columns.includes(column)) words.push(named.unread);
  return words.join(", ");
}

/**
 * Make the layer.
 * @param {string} uid unique in the page: names the hatching patterns
 * @param {GridEvents} events
 * @param {number} [numbersUpTo] rows or columns; in a larger grid a cell has no room for its number
 */
export function createGrid(uid, events, numbersUpTo = NUMBERS_UP_TO) {
  const bands = svgElement("g", { "aria-hidden": "true" });
  const body = svgElement("g", { role: "presentation" });
  const ring = svgElement("rect", { class: "cv-ring", width: CELL, height: CELL, visibility: "hidden" });
  const lights = svgElement("g", { class: "cv-lights", "aria-hidden": "true" });
  // Listening for the focus makes an svg a tab stop of its own in Chromium: the one stop is a cell.
  const attributes = { class: "cv-grid", role: "grid", tabindex: -1 };
  const svg = svgElement("svg", attributes, patterns(uid), bands, lights, body, ring); // no frame lies over a number
  /** @type {GridSpec} */
  let spec = { rows: "", columns: "", unread_rows: [], unread_columns: [], label: "", editable: false };
  /** @type {{ group: SVGElement, text: SVGElement }[]} */
  let cells = [];
  let focus = { row: 0, column: 0 };
  /** @type {{ values: ArrayLike<number>, dtype: string, scale: any, limit: number } | null} */
  let shown = null;

  const numbered = () => spec.numbers ?? Math.max(spec.rows.length, spec.columns.length) <= numbersUpTo;
  const cellAt = (row, column) => (numbered() ? cells[row * spec.columns.length + column] : cells[0]);

  /** @param {number} row @param {number} column */
  function makeCell(row, column) {
    const text = svgElement("text", { x: (column + 0.5) * CELL, y: (row + 0.5) * CELL });
    const box = svgElement("rect", { x: column * CELL, y: row * CELL, width: CELL, height: CELL });
    const group = svgElement(
      "g",
      { role: "gridcell", class: "cv-cell", tabindex: -1, "data-cell": `${row},${column}`, "aria-colindex": column + 1 },
      box,
      text,
    );
    return { group, text };
  }

  function build() {
    const [height, width] = [spec.rows.length, spec.columns.length];
    svg.setAttribute("viewBox", `0 0 ${width * CELL} ${height * CELL}`);
    svg.setAttribute("aria-rowcount", String(height));
    svg.setAttribute("aria-colcount", String(width));
    svg.classList.toggle("cv-numbered", numbered());
    bands.replaceChildren(...makeBands(spec, uid));
    focus = { row: Math.min(focus.row, height - 1), column: Math.min(focus.column, width - 1) };
    cells = [];
    const rows = [];
    for (let row = 0; row < (numbered() ? height : 1); row++) {
      const line = svgElement("g", { role: "row", "aria-rowindex": row + 1 });
      for (let column = 0; column < (numbered() ? width : 1); column++) {
        const cell = makeCell(row, column);
        cells.push(cell);
        line.append(cell.group);
      }
      rows.push(line);
    }
    const held = body.contains(focusOf(body));
    body.replaceChildren(...rows);
    moveCursor();
    const { group } = cellAt(focus.row, focus.column);
    group.setAttribute("tabindex", "0");
    if (held) group.focus({ preventScroll: true }); // else the next key would go nowhere
  }

  /** In a large panel one cell stands for all: it moves to where the focus is. */
  function moveCursor() {
    if (numbered()) return;
    const { group, text } = cells[0];
    const { row, column } = focus;
    group.setAttribute("data-cell", `${row},${column}`);
    group.setAttribute("aria-colindex", String(column + 1));
    group.parentElement?.setAttribute("aria-rowindex", String(row + 1));
    group.firstElementChild?.setAttribute("x", String(column * CELL));
    group.firstElementChild?.setAttribute("y", String(row * CELL));
    const value = shown ? shown.values[row * spec.columns.length + column] : 0;
    group.setAttribute("data-value", String(value));
    setText(text, formatNumber(value));
    group.setAttribute("aria-label", formatNumber(value)); // its text is not visible
  }

  /** @param {number} row @param {number} column @param {boolean} [take] whether to take the keyboard focus */
  function focusCell(row, column, take = true) {
    const [height, width] = [spec.rows.length, spec.columns.length];
    cellAt(focus.row, focus.column).group.setAttribute("tabindex", "-1");
    focus = { row: clamp(row, height), column: clamp(column, width) };
    moveCursor();
    const cell = cellAt(focus.row, focus.column).group;
    cell.setAttribute("tabindex", "0");
    if (take) cell.focus({ preventScroll: false });
    events.onFocus(focus.row, focus.column);
  }

  /** @param {KeyboardEvent} event */
  function onKey(event) {
    const move = KEYS[event.key];
    if (move && !event.altKey && !event.metaKey) {
      const edge = event.ctrlKey && (event.key === "Home" || event.key === "End");
      focusCell(focus.row + (edge ? move[1] : move[0]), focus.column + move[1]);
    } else if (event.key === "Escape") {
      events.onRelease();
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
  svg.addEventListener("click", (event) => {
    const [row, column] = place(event);
    focusCell(row, column);
    events.onSelect(row, column);
  });
  svg.addEventListener("dblclick", (event) => {
    if (spec.editable) events.onEdit(...place(event), "");
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
    focusCell,
    numbered,
    /** @param {number} row @param {number} column */
    value: (row, column) => (shown ? shown.values[row * spec.columns.length + column] : NaN),

    /** @param {GridSpec} next */
    setSpec(next) {
      const before = JSON.stringify({ ...spec, label: "" });
      spec = next;
      svg.setAttribute("aria-label", next.label);
      if (JSON.stringify({ ...next, label: "" }) !== before) build();
    },

    /** @param {ArrayLike<number>} values @param {string} dtype @param {any} scale @param {number} limit */
    setValues(values, dtype, scale, limit) {
      shown = { values, dtype, scale, limit };
      if (!numbered()) return moveCursor();
      cells.forEach(({ group, text }, index) => {
        const value = values[index];
        const full = String(value);
        const ink = needsWhiteInk(colorOf(scale, Number.isFinite(value) ? value : 0, limit));
        if (group.getAttribute("data-value") !== full) {
          group.setAttribute("data-value", full);
          const short = formatNumber(value);
          setText(text, short);
          text.setAttribute("class", short.length > 5 ? "cv-tiny" : short.length > 4 ? "cv-small" : "");
        }
        const [row, column] = [Math.floor(index / spec.columns.length), index % spec.columns.length];
        group.classList.toggle("cv-white", ink);
        group.classList.toggle("cv-blank", value === 0 && (spec.rows[row] !== "d" || spec.columns[column] !== "d"));
      });
    },

    /**
     * Light cells up: a frame in a colour, or a thin dashed one where a factor is zero by construction.
     * @param {{ row: number, column: number, color: string, real: boolean }[]} links
     */
    light(links) {
      const inside = links.filter(({ row, column }) => row < spec.rows.length && column < spec.columns.length);
      const names = (real) => inside.filter((link) => link.real === real).map(({ row, column }) => `${row},${column}`).join(" ");
      if (!inside.length && !lights.childElementCount) return;
      lights.replaceChildren(...frames(inside));
      lights.setAttribute("data-lit", names(true));
      lights.setAttribute("data-zero", names(false));
    },

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
      const role = roleOf(spec, row, column);
      const value = fullNumber(shown.values[row * spec.columns.length + column], shown.dtype);
      return `${spec.label}, row ${row}, column ${column}: ${value}${role ? ` (${role})` : ""}`;
    },
  };
}

/**
 * One path a colour, not a shape a cell: a weight can light up every cell of two panels.
 * @param {{ row: number, column: number, color: string, real: boolean }[]} links
 */
function frames(links) {
  const paths = new Map();
  for (const { row, column, color, real } of links) {
    const key = real ? color : "";
    const inset = 2;
    const [x, y, side] = [column * CELL + inset, row * CELL + inset, CELL - 2 * inset];
    paths.set(key, `${paths.get(key) ?? ""}M${x} ${y}h${side}v${side}h${-side}z`);
  }
  return [...paths].flatMap(([color, d]) =>
    color
      ? [svgElement("path", { d, class: "cv-halo" }), svgElement("path", { d, class: "cv-lit", style: `stroke: ${color}` })]
      : [svgElement("path", { d, class: "cv-covered" })],
  );
}

/** @param {number} index @param {number} count */
function clamp(index, count) {
  return Math.min(Math.max(index, 0), count - 1);
}

/** @param {string} uid */
function patterns(uid) {
  const line = (name, side, ...shapes) =>
    svgElement("pattern", { id: `${uid}-${name}`, width: side, height: side, patternUnits: "userSpaceOnUse" }, ...shapes);
  const path = (d, name) => svgElement("path", { d, class: `cv-ink-${name}` });
  return svgElement(
    "defs",
    {},
    line("padding", 10, path("M2 2h1.6v1.6h-1.6zM7 7h1.6v1.6h-1.6z", "padding")),
    line("inserted", CELL, path("M0 0h9L0 9z", "inserted")), // a corner, no tint: tints are values
    line("remainder", 10, path("M2 2h1.6v1.6h-1.6zM7 7h1.6v1.6h-1.6z M0 10L10 0", "remainder")),
    line("unread", 10, path("M-2 2L2 -2M0 10L10 0M8 12L12 8", "unread")),
  );
}

/**
 * Bands over whole rows and columns, drawn once: padding first, then inserted zeros, then what is never read.
 * @param {GridSpec} spec @param {string} uid
 */
function makeBands(spec, uid) {
  const [height, width] = [spec.rows.length, spec.columns.length];
  const row = (index, name) => band(0, index, width, 1, name, uid);
  const column = (index, name) => band(index, 0, 1, height, name, uid);
  const shapes = [];
  // Zeros are inserted between data only, so their bands end where the padding starts.
  const [top, bottom] = [spec.rows.indexOf("d"), spec.rows.lastIndexOf("d") + 1];
  const [left, right] = [spec.columns.indexOf("d"), spec.columns.lastIndexOf("d") + 1];
  [...spec.rows].forEach((own, index) => {
    if (own === "i" && left >= 0) shapes.push(band(left, index, right - left, 1, BANDS.i, uid));
  });
  [...spec.columns].forEach((own, index) => {
    if (own === "i" && top >= 0) shapes.push(band(index, top, 1, bottom - top, BANDS.i, uid));
  });
  for (const letter of ["p", "r"]) {
    [...spec.rows].forEach((own, index) => own === letter && shapes.push(row(index, BANDS[letter])));
    [...spec.columns].forEach((own, index) => own === letter && shapes.push(column(index, BANDS[letter])));
  }
  spec.unread_rows.forEach((index) => shapes.push(row(index, "unread")));
  spec.unread_columns.forEach((index) => shapes.push(column(index, "unread")));
  return shapes;
}

function band(column, row, width, height, name, uid) {
  return svgElement("rect", {
    class: `cv-band cv-band-${name}`,
    x: column * CELL,
    y: row * CELL,
    width: width * CELL,
    height: height * CELL,
    fill: `url(#${uid}-${name})`,
  });
}
