// The room of the app and the sizes of cells; screen_layout.css describes the room's parts. From these widths of
// the app on, all bands stand on the stage, or one.
import { listen, setStyle } from "../../base/dom.js";

const [WIDE, MEDIUM] = [980, 700];
export const GAP = 8; // between two things in a row
const LEAST_LEAD = 310; // pixels of a question beside the entries
const [LOWEST, HIGHEST] = [500, 1200];
// a window as low as a zoomed one; from this width on, controls stand beside the band
const [LOW, BESIDE] = [560, 560];
// In a notebook cell, bars leave less than the window.
const [OF_A_NOTEBOOK, ITS_BARS] = [760, 130];
const OF_A_LOW_ONE = 230; // LOWEST in a low window, which then scrolls
// A frame that grows with its page has no height of its own.
const [OF_A_FRAME, FRAME] = [664, 740];
// pixels of a cell without a number, and how many count
const [COLOURED, FEW] = [7, 12];
const AT_EASE = 16; // pixels of a cell with a number
const [TIMES, MAX_CELL_PIXELS] = [1.6, 64]; // cells of the panel whose 1 is dragged: times the others', and pixels at most
const ROUNDED = 1e-6; // pixels that sums may be off
export const NUMBERED_UP_TO = 18; // rows or columns of cells as large as their neighbours'

/** Few sizes, so that a slider seldom changes them. */
export const LADDER = [
  2, 3, 4, 6, 7, 8, 10, 12, 13, 14, 15, 16, 17, 18, 20, 22, 24, 26, 28, 30, 32, 35, 38, 41, 44, 48, 52, 56,
  60, 64, 72, 80, 88, 96, 112, 128,
];

/**
 * @typedef {{ width: number, height: number }} Room
 * @typedef {{ rows: number, columns: number, least: number, before: number, around: number, unbroken: number, breaks:
 *   number, digits: Room | null, turns?: boolean, dragged?: boolean }} Term a panel with signs before it; least: width
 *   of its name; before: of the signs; around: height besides cells; unbroken: width from which on its name is one
 *   line, and breaks: the height that this saves; digits: the least readable cell; turns: starts a line;
 *   dragged: its 1 is
 */

/** @param {number} most */
const stepBelow = (most) => LADDER.findLast((size) => size <= most) ?? LADDER[0];

/** @param {Term} term */
const isLarge = ({ rows, columns }) => Math.max(rows, columns) > NUMBERED_UP_TO;

/**
 * One height of cells a band, except for large panels. A cell is square unless its number needs more.
 * @param {Term[]} terms @param {Room} room @param {boolean} wraps @returns {Room[]}
 */
export function fitCells(terms, room, wraps) {
  const ends = terms.map((term) =>
    isLarge(term) ? stepBelow((room.height - term.around) / term.rows) : Infinity,
  );
  const highest = endOfSides(terms, ends, room, wraps);
  /** @param {number} side @param {boolean} widened @returns {Room[]} */
  const sizes = (side, widened) =>
    terms.map(({ digits }, index) => {
      const cell = Math.min(side, ends[index]);
      return { width: widened && digits ? Math.max(cell, digits.width) : cell, height: cell };
    });
  /** @param {Room[]} cells */
  const fits = (cells) => {
    const lines = linesOf(terms, cells, wraps ? room.width : Infinity);
    const height = lines.reduce((sum, line) => sum + line.height, GAP * (lines.length - 1));
    return height <= room.height && lines.every(({ width }) => width <= room.width);
  };
  const readable = highest.findLast((side) => fits(sizes(side, true)));
  const least = Math.max(0, ...terms.map(({ digits }) => digits?.height ?? 0));
  if (readable && readable >= least) return withHandle(terms, sizes(readable, true), fits);
  const bare = highest.findLast((side) => fits(sizes(side, false))) ?? LADDER[0];
  return LADDER.filter((side) => side <= bare && side >= Math.min(bare, COLOURED))
    .map((side) => withDigits(terms, sizes(side, false), fits))
    .reduce((best, cells) => (numbered(terms, cells) >= numbered(terms, best) ? cells : best));
}

