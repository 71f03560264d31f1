// Of the heatmaps: a digit that has room is printed, and no cell is small beside room that is free.
import { leastCell, measureFace, widthOf } from "/web/board/grid/digit_size.js";
import { GAP } from "/web/board/layout/screen_layout.js";
import { styleOf } from "./layout_place.js";
import { isShown, nameOf } from "./layout_things.js";

const [SMALL, GROWS] = [22, 1.6]; // pixels of a small cell, and by how much it could grow to be called so
const [COLOURED, FEW] = [7, 12]; // the least cell without a number, as in screen_layout.js
const SLACK = 6; // pixels that a row may leave free

/**
 * @typedef {{ panel: Element, rows: number, columns: number, cell: { width: number, height: number }, term:
 *   DOMRect, area: DOMRect, isNumbered: boolean, least: { width: number, height: number }, printed: number }} Heatmap
 */

/** @param {Element} panel @returns {Heatmap} */
function heatmapOf(panel) {
  const grid = /** @type {SVGSVGElement} */ (panel.querySelector("svg.cv-grid"));
  const [rows, columns] = [Number(grid.ariaRowCount), Number(grid.ariaColCount)];
  const area = /** @type {Element} */ (panel.querySelector(".cv-area")).getBoundingClientRect();
  const isNumbered = grid.classList.contains("cv-numbered");
  const widths = [...grid.querySelectorAll("[data-cell]")].map((cell) =>
    widthOf(cell.getAttribute("aria-label") ?? ""),
  );
  // A larger panel names one cell alone: its other numbers may be wider.
  const widest = Math.max(isNumbered ? 0 : widthOf("0.00"), ...widths);
  const texts = [...grid.querySelectorAll(".cv-printed text")];
  return {
    ...{ panel, rows, columns, area, isNumbered, least: leastCell(widest) },
    // a plane's zeros are one element, with a place for each
    printed: texts
      .filter((text) => text.textContent && isShown(text))
      .reduce((sum, text) => sum + /** @type {SVGTextElement} */ (text).x.baseVal.numberOfItems, 0),
    cell: { width: area.width / columns, height: area.height / rows },
    term: /** @type {Element} */ (panel.closest(".cv-term") ?? panel).getBoundingClientRect(),
  };
}

/** @param {Heatmap} map */
const hasRoom = ({ cell, least }) => cell.width >= least.width - 0.01 && cell.height >= least.height - 0.01;

/** @param {Heatmap} map */
const lacks = ({ rows, columns, printed }) => rows * columns - printed;

/** Of panels, those in one line. @param {Heatmap[]} maps @returns {Heatmap[][]} */
function linesOf(maps) {
  /** @type {Heatmap[][]} */
  const lines = [];
  for (const map of maps) {
    const line = lines.find(([{ area }]) => area.top < map.area.bottom && map.area.top < area.bottom);
    if (line) line.push(map);
    else lines.push([map]);
  }
  return lines;
}

/**
 * What a band leaves free: each line to the right of what it needs, and the height that no line uses.
 * @param {Element} band @param {Heatmap[]} maps @param {number} below free below the whole app
 */
function freeIn(band, maps, below) {
  const stage = /** @type {Element} */ (band.querySelector(".cv-stage")).getBoundingClientRect();
  const lines = linesOf(maps);
  const wide = new Map(
    lines.flatMap((line) => {
      const used = line.reduce((sum, { term }) => sum + term.width, GAP * (line.length - 1));
      return line.map((map) => /** @type {[Heatmap, number]} */ ([map, stage.width - used - SLACK]));
    }),
  );
  const heights = lines.map((line) => Math.max(...line.map(({ term }) => term.height)));
  const used = heights.reduce((sum, height) => sum + height + GAP, -GAP);
  const parts = [...band.querySelectorAll(":scope > .cv-transport, :scope .cv-tray")].filter(isShown);
  const taken = parts.reduce((sum, part) => sum + part.getBoundingClientRect().height, 0);
  return { wide, high: stage.height - used - taken - SLACK + below, lines };
}

/** How much all cells of a band could grow together. @param {ReturnType<typeof freeIn>} free */
function growth({ wide, high, lines }) {
  const across = lines.map((line) => {
    const cells = line.reduce((sum, { area }) => sum + area.width, 0);
    return 1 + (wide.get(line[0]) ?? 0) / cells;
  });
  const down =
    1 + high / lines.reduce((sum, line) => sum + Math.max(...line.map(({ area }) => area.height)), 0);
  return Math.min(down, ...across);
}

