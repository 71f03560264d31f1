// @ts-check
// One equation: a row of panels with signs between them, over a single plotly graph that has an axis pair a panel.
import { element } from "../base/dom.js";
import { createBandHead } from "./band_head.js";
import { createSign, createTerm, putInOrder, signWidth } from "./equation_parts.js";
import { createPlot } from "./equation_plot.js";
import { createFilm } from "./film.js";
import { createPanel } from "./panel.js";
import { MOST_LINES } from "./panel_name.js";
import { GAP, NUMBERED_UP_TO, fitCells, keepsDigits, leastLine } from "./stage.js";
import { createStepper } from "./stepper.js";

const LECTURE = 1.4; // how much larger the letters around the cells are in a lecture, as lecture.css has them
const AROUND = { width: 32, height: 52 }; // what of a band is none of its panels': title line and edges
const NAME_LINES = 2; // of the names, where a band has only the room that its numbers need
const THUMBS = 34; // the height of a row of other planes

/**
 * Make one equation.
 * @param {any} board what everything shares
 * @param {string} name
 */
export function createEquation(board, name) {
  /** @type {Map<string, ReturnType<typeof createPanel>>} */
  const panels = new Map();
  const plot = createPlot(board, panels);
  const row = element("div", { class: "cv-row" });
  const stage = element("div", { class: "cv-stage" }, plot.el, row);
  const film = createFilm(stage, panels);
  const stepper = createStepper(board, name, { panels, refresh, film });
  const head = createBandHead(board, name, stepper.button, film.making);
  const tray = name === "input" ? [board.tray.el] : [];
  const el = element(
    "section",
    { class: "cv-equation", "data-equation": name },
    head.el,
    stage,
    stepper.bar,
    ...tray,
  );
  /** @type {any} */
  let spec = null;
  let planes = [];
  let limits = [];
  /** @type {[Record<string, any>, string, any] | null} */
  let latest = null; // what setValues was last called with
  let fitted = ""; // which panels were crowded when the cells were fitted
  let unseen = false; // whether there is something to see in how the panels are made

  function setItems(items) {
    const wanted = new Set(items.filter((item) => item.key).map((item) => item.key));
    for (const key of [...panels.keys()]) if (!wanted.has(key)) panels.delete(key);
    for (const item of items) {
      if (!item.key) continue;
      const panel = panels.get(item.key) ?? createPanel(board, item);
      panels.delete(item.key); // those that stay take their place among those that come: sizes are chosen in this order
      panels.set(item.key, panel);
      panel.setSpec(item);
    }
    const order = items.map((item) => item.key ?? `${item.symbol} ${item.note}`).join("|");
    if (row.dataset.order === order) return;
    row.dataset.order = order;
    // A sign stays with the panel after it when the row wraps.
    const terms = [];
    const signs = [];
    for (const item of items) {
      if (item.key) terms.push(createTerm(/** @type {any} */ (panels.get(item.key)).el, signs.splice(0)));
      else signs.push(createSign(item));
    }
    putInOrder(row, terms);
  }

  /** The panels with the signs before them, as they ask for room. @param {number} lines of their names @returns {import("./stage.js").Term[]} */
  function termsWith(lines) {
    const strip = el.hasAttribute("data-strip");
    // Of other planes; elsewhere the lists choose them.
    const thumbs = el.hasAttribute("data-focus") && !el.closest('[data-stage="narrow"]') ? THUMBS : 0;
    const terms = [];
    let before = 0;
    for (const item of spec.items) {
      const panel = item.key && panels.get(item.key);
      if (!panel) before += signWidth(item) * letters() + GAP;
      else
        terms.push({
          ...panel.need(lines, thumbs, letters()),
          before,
          ...(strip ? { least: 0, around: 0 } : {}),
        });
      if (panel) before = 0;
    }
    return terms;
  }

  const letters = () => (board.isLecture() ? LECTURE : 1);

  /** Which panels' numbers ask for wider cells than they have. */
  const crowding = () => [...panels.values()].map((panel) => panel.crowded()).join();

  /** Show the numbers again: those of another step. */
  function refresh() {
    if (latest) board.redraw(equation, equation.setValues(...latest));
  }

  const equation = {
    el,
    stage,
    key: head.key,

    /** @param {any} next @param {any} geometry @param {any} story of the remainder, or null */
    setSpec(next, geometry, story) {
      film.finish(); // what it lies over is another
      unseen = spec?.view === "stamps" && next.view !== "stamps";
      spec = next;
      stepper.setSpec(next, geometry);
      setItems(next.items);
      head.setSpec(next, geometry, story);
    },

    /**
     * @param {Record<string, any>} values every panel's numbers, decoded
     * @param {string} dtype
     * @param {any} texts
     */
    setValues(values, dtype, texts) {
      latest = [values, dtype, texts];
      stepper.setNumbers(values);
      head.setTexts(texts);
      const before = planes;
      const limitsBefore = limits;
      planes = [];
      limits = [];
      for (const panel of panels.values()) {
        const { key, name: stageName, columns } = panel.spec();
        const plane = stepper.valuesOf(stageName) ?? values.planes[stageName];
        limits.push(texts.limits[key]);
        panel.setValues(plane, dtype, texts.limits[key], values.thumbs[stageName] ?? null);
        planes.push(toRows(plane, columns.length));
      }
      head.showBroken(texts.broken, panels);
      head.key.beyond([...panels.values()].some((panel) => panel.grid.anyBeyond()));
      if (unseen && !el.hasAttribute("data-strip")) film.making();
      unseen = false;
      return planes.flatMap((plane, i) =>
        same(plane, before[i]) && limits[i] === limitsBefore[i] ? [] : [i],
      );
    },

    /**
     * How this band stands among the others.
     * @param {{ focused: string, alone: string, inUse: string }} place the band that was given the room; the one that has it
     *   for itself; the one in use
     */
    setPlace({ focused, alone, inUse }) {
      el.style.gridArea = alone ? "" : name;
      el.toggleAttribute("data-focus", name === (alone || focused));
      el.toggleAttribute("data-strip", alone !== "" && alone !== name);
      el.toggleAttribute("data-in-use", name === inUse);
      head.setPressed(name === (alone || focused));
    },

    /** Whether its numbers ask for other cells than they were fitted into. */
    outgrown: () => crowding() !== fitted,

    /** What the panels have, where the band has a height of its own. */
    room: () => ({ width: stage.clientWidth, height: stage.clientHeight }),

    /** Choose the sizes of cells that fit. @param {import("./stage.js").Room} room @param {boolean} wraps */
    fit(room, wraps) {
      // Names break where the numbers stay by it, or the cells gain.
      const tries = [...Array(MOST_LINES).keys()].map((index) => {
        const terms = termsWith(index + 1);
        const sizes = fitCells(terms, room, wraps);
        return { lines: index + 1, sizes, kept: keepsDigits(terms, sizes) };
      });
      const kept = tries.filter((each) => each.kept);
      const best = (kept.length ? kept : tries).reduce((one, other) =>
        smallest(other.sizes) > smallest(one.sizes) ? other : one,
      );
      [...panels.values()].forEach((panel, index) => panel.setSize(best.sizes[index], best.lines, letters()));
      fitted = crowding();
    },

    /** Choose the size of a cell. @param {number} cell @param {number} width of the board, in pixels */
    setSize(cell, width) {
      for (const panel of panels.values()) {
        const { rows, columns } = panel.spec();
        const most = Math.max(rows.length, columns.length);
        const side = Math.min(
          cell,
          (width - 34) / columns.length,
          most > 12 ? Math.max(390 / most, 4) : Infinity,
        );
        const whole = most > 12 ? side : Math.floor(side);
        panel.setSize({ width: whole, height: whole });
      }
    },

    /** How large the band is at least for its numbers to be read; 0 where it has none. @returns {import("./stage.js").Room} */
    least() {
      const terms = termsWith(NAME_LINES);
      const numbered = terms.filter(({ digits }) => digits);
      if (!numbered.length) return { width: 0, height: 0 };
      const heights = numbered.map(({ rows, around, digits }) => around + rows * (digits?.height ?? 0));
      return {
        width: AROUND.width + leastLine(terms),
        height: AROUND.height + Math.max(...heights),
      };
    },

    /** Width that this row needs besides its cells, and how many cells stand side by side. */
    measure() {
      const columns = [...panels.values()].map((panel) => panel.spec().columns.length);
      const small = columns.filter((count) => count <= NUMBERED_UP_TO);
      return {
        cells: small.reduce((sum, count) => sum + count, 0),
        rest:
          390 * (columns.length - small.length) +
          58 * row.querySelectorAll(".cv-sign").length +
          24 * columns.length,
      };
    },

    /**
     * Draw what changed: the panels colour themselves, and plotly draws when nothing moves any more.
     * @param {any} plotly @param {number[] | null} changed null: everything
     */
    draw(plotly, changed) {
      if (spec && planes.length && changed?.length !== 0) plot.draw(plotly, planes, limits);
    },

    panels,
    step: stepper.step,
    play: stepper.play,

    say: head.say,

    /** @param {any} plotly */
    destroy(plotly) {
      film.finish();
      stepper.destroy();
      plot.destroy(plotly);
      el.remove();
    },
  };
  return equation;
}

/** @param {import("./stage.js").Room[]} cells */
const smallest = (cells) => Math.min(...cells.map(({ height }) => height));

function toRows(plane, columns) {
  const rows = [];
  for (let start = 0; start < plane.length; start += columns) rows.push(plane.slice(start, start + columns));
  return rows;
}

function same(rows, before) {
  return (
    before?.length === rows.length &&
    rows.every(
      (row, r) => row.length === before[r].length && row.every((value, c) => Object.is(value, before[r][c])),
    )
  );
}
