// @ts-check
// One panel: its name and shape, the place where plotly draws, the layer over it, its menu, its other planes.
import WORDS from "../../../facts/words/board.json" with { type: "json" };
import { element, focusOf, setStyle, setText } from "../base/dom.js";
import { followBrush } from "./brush.js";
import { SMALLEST, digitSize, leastCell, setDigits } from "./digits.js";
import { followDrag } from "./drag.js";
import { createPull } from "./drag_number.js";
import { createHandle } from "./drag_one.js";
import { openEditor } from "./editor.js";
import { fullNumber } from "../base/format.js";
import { Grid } from "./grid.js";
import { createPanelMenu, openMenu } from "./panel_menu.js";
import { breakable, leastWidth } from "./panel_name.js";
import { explain, helpOf } from "../base/help.js";
import { createPixels } from "./pixels.js";
import { CELL } from "./grid_marks.js";
import { createSplits } from "./split_cells.js";
import { createThumbs } from "./thumbs.js";
import { createVeil } from "./veil.js";
import { createWhySame } from "./why_same.js";
import { sentences } from "../base/words.js";

const say = sentences(WORDS);
const [CAPTION, LINE] = [22, 16]; // heights of its name in one line, and of each further one
const ON_PAPER = { width: CELL, height: CELL }; // of a cell there: every number is printed

/**
 * @typedef {{ key: string, name: string, called: string, quantity: string, gradient: boolean, label: string, shape: string, at: [number, number], rows: string, columns: string,
 *   unread_rows: number[], unread_columns: number[], editable: boolean, drawable: boolean, single: boolean, dragged: boolean, figure: any,
 *   thumbs: null | { rows: number, columns: number, planes: { label: string, at: [number, number], shown: boolean }[] } }} PanelSpec
 */

/**
 * Make a panel.
 * @param {any} board what all panels share: uid, model, theme, say(text), read(text), plotly
 * @param {PanelSpec} first
 */