/**
 * Room that the app leaves below itself, in the window or in what a notebook shows of it; below an element
 * the page around goes on.
 * @param {Element} root @param {number} end
 */
function freeBelow(root, end) {
  if (root.hasAttribute("data-grows")) return 0;
  const bottom = Math.max(...[...root.children].map((node) => node.getBoundingClientRect().bottom));
  const free = end - bottom - (parseFloat(styleOf(root).paddingBottom) || 0);
  return free > 40 ? free : 0;
}

/** @param {Element} root @param {number} end of the view, in pixels */
export function judgeCells(root, end) {
  measureFace(/** @type {HTMLElement} */ (root));
  const below = freeBelow(root, end);
  return [...root.querySelectorAll(".cv-equation")].filter(isShown).flatMap((band) => {
    const maps = [...band.querySelectorAll(".cv-panel")].filter(isShown).map(heatmapOf);
    if (!maps.length) return [];
    return [...maps.flatMap(lostDigits), ...maps.flatMap(tiny), ...small(band, maps, below)];
  });
}

/** Room for its digits, and none of them. @param {Heatmap} map */
function lostDigits(map) {
  const lost = lacks(map);
  if (!lost || !hasRoom(map)) return [];
  return [{ kind: "digits", who: nameOf(map.panel), why: `${lost} are not printed, with ${sized(map)}` }];
}

/** Not even the colours can be told apart. @param {Heatmap} map */
function tiny(map) {
  const { rows, columns, cell } = map;
  const least = (COLOURED * Math.min(Math.max(rows, columns), FEW)) / Math.max(rows, columns);
  if (Math.min(cell.width, cell.height) >= least - 0.01) return [];
  return [
    {
      kind: "tiny cells",
      who: nameOf(map.panel),
      why: `${sized(map)}; colours alone need ${least.toFixed(1)}`,
    },
  ];
}

/** @param {Element} band @param {Heatmap[]} maps @param {number} below */
function small(band, maps, below) {
  const free = freeIn(band, maps, below);
  const bare = maps.filter((map) => map.isNumbered && lacks(map) && !hasRoom(map) && couldPrint(map, free));
  const faults = bare.map((map) => ({
    kind: "small cells",
    who: nameOf(map.panel),
    why: `${sized(map)} without digits, which need ${map.least.width} × ${map.least.height}; ${freeWords(map, free)}`,
  }));
  const least = maps.reduce((one, other) => (other.cell.height < one.cell.height ? other : one));
  const grows = growth({ ...free, high: free.high - below });
  if (bare.length || least.cell.height >= SMALL || grows < GROWS) return faults;
  return [
    {
      kind: "small cells",
      who: nameOf(least.panel),
      why: `${sized(least)}, all could be ${grows.toFixed(1)} times as large`,
    },
  ];
}

/** @param {Heatmap} map */
const sized = ({ rows, columns, cell }) =>
  `${rows} × ${columns} cells of ${cell.width.toFixed(1)} × ${cell.height.toFixed(1)} px`;

/** @param {Heatmap} map @param {ReturnType<typeof freeIn>} free */
const freeWords = (map, { wide, high }) =>
  `${(wide.get(map) ?? 0).toFixed(0)} px are free beside it, ${high.toFixed(0)} above and below`;

/**
 * Larger cells of this panel alone would have its digits; its name may be wider than its cells.
 * @param {Heatmap} map @param {ReturnType<typeof freeIn>} free
 */
function couldPrint(map, free) {
  const { rows, columns, cell, least, term, area } = map;
  const line = free.lines.find((each) => each.includes(map)) ?? [map];
  const name = map.panel.querySelector("figcaption")?.getBoundingClientRect().width ?? 0;
  const spareX = Math.min(term.width, name) - area.width;
  const spareY = Math.max(...line.map((each) => each.term.height)) - term.height;
  const moreX = (Math.max(least.width, least.height, cell.width) - cell.width) * columns;
  const moreY = (Math.max(least.height, cell.height) - cell.height) * rows;
  return moreX - Math.max(spareX, 0) <= (free.wide.get(map) ?? 0) && moreY - spareY <= Math.max(free.high, 0);
}
