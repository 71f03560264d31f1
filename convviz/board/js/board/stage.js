// @ts-check
// The stage: all bands on one screen. How high it may be, and how large the cells of a band can be in it.

const WIDE = 1000; // pixels of the app from which on the bands stand on one screen
const [LOWEST, HIGHEST] = [500, 1200];
const OF_A_NOTEBOOK = 680; // a cell of a notebook is scrolled: what is higher is never seen whole
const OF_A_FRAME = 640; // one that grows with its page has no height of its own to go by
const MARGIN = 10;
const NUMBERED_UP_TO = 12; // rows or columns of a panel whose cells are as large as its neighbours'

/** What a cell's side may be, in pixels: few sizes, so that a slider seldom changes them. */
export const LADDER = [2, 3, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30, 32, 36, 40, 44, 48, 56];

/** @typedef {{ width: number, height: number }} Room */
/** @typedef {{ rows: number, columns: number, least: number }} Need least: the width of its name */

/** The largest size of the ladder that is not above this. @param {number} most */
const stepBelow = (most) => LADDER.findLast((size) => size <= most) ?? LADDER[0];

/**
 * The side of a cell for each panel of a band: one for all of them, but for a panel of many cells.
 * @param {Need[]} needs @param {Room} room for the panels themselves
 * @returns {number[]}
 */
export function fitCells(needs, { width, height }) {
  const isLarge = ({ rows, columns }) => Math.max(rows, columns) > NUMBERED_UP_TO;
  const tallest = Math.max(...needs.filter((need) => !isLarge(need)).map(({ rows }) => rows), 1);
  /** @param {number} cell */
  const sizes = (cell) => needs.map((need) => (isLarge(need) ? Math.min(cell, stepBelow(height / need.rows)) : cell));
  const fits = (cell) => {
    const total = sizes(cell).reduce((sum, size, i) => sum + Math.max(size * needs[i].columns, needs[i].least), 0);
    return cell * tallest <= height && total <= width;
  };
  return sizes(LADDER.findLast(fits) ?? LADDER[0]);
}

/**
 * Keep the height of the app's body in step with the window: `data-stage` while the bands stand on one screen.
 * @param {HTMLElement} body of the app @param {() => number} below what stands under it
 * @returns {() => void} stop
 */
export function followRoom(body, below) {
  const app = /** @type {HTMLElement} */ (body.parentElement);
  const update = () => {
    const staged = app.clientWidth >= WIDE;
    body.toggleAttribute("data-stage", staged);
    if (staged) body.style.setProperty("--cv-room", `${heightFor(app, body, below())}px`);
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
  if (app.dataset.grows !== undefined) return OF_A_FRAME;
  const inside = body.getBoundingClientRect().top - app.getBoundingClientRect().top;
  const above = app.getBoundingClientRect().top + window.scrollY;
  const own = above < 200 && !scrollerOf(app); // else it is one thing of many on its page
  const room = own ? window.innerHeight - above : Math.min(window.innerHeight - 120, OF_A_NOTEBOOK);
  return Math.round(Math.min(Math.max(room - inside - below - MARGIN, LOWEST), HIGHEST));
}

/** What scrolls the app, if it is not the window. @param {HTMLElement} app */
function scrollerOf(app) {
  for (let at = app.parentElement; at && at !== document.body; at = at.parentElement) {
    if (/auto|scroll/.test(getComputedStyle(at).overflowY)) return at;
  }
  return null;
}
