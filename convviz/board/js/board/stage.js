// @ts-check
// The stage: all bands on one screen. How high it may be, and how large the cells of a band can be in it.

// Widths of the app from which on all bands stand on the screen, and the controls beside them.
const [WIDE, MEDIUM] = [1100, 700];
export const GAP = 8; // pixels between two things in a row
const [LOWEST, HIGHEST] = [500, 1200];
const OF_A_NOTEBOOK = 680; // a cell of a notebook is scrolled: what is higher is never seen whole
// A frame that grows with its page has no height of its own to go by; with the words above it, it is no higher than this.
const [OF_A_FRAME, FRAME] = [664, 760];
const NUMBERED_UP_TO = 12; // rows or columns of a panel whose cells are as large as its neighbours'

/** What a cell's side may be, in pixels: few sizes, so that a slider seldom changes them. */
export const LADDER = [2, 3, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30, 32, 36, 40, 44, 48, 56];

/**
 * @typedef {{ width: number, height: number }} Room
 * @typedef {{ rows: number, columns: number, least: number, before: number, around: number }} Term a panel with the signs
 *   before it: least is the width of its name, before that of the signs, around the height of what is no cell
 */

/** The largest size of the ladder that is not above this. @param {number} most */
const stepBelow = (most) => LADDER.findLast((size) => size <= most) ?? LADDER[0];

/**
 * The side of a cell for each panel of a band: one for all of them, but for a panel of many cells.
 * @param {Term[]} terms @param {Room} room @param {boolean} wraps whether a term may go to another line
 * @returns {number[]}
 */
export function fitCells(terms, room, wraps) {
  const isLarge = ({ rows, columns }) => Math.max(rows, columns) > NUMBERED_UP_TO;
  /** @param {number} cell @returns {number[]} */
  const sizes = (cell) =>
    terms.map((term) => (isLarge(term) ? Math.min(cell, stepBelow((room.height - term.around) / term.rows)) : cell));
  /** @param {number} cell */
  const fits = (cell) => {
    const lines = linesOf(terms, sizes(cell), wraps ? room.width : Infinity);
    const height = lines.reduce((sum, line) => sum + line.height, GAP * (lines.length - 1));
    return height <= room.height && lines.every(({ width }) => width <= room.width);
  };
  return sizes(LADDER.findLast(fits) ?? LADDER[0]);
}

/**
 * How the terms stand in lines, as the browser breaks them.
 * @param {Term[]} terms @param {number[]} sizes @param {number} most width of a line @returns {Room[]}
 */
function linesOf(terms, sizes, most) {
  /** @type {Room[]} */
  const lines = [];
  terms.forEach((term, index) => {
    const width = term.before + Math.max(sizes[index] * term.columns, term.least);
    const height = sizes[index] * term.rows + term.around;
    const line = lines.at(-1);
    if (!line || line.width + GAP + width > most) lines.push({ width, height });
    else Object.assign(line, { width: line.width + GAP + width, height: Math.max(line.height, height) });
  });
  return lines;
}

/**
 * Keep the height of the app's body in step with the window. `data-stage` says how wide the stage is, `data-bands`
 * whether all bands stand on it or one at a time.
 * @param {HTMLElement} body of the app @param {() => number} below what stands under it
 * @returns {() => void} stop
 */
export function followRoom(body, below) {
  const parent = /** @type {HTMLElement} */ (body.parentElement);
  const app = /** @type {HTMLElement} */ (parent.closest(".cv-page") ?? parent);
  const update = () => {
    body.dataset.stage = app.clientWidth >= WIDE ? "wide" : app.clientWidth >= MEDIUM ? "medium" : "narrow";
    body.dataset.bands = body.dataset.stage === "wide" ? "all" : "one";
    body.style.setProperty("--cv-room", `${heightFor(app, body, below())}px`);
  };
  const watcher = new ResizeObserver(update); // placed, and as wide as its page lets it be
  watcher.observe(app);
  window.addEventListener("resize", update);
  return () => {
    watcher.disconnect();
    window.removeEventListener("resize", update);
  };
}

/** @param {HTMLElement} app @param {HTMLElement} body @param {number} below */
function heightFor(app, body, below) {
  const margin = Math.ceil(parseFloat(getComputedStyle(app).paddingBottom));
  const inside = body.getBoundingClientRect().top - app.getBoundingClientRect().top;
  if (app.dataset.grows !== undefined) return Math.max(Math.min(FRAME - inside - below - margin, OF_A_FRAME), LOWEST);
  const above = app.getBoundingClientRect().top + window.scrollY;
  const own = above < 200 && !scrollerOf(app); // else it is one thing of many on its page
  const room = own ? window.innerHeight - above : Math.min(window.innerHeight - 120, OF_A_NOTEBOOK);
  return Math.round(Math.min(Math.max(room - inside - below - margin, LOWEST), HIGHEST));
}

/** What scrolls the app, if it is not the window. @param {HTMLElement} app */
function scrollerOf(app) {
  for (let at = app.parentElement; at && at !== document.body; at = at.parentElement) {
    if (/auto|scroll/.test(getComputedStyle(at).overflowY)) return at;
  }
  return null;
}