/**
 * The sides of which a panel alone, or all cells of a line, do not ask for more than there is: no other fits.
 * @param {Term[]} terms @param {number[]} ends of the large ones' sides @param {Room} room @param {boolean} wraps
 */
function endOfSides(terms, ends, { width, height }, wraps) {
  let [most, columns, left] = [Infinity, 0, width - GAP * (terms.length - 1)];
  terms.forEach((term, index) => {
    left -= term.before;
    if (ends[index] < Infinity) return;
    most = Math.min(
      most,
      (height - term.around + term.breaks) / term.rows,
      (width - term.before) / term.columns,
    );
    columns += term.columns;
  });
  if (columns && !wraps) most = Math.min(most, left / columns);
  let count = 0;
  while (LADDER[count] <= most + ROUNDED) count += 1;
  return LADDER.slice(0, count);
}

/**
 * Where a band begins with the 1 that is dragged, its panel is the largest if there is room: the eye begins there.
 * @param {Term[]} terms @param {Room[]} cells @param {(cells: Room[]) => boolean} fits
 */
function withHandle([{ dragged }], [first, ...others], fits) {
  if (!dragged || first.width !== first.height) return [first, ...others];
  const most = Math.min(first.height * TIMES, MAX_CELL_PIXELS);
  let best = [first, ...others];
  for (const side of LADDER) {
    const cells = [{ width: side, height: side }, ...others];
    if (side > first.height && side <= most && fits(cells)) best = cells;
  }
  return best;
}

/**
 * Where not all numbers have room, those of the smallest panels come first.
 * @param {Term[]} terms @param {Room[]} bare @param {(cells: Room[]) => boolean} fits
 */
function withDigits(terms, bare, fits) {
  const count = (/** @type {number} */ index) => terms[index].rows * terms[index].columns;
  const order = [...terms.keys()].filter((index) => terms[index].digits).sort((a, b) => count(a) - count(b));
  let cells = bare;
  for (const index of order) {
    const { width = 0, height = 0 } = terms[index].digits ?? {};
    const own = { width: Math.max(bare[index].width, width), height: Math.max(bare[index].height, height) };
    const next = cells.map((each, at) => (at === index ? own : each));
    if (fits(next)) cells = next;
  }
  return cells;
}

/** How many panels show their numbers. @param {Term[]} terms @param {Room[]} cells */
export const numbered = (terms, cells) =>
  terms.filter(
    ({ digits }, index) =>
      digits && cells[index].width >= digits.width && cells[index].height >= digits.height,
  ).length;

/**
 * As the browser breaks lines.
 * @param {Term[]} terms @param {Room[]} cells @param {number} most @returns {Room[]}
 */
export function linesOf(terms, cells, most) {
  const one = lineUp(terms, cells, Infinity, false);
  return one.length && one[0].width <= most ? one : lineUp(terms, cells, most, true);
}

/**
 * @param {Term[]} terms @param {Room[]} cells @param {number} most @param {boolean} turn @returns {Room[]}
 */
function lineUp(terms, cells, most, turn) {
  /** @type {Room[]} */
  const lines = [];
  for (const [index, term] of terms.entries()) {
    const across = cells[index].width * term.columns;
    const width = term.before + Math.max(across, term.least);
    const spared = across < term.unbroken ? 0 : term.breaks;
    const height = cells[index].height * term.rows + term.around - spared;
    const line = lines.at(-1);
    if (line && turn && term.turns)
      lines.push({ width: 0, height: 0 }, { width, height }); // the break itself is a line
    else if (!line || line.width + GAP + width > most) lines.push({ width, height });
    else Object.assign(line, { width: line.width + GAP + width, height: Math.max(line.height, height) });
  }
  return lines;
}