export function createPanel(board, first) {
  let spec = first;
  /** @type {{ values: import("../base/format.js").Numbers, dtype: string, limit: number } | null} */
  let shown = null;
  let [alone, onPaper] = [false, false]; // why the panel has colours of its own
  let cell = { width: 0, height: 0 }; // in pixels
  let afar = false; // whether it is read from the last row of a room
  const send = (message) => board.model.send({ panel: spec.name, ...message });
  const grid = new Grid(`cv${board.uid}-${first.key.replace(/\W/g, "-")}`, {
    onFocus(row, column) {
      const cell = { panel: spec.name, row, column };
      board.read(() => describe(row, column), focusOf(grid.svg)?.closest(".cv-grid") === grid.svg, cell);
      board.highlight.hover(cell);
    },
    onLeave() {
      board.unread();
      board.highlight.hover(null);
    },
    onRelease: () => board.escape(),
    onSelect: (row, column) => send({ type: "select", row, column }),
    onEdit: edit,
    onMenu: () => openMenu(menu),
    onArrow: (event, row, column) =>
      spec.single ? handle.key(event, { row, column }) : pull.key(event, { row, column }),
  });
  followBrush(
    grid.svg,
    grid.place,
    () => spec.drawable && board.model.get("brush") !== null,
    (cells, stroke) => send({ type: "paint", cells, value: board.model.get("brush"), stroke }),
  );
  const veil = createVeil();
  grid.svg.insertBefore(veil.el, grid.svg.querySelector(".cv-lights"));
  const splits = createSplits(grid.svg);
  grid.svg.querySelector(".cv-dim")?.before(splits.el);
  grid.svg.append(veil.top); // what is not computed yet is not split either
  const name = element("span", { class: "cv-name" });
  const shape = element("span", { class: "cv-shape" });
  const area = element("div", { class: "cv-area" }, grid.svg);
  const handle = createHandle(board, grid, () => spec);
  const pull = createPull(board, grid, area, () => spec);
  followDrag(grid.svg, board.model, (event) => {
    const [row, column] = grid.place(event);
    const drawn = spec.drawable && board.model.get("brush") !== null;
    if (drawn || veil.covers(row, column)) return null;
    return spec.single ? handle.take(grid.place) : pull.take(row, column, event);
  });
  area.append(handle.hint);
  const pixels = createPixels();
  const thumbs = createThumbs((at) => send({ type: "plane", at }));
  const menu = createPanelMenu(board, () => shown && { ...shown, spec });
  const el = element(
    "figure",
    { class: "cv-panel" },
    element("figcaption", {}, name, menu, shape),
    area,
    thumbs.el,
  );
  const why = createWhySame(el);

  /** A veiled cell keeps its number to itself. @param {number} row @param {number} column */
  function describe(row, column) {
    if (!el.isConnected || row >= spec.rows.length || column >= spec.columns.length) return ""; // it is gone
    if (!veil.covers(row, column))
      return (
        splits.describe(spec.label, row, column) ||
        [grid.describe(row, column), handle.words(row, column)].filter(Boolean).join(". ")
      );
    return say("cell.veiled", { name: spec.label, row, column });
  }

  function edit(row, column, typed) {
    const { rows, columns } = spec;
    if (rows[row] !== "d" || columns[column] !== "d") {
      board.say(say("cell.border"));
      return;
    }
    const value = grid.value(row, column);
    openEditor(
      area,
      { row, column, rows: rows.length, columns: columns.length },
      say("cell.type", { name: spec.label, row, column }),
      typed || fullNumber(value, shown?.dtype ?? "float64"),
      typed !== "",
      (number) => send({ type: "edit", row, column, value: number }),
      board.say,
      () => grid.focusCell(row, column),
    );
  }

  /** Have colours of its own where plotly's picture is not there, or not in its place. */
  function colour() {
    if (!(alone || onPaper) || !shown) return pixels.el.remove();
    pixels.paint(shown.values, spec.columns.length, shown.limit, board.scale());
    if (!pixels.el.isConnected) area.prepend(pixels.el);
  }

  /** Print the numbers where the cells have room for the longest of them. */
  function printNumbers() {
    const { width, height } = onPaper ? ON_PAPER : cell;
    const pixels = digitSize(grid.widest(), { width, height }, afar) || (onPaper ? SMALLEST : 0);
    area.classList.toggle("cv-wordless", !pixels);
    grid.print(pixels > 0);
    // Every cell inherits it: where none is printed, none is to be styled anew.
    if (!pixels) return;
    setDigits(area, pixels, { width, height });
  }

  return {
    el,
    area,
    grid,
    veil,
    handle,
    why,
    spec: () => spec,

    /** @param {PanelSpec} next */
    setSpec(next) {
      spec = next;
      el.dataset.panel = next.name;
      el.dataset.quantity = next.quantity;
      el.toggleAttribute("data-strong", next.gradient);
      el.setAttribute("aria-label", say("panel.shape", { name: next.label, shape: next.shape }));
      if (name.textContent !== next.label) name.replaceChildren(...breakable(next.label));
      setText(shape, next.shape);
      explain(name, `panel.${next.called}`);
      setText(menu.about, helpOf(`panel.${next.called}`));
      area.classList.toggle("cv-editable", next.editable);
      area.classList.toggle("cv-drawable", next.drawable);
      area.classList.toggle("cv-single-one", next.single);
      area.classList.toggle("cv-pulls", pull.byTouch());
      menu.firstElementChild?.setAttribute(
        "aria-label",
        say("panel.menu", { panel: next.called, equation: next.key.split(":")[0] }),
      );
      grid.setSpec(next);
      thumbs.set(next.thumbs);
    },

    /** @param {import("../base/format.js").Numbers} values @param {string} dtype @param {number} limit @param {ArrayLike<number> | null} all */
    setValues(values, dtype, limit, all) {
      shown = { values, dtype, limit };
      const isNew = grid.setValues(values, dtype, board.scale(), limit);
      handle.see(values);
      if (isNew && cell.width) printNumbers();
      menu.follow();
      if (all) thumbs.draw(all, board.scale(), limit);
    },

    /**
     * Show what a broken step makes of it, or that nothing is broken.
     * @param {import("../numbers/broken.js").WrongPlane | null} wrong @param {boolean} guilty whether its name is red
     */
    breakInto(wrong, guilty) {
      el.toggleAttribute("data-guilty", guilty);
      if (!shown) return;
      const [rows, columns] = [spec.rows.length, spec.columns.length];
      splits.show({ values: shown.values, rows, columns, limit: shown.limit, scale: board.scale() }, wrong);
    },

    /** What a broken step makes of a sum, empty where it is right. @param {number} row @param {number} column */
    brokenSum: (row, column) => splits.after(row, column),

    /** While plotly's picture is not there, or not yet of these numbers. @param {boolean} without plotly */
    colour(without) {
      if (!alone && !without) return;
      alone = without;
      colour();
    },

    /** On paper plotly's picture has not moved with the panels, and every number is printed. @param {boolean} printing */
    print(printing) {
      onPaper = printing;
      colour();
      printNumbers();
    },

    /** By how much its cells are too narrow for the numbers, or wider than they are high because of them. */
    crowded() {
      const least = grid.numbered() ? leastCell(grid.widest()).width : 0;
      return least > cell.width || cell.width > cell.height ? least : 0;
    },

    /**
     * What it needs in a row: cells, the width of its name, the height of what is no cell.
     * @param {number} lines of its name @param {number} [thumbs] of its other planes
     * @param {number} [letters] how much larger than elsewhere they are
     */
    need: (lines, thumbs = 0, letters = 1) => ({
      rows: spec.rows.length,
      columns: spec.columns.length,
      digits: grid.numbered() ? leastCell(grid.widest()) : null,
      least: Math.ceil(leastWidth(spec.label, lines) * letters),
      around: (CAPTION + (lines - 1) * LINE) * letters + (spec.thumbs ? thumbs : 0),
    }),

    /**
     * @param {{ width: number, height: number }} next of a cell in pixels @param {number} [lines] that its name may take
     * @param {number} [letters] how much larger than elsewhere they are
     */
    setSize(next, lines = 1, letters = 1) {
      [cell, afar] = [next, letters > 1];
      const width = cell.width * spec.columns.length;
      setStyle(name, "max-width", `${Math.max(width, leastWidth(spec.label, lines) * letters)}px`);
      printNumbers();
      setStyle(area, "width", `${width}px`);
      setStyle(area, "height", `${cell.height * spec.rows.length}px`);
    },
  };
}
