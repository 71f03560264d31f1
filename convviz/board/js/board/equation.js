// @ts-check
// One equation: a row of panels with signs between them, over a single plotly graph that has an axis pair a panel.
import WORDS from "../../../facts/words/board.json" with { type: "json" };
import { element, setText } from "../base/dom.js";
import { createBecause } from "./because.js";
import { createBreakIt } from "./break_it.js";
import {
  createChoice,
  createLegend,
  createSign,
  createSymbols,
  createTerm,
  putInOrder,
  signWidth,
} from "./equation_parts.js";
import { createMarksKey } from "./marks_key.js";
import { createPanel } from "./panel.js";
import { createPlot } from "./equation_plot.js";
import { MOST_LINES } from "./panel_name.js";
import { createRemainder } from "./remainder_box.js";
import { setTinted } from "./quantities.js";
import { createFilm } from "./film.js";
import { explain } from "../base/help.js";
import { focusWhileScrolling } from "../base/scrollable.js";
import { GAP, fitCells } from "./stage.js";
import { createStepper } from "./stepper.js";
import { createViewSwitch } from "./viewswitch.js";
import { sentences } from "../base/words.js";

const say = sentences(WORDS);

const LECTURE = 1.4; // how much larger the letters around the cells are in a lecture, as lecture.css has them
const THUMBS = 34; // the height of a row of other planes

/**
 * Make one equation.
 * @param {any} board what everything shares
 * @param {string} name
 */