/** For every number to be read. @param {Term[]} terms */
export const leastLine = (terms) =>
  lineOf(terms, ({ digits }) => Math.max(digits?.width ?? 0, digits?.height ?? 0));

/** Returns the least width of a line whose panels show colours without numbers. @param {Term[]} terms */
export const bareLine = (terms) =>
  lineOf(terms, ({ columns }) => (COLOURED * Math.min(columns, FEW)) / columns);

/** Returns the least height of a line whose panels show colours without numbers. @param {Term[]} terms */
export const bareHeight = (terms) =>
  Math.max(0, ...terms.map(({ rows, around }) => around + COLOURED * Math.min(rows, FEW)));

/** @param {Term[]} terms @param {(term: Term) => number} sideOf */
const lineOf = (terms, sideOf) =>
  terms.reduce(
    (sum, term) => sum + term.before + Math.max(term.columns * sideOf(term), term.least),
    GAP * (terms.length - 1),
  );

/**
 * Grid tracks by shares, none smaller than its numbers need; if that does not fit, the favoured one has its
 * need and the others share. Computed, since the browser would lay out all cells to know them.
 * @param {{ least: number, share: number, bare?: number }[]} tracks bare: before sharing
 * @param {number} favoured -1: none @param {number} gap @param {number} total in pixels, as all others
 */
export function tracksFor(tracks, favoured, gap, total) {
  const room = Math.max(total - gap * (tracks.length - 1), 0);
  const others = tracks.filter((_, index) => index !== favoured);
  const left = room - (tracks[favoured]?.least ?? 0);
  const sure = others.reduce((sum, { bare = 0 }) => sum + bare, 0);
  const all = others.reduce((sum, { least, bare = 0 }) => sum + Math.max(least - bare, 0), 0);
  const bases = tracks.map(({ least, bare = 0 }, index) => {
    if (index === favoured) return Math.min(least, total);
    const first = Math.max(Math.min(bare, (left * bare) / (sure || 1)), 0);
    return Math.min(least, first + Math.max(((left - sure) * Math.max(least - bare, 0)) / (all || 1), 0));
  });
  return whole(grown(bases, tracks, room));
}

/**
 * As a grid's flexible tracks grow.
 * @param {number[]} bases @param {{ share: number }[]} tracks @param {number} room
 */
function grown(bases, tracks, room) {
  const held = bases.map(() => false);
  for (;;) {
    const taken = bases.reduce((sum, base, index) => sum + (held[index] ? base : 0), 0);
    const shares = tracks.reduce((sum, { share }, index) => sum + (held[index] ? 0 : share), 0);
    const unit = (room - taken) / (shares || 1);
    const next = bases.findIndex((base, index) => !held[index] && tracks[index].share * unit < base);
    if (next < 0) return bases.map((base, index) => (held[index] ? base : tracks[index].share * unit));
    held[next] = true;
  }
}

/** Of whole pixels, with the same sum. @param {number[]} sizes */
function whole(sizes) {
  let end = 0;
  return sizes.map((size) => {
    const start = Math.round(end);
    end += size;
    return Math.round(end) - start;
  });
}

/**
 * For every number to be read with ease, in as many lines as the width asks for.
 * @param {Term[]} terms @param {number} width
 */
export function leastHeight(terms, width) {
  const cells = terms.map(({ rows, digits }) => {
    const side = digits ? AT_EASE : (COLOURED * Math.min(rows, FEW)) / rows;
    return { width: Math.max(digits?.width ?? 0, side), height: Math.max(digits?.height ?? 0, side) };
  });
  const lines = linesOf(terms, cells, width);
  return lines.reduce((sum, line) => sum + line.height, GAP * (lines.length - 1));
}

/**
 * Keep the app's height in step with the window. `data-stage`: the width class, or "lecture"; `data-low`: a
 * low window; `data-column`: something stands beside the picture; `data-many`: the question has a line of its own.
 * @param {HTMLElement} body @returns {{ update: () => void, stop: () => void }}
 */
export function followScreen(body) {
  const parent = /** @type {HTMLElement} */ (body.parentElement);
  const app = /** @type {HTMLElement} */ (parent.closest(".cv-page") ?? parent);
  const strip = /** @type {HTMLElement} */ (body.querySelector(":scope > .cv-controls"));
  const heading = /** @type {HTMLElement} */ (body.previousElementSibling);
  const update = () => {
    const lecture = app.hasAttribute("data-present");
    const low = !lecture && isOwn(app) && window.innerHeight < LOW;
    app.toggleAttribute("data-low", low);
    body.dataset.stage = lecture ? "lecture" : stageOf(app.clientWidth, low);
    const { stage } = body.dataset;
    // on the page itself: a sheet that asks what it :has asks again at each change of a board
    for (const name of ["narrow", "medium"]) app.toggleAttribute(`data-${name}`, stage === name);
    app.toggleAttribute("data-many", stage === "wide" && leadRoom(heading) < LEAST_LEAD);
    const beside = app.hasAttribute("data-card") || body.querySelector(".cv-hanging[open]");
    body.toggleAttribute("data-column", Boolean(beside) && ["wide", "medium"].includes(stage ?? ""));
    if (lecture) return;
    setStyle(parent, "--cv-room", `${heightFor(app, body)}px`);
    setStyle(body, "--cv-above", `${strip.offsetHeight ? strip.offsetHeight + GAP : 0}px`);
  };
  const watcher = new ResizeObserver(update); // it runs for the first time once the app is placed
  for (const each of [app, heading, strip]) watcher.observe(each);
  const ends = [
    listen(window, "resize", update),
    // a menu that hangs opens beside the picture
    listen(body, "toggle", update, { capture: true }),
  ];
  return {
    update,
    stop() {
      watcher.disconnect();
      for (const end of ends) end();
    },
  };
}

/** What the heading has for its question beside the entries and buttons. @param {HTMLElement} heading */
function leadRoom(heading) {
  const { columnGap } = getComputedStyle(heading);
  const others = [...heading.children].filter((each) => !each.matches(".cv-lead"));
  const taken = others.map((each) => each.getBoundingClientRect().width).filter(Boolean);
  return heading.clientWidth - taken.reduce((sum, width) => sum + width + parseFloat(columnGap), 0);
}

/** @param {number} width @param {boolean} low */
function stageOf(width, low) {
  if (width >= WIDE && !low) return "wide";
  return width >= (low ? BESIDE : MEDIUM) ? "medium" : "narrow";
}

/** @param {HTMLElement} app @param {HTMLElement} body */
function heightFor(app, body) {
  const margin = Math.ceil(parseFloat(getComputedStyle(app).paddingBottom));
  const inside = body.getBoundingClientRect().top - app.getBoundingClientRect().top;
  if (app.dataset.grows !== undefined) return Math.max(Math.min(FRAME - inside - margin, OF_A_FRAME), LOWEST);
  const above = app.getBoundingClientRect().top + window.scrollY;
  const room = isOwn(app)
    ? window.innerHeight - above
    : Math.min(window.innerHeight - ITS_BARS, OF_A_NOTEBOOK);
  return Math.round(
    Math.min(Math.max(room - inside - margin, app.hasAttribute("data-low") ? OF_A_LOW_ONE : LOWEST), HIGHEST),
  );
}

/**
 * Guesses that the app has a page to itself: it is near the top, in no growing frame and in no element that scrolls.
 * @param {HTMLElement} app
 */
const isOwn = (app) =>
  app.dataset.grows === undefined &&
  app.getBoundingClientRect().top + window.scrollY < 200 &&
  !scrollerOf(app);

/** Returns the nearest ancestor that scrolls, or null where only the window does. @param {HTMLElement} app */
function scrollerOf(app) {
  for (let at = app.parentElement; at && at !== document.body; at = at.parentElement) {
    if (/auto|scroll/.test(getComputedStyle(at).overflowY)) return at;
  }
  return null;
}