export function createEquation(board, name) {
  const heading = element("button", {
    type: "button",
    class: "cv-title",
    "aria-pressed": "false",
    title: say("band.title"),
  });
  heading.addEventListener("click", () => board.focusBand(name));
  const title = element("h3", {}, heading);
  const formula = element("code", { class: "cv-formula" });
  const choices = element("div", { class: "cv-choices" });
  /** @type {Map<string, ReturnType<typeof createPanel>>} */
  const panels = new Map();
  const plot = createPlot(board, panels);
  const row = element("div", { class: "cv-row" });
  const stage = element("div", { class: "cv-stage" }, plot.el, row);
  const caption = element("p", { class: "cv-caption" });
  const note = element("p", { class: "cv-note" });
  const aside = element("p", { class: "cv-aside" });
  const scale = createLegend();
  const key = createMarksKey();
  const views = createViewSwitch((view) => board.model.send({ type: "view", view }));
  const because = createBecause(name, board.taught);
  const breakIt = createBreakIt(board, name);
  const symbols = createSymbols();
  const told = element("div", { class: "cv-told" });
  const notes = element(
    "div",
    { class: "cv-notes" },
    element("div", { class: "cv-asks" }, because.el, symbols.button),
    told,
  ); // what a button opens comes after it
  const remainder = createRemainder((size) => board.model.send({ type: "size", size }));
  const film = createFilm(stage, panels);
  const stepper = createStepper(board, name, { panels, refresh, film });
  const single = element("button", { type: "button", class: "cv-single", hidden: "" }, say("single"));
  explain(single, "help.single");
  single.addEventListener("click", () => board.model.send({ type: "single" }));
  // The bias has no window.
  const tools = { bias: [], forward: [single, stepper.button], input: [views.el, stepper.button] }[name] ?? [
    stepper.button,
  ];
  const el = element(
    "section",
    { class: "cv-equation", "data-equation": name },
    element("header", {}, title, choices, ...tools, key.el, scale.el),
    stage,
    notes,
  );
  // The remainder's story is to the input where the layer is transposed.
  symbols.el.append(formula, note, ...(["forward", "input"].includes(name) ? [remainder.el] : []));
  told.append(
    stepper.bar,
    breakIt.el,
    ...(name === "input" ? [board.tray.el] : []),
    caption,
    aside,
    symbols.el,
  );
  const stopScrolling = focusWhileScrolling(told, say("band.notes"));
  /** @type {any} */
  let spec = null;
  let planes = [];
  let limits = [];
  /** @type {[Record<string, any>, string, any] | null} */
  let latest = null; // what setValues was last called with
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

  function setChoices(list) {
    const order = list.map((choice) => `${choice.axis}${choice.count}${choice.word}`).join();
    if (choices.dataset.order !== order) {
      choices.dataset.order = order;
      choices.replaceChildren(...list.map((choice) => createChoice(board, choice)));
    }
    list.forEach((choice, index) => {
      const select = /** @type {HTMLSelectElement} */ (choices.children[index].querySelector("select"));
      select.value = String(choice.value);
    });
  }

  /** Show the numbers again: those of another step. */
  function refresh() {
    if (latest) board.redraw(equation, equation.setValues(...latest));
  }

  const equation = {
    el,
    stage,
    key,

    /** @param {any} next @param {any} geometry @param {any} story of the remainder, or null */
    setSpec(next, geometry, story) {
      film.finish(); // what it lies over is another
      unseen = spec?.view === "stamps" && next.view === "window";
      spec = next;
      setText(heading, next.title);
      views.set(next.view, geometry.transposed);
      single.hidden = !next.offers_single;
      stepper.setSpec(next, geometry);
      remainder.set(story);
      setItems(next.items);
      setChoices(next.choices);
      because.set(
        next.items.filter((item) => item.key),
        geometry,
      );
    },

    /**
     * @param {Record<string, any>} values every panel's numbers, decoded
     * @param {string} dtype
     * @param {any} texts
     */
    setValues(values, dtype, texts) {
      latest = [values, dtype, texts];
      stepper.setNumbers(values);
      setTinted(formula, texts.formulas[name] ?? "");
      setTinted(caption, texts.captions[name] ?? "");
      setText(note, texts.notes[name] ?? "");
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
      breakIt.show(texts.broken, panels);
      scale.set(spec.scale === "equation" ? limits[0] : null);
      key.beyond([...panels.values()].some((panel) => panel.grid.anyBeyond()));
      if (unseen && !el.hasAttribute("data-strip")) film.making();
      unseen = false;
      return planes.flatMap((plane, i) =>
        same(plane, before[i]) && limits[i] === limitsBefore[i] ? [] : [i],
      );
    },

    /** Whether this band has the room, or another; nobody when empty. @param {string} focused */
    setFocus(focused) {
      el.toggleAttribute("data-focus", focused === name);
      el.toggleAttribute("data-strip", focused !== "" && focused !== name);
      heading.setAttribute("aria-pressed", String(focused === name));
    },

    /** What the panels have, where the band has a height of its own. */
    room: () => ({ width: stage.clientWidth, height: stage.clientHeight }),

    /** Choose the sizes of cells that fit. @param {import("./stage.js").Room} room @param {boolean} wraps */
    fit(room, wraps) {
      const strip = el.hasAttribute("data-strip");
      const letters = board.isLecture() ? LECTURE : 1;
      // Of other planes; elsewhere the lists choose them.
      const thumbs = el.hasAttribute("data-focus") && !el.closest('[data-stage="narrow"]') ? THUMBS : 0;
      /** @param {number} lines of the names */
      const termsWith = (lines) => {
        const terms = [];
        let before = 0;
        for (const item of spec.items) {
          const panel = item.key && panels.get(item.key);
          if (!panel) before += signWidth(item) * letters + GAP;
          else
            terms.push({
              ...panel.need(lines, thumbs, letters),
              before,
              ...(strip ? { least: 0, around: 0 } : {}),
            });
          if (panel) before = 0;
        }
        return terms;
      };
      // Names break where the cells gain by it.
      const tries = [...Array(MOST_LINES).keys()].map((index) => ({
        lines: index + 1,
        sizes: fitCells(termsWith(index + 1), room, wraps),
      }));
      const best = tries.reduce((one, other) =>
        Math.min(...other.sizes) > Math.min(...one.sizes) ? other : one,
      );
      [...panels.values()].forEach((panel, index) => panel.setSize(best.sizes[index], best.lines, letters));
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
        panel.setSize(most > 12 ? side : Math.floor(side));
      }
    },

    /** Width that this row needs besides its cells, and how many cells stand side by side. */
    measure() {
      const columns = [...panels.values()].map((panel) => panel.spec().columns.length);
      const small = columns.filter((count) => count <= 12);
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

    /** Say something about the cell that is looked at. @param {string} text @param {boolean} paired whether small numbers pair its factors */
    say(text, paired) {
      setText(aside, text);
      key.pair(paired);
      told.toggleAttribute("data-aside", Boolean(text));
    },

    /** @param {any} plotly */
    destroy(plotly) {
      film.finish();
      stepper.destroy();
      stopScrolling();
      plot.destroy(plotly);
      el.remove();
    },
  };
  return equation;
}

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
