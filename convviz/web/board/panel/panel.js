// A panel: caption, menu, the grid over plotly's picture, its other planes.
import { element, focusOf, setStyle, setText } from "../../base/dom.js";
import { followPainting } from "../grid/paint_cells.js";
import { SLIDER_SHARE } from "../grid/cell_sliders.js";
import { SMALLEST, digitSize, leastCell, setDigits } from "../grid/digit_size.js";
import { followDrag } from "../grid/drag.js";
import { NumberDrag } from "../grid/drag_number.js";
import { OneHandle } from "../grid/drag_one_hot.js";
import { openEditor } from "../grid/cell_editor.js";
import { fullNumber } from "../../base/format.js";
import { Grid } from "../grid/grid_overlay.js";
import { createPanelMenu, openMenu } from "./panel_menu.js";
import { breakable, leastWidths } from "./name_line_breaks.js";
import { explain, helpOf } from "../../base/help.js";
import { createCanvasColours } from "../grid/canvas_cell_colours.js";
import { CELL } from "../grid/grid_marks.js";
import { Splits } from "../grid/right_and_wrong_cells.js";
import { Thumbnails } from "./plane_thumbnails.js";
import { createOverlay } from "../steps/step_overlay.js";
import { say } from "../../base/board_sentences.js";

const [CAPTION, LINE] = [22, 16];
const HINT = 15; // below a 1 that is dragged; in screen_layout.css, too
const [THUMB, GAP_OF_THUMBS, ROWS_OF_THUMBS] = [32, 4, 3]; // planes in rows, and the most of them
/** The least width of a panel with pictures of its planes. @param {number} count */
const widthOfThumbs = (count) => Math.ceil(count / ROWS_OF_THUMBS) * THUMB;
const ON_PAPER = { width: CELL, height: CELL }; // of a printed cell

/** @typedef {PanelItem} PanelSpec */

export class Panel {
  #board;
  #spec;
  /** @type {{ values: import("../../base/format.js").Numbers, dtype: string, limit: number } | null} */
  #shown = null;
  #alone = false; // has colours of its own
  #onPaper = false;
  #cell = { width: 0, height: 0 };
  #widest = -1; // the widest number when sized
  #afar = false; // whether numbers are as large as in a lecture
  grid;
  veil = createOverlay();
  #splits;
  #name = element("span.cv-name");
  #nameWidths = leastWidths("");
  #drawn = ""; // what is drawn of the spec
  #shape = element("span.cv-shape");
  area;
  handle;
  #pull;
  #pixels = createCanvasColours();
  #thumbs = new Thumbnails((at) => this.#send({ type: "plane", at }));
  #menu;
  el;

  /** @param {Shared} board @param {PanelSpec} first */
  constructor(board, first) {
    this.#board = board;
    this.#spec = first;
    const key = first.key.replace(/\W/g, "-");
    this.grid = new Grid(`cv${board.uid}-${key}`, this.#gridEvents());
    const { svg } = this.grid;
    followPainting(
      svg,
      this.grid.place,
      () => this.#isDrawn(),
      (cells, stroke) => this.#send({ type: "paint", cells, value: board.model.get("brush"), stroke }),
    );
    svg.querySelector(".cv-gaps")?.after(this.veil.el);
    this.#splits = new Splits(svg);
    svg.querySelector(".cv-dim")?.before(this.#splits.el);
    svg.append(this.veil.top); // what is not computed is not split
    this.area = element("div.cv-area", svg);
    this.handle = new OneHandle(board, this);
    this.#pull = new NumberDrag(board, this);
    followDrag(svg, board.model, (event) => {
      const [row, column] = this.grid.place(event);
      if (this.#isDrawn() || this.veil.covers(row, column)) return null;
      return this.#spec.single ? this.handle.take(this.grid.place) : this.#pull.take(row, column, event);
    });
    this.area.append(this.handle.hint);
    this.#menu = createPanelMenu(board, () => this.#shown && { ...this.#shown, spec: this.#spec });
    const caption = element("figcaption", this.#name, this.#menu, this.#shape);
    this.el = element("figure.cv-panel", caption, this.area, this.#thumbs.el);
    if (first.name === "grad_input") this.el.append(board.tray.el);
  }

  spec = () => this.#spec;
  #scale = () => this.#board.scale(this.#spec.quantity);

  /** @returns {import("../grid/grid_overlay.js").GridEvents} */
  #gridEvents() {
    const board = this.#board;
    return {
      onFocus: (row, column) => {
        const cell = { panel: this.#spec.name, row, column };
        const isFocused = focusOf(this.grid.svg)?.closest(".cv-grid") === this.grid.svg;
        board.read(() => this.#describe(row, column), isFocused, cell);
        board.highlight.hover(cell);
      },
      onLeave() {
        board.unread();
        board.highlight.hover(null);
      },
      onRelease: () => board.escape(),
      onSelect: (row, column) => this.#send({ type: "select", row, column }),
      onEdit: (row, column, typed) => this.#edit(row, column, typed),
      onMenu: () => openMenu(this.#menu),
      onArrow: (event, row, column) =>
        (this.#spec.single ? this.handle : this.#pull).key(event, { row, column }),
    };
  }

  #isDrawn() {
    return this.#spec.drawable && this.#board.model.get("brush") !== null;
  }

  #send(message) {
    return this.#board.model.send({ panel: this.#spec.name, ...message });
  }

  /** Veiled cells are not read out. @param {number} row @param {number} column */
  #describe(row, column) {
    if (!this.el.isConnected || row >= this.#spec.rows.length || column >= this.#spec.columns.length)
      return ""; // the cell is gone
    if (this.veil.covers(row, column)) return say("cell.veiled", { name: this.#spec.label, row, column });
    const [cell, more] = [this.grid.describe(row, column), this.handle.words(row, column)];
    return (
      this.#splits.describe(this.#spec.label, row, column) ||
      (cell && more ? say("cell.more", { cell, more }) : cell || more)
    );
  }

  #edit(row, column, typed) {
    const { rows, columns } = this.#spec;
    if (rows[row] !== "d" || columns[column] !== "d") {
      this.#board.say(say("cell.border"));
      return;
    }
    const value = this.grid.value(row, column);
    openEditor(
      this.area,
      { row, column, rows: rows.length, columns: columns.length },
      say("cell.type", { name: this.#spec.label, row, column }),
      typed || fullNumber(value, this.#shown?.dtype ?? "float64"),
      typed !== "",
      (number) => this.#send({ type: "edit", row, column, value: number }),
      this.#board.say,
      () => this.grid.focusCell(row, column),
    );
  }

  /** Own colours while plotly's are missing or misplaced. */
  #colour() {
    const isColoured = (this.#alone || this.#onPaper) && this.#shown;
    const { el, paint } = this.#pixels;
    if (!isColoured || !this.#shown) return el.remove();
    const { values, limit } = this.#shown;
    paint(values, this.#spec.columns.length, limit, this.#scale());
    if (!el.isConnected) this.area.prepend(el);
  }

  #printNumbers() {
    const { width, height } = this.#onPaper ? ON_PAPER : this.#cell;
    this.#widest = this.grid.widest();
    const left = this.#spec.slides ? width * (1 - 2 * SLIDER_SHARE) : 0; // the width that a slider leaves beside it
    const beside = digitSize(this.#widest, { width: left, height }, this.#afar);
    const pixels =
      beside || digitSize(this.#widest, { width, height }, this.#afar) || (this.#onPaper ? SMALLEST : 0);
    this.area.classList.toggle("cv-wordless", !pixels);
    this.grid.print(pixels > 0);
    const areSeen = this.#spec.slides && pixels > 0 && !this.#onPaper;
    this.grid.sliders.show(areSeen ? (beside ? "beside" : "edge") : "");
    if (!pixels) return;
    setDigits(this.grid, pixels, { width, height }, this.#afar);
    setStyle(this.#splits.el, "--cv-number", this.grid.letters.style.getPropertyValue("--cv-number"));
  }

  /** @param {PanelSpec} next */
  setSpec(next) {
    this.#spec = next;
    this.grid.setSpec(next);
    const { figure, rows, columns, words, at, ...drawn } = next;
    const key = JSON.stringify(drawn);
    if (key === this.#drawn) return; // most panels, at most moves
    this.#drawn = key;
    this.#nameAs(next);
    this.area.classList.toggle("cv-editable", next.editable);
    this.area.classList.toggle("cv-drawable", next.drawable);
    this.area.classList.toggle("cv-single-one", next.single);
    this.area.classList.toggle("cv-pulls", this.#pull.byTouch());
    this.#thumbs.set(next.thumbs);
    setStyle(this.#thumbs.el, "min-width", `max(100%, ${widthOfThumbs(next.thumbs?.planes.length ?? 0)}px)`);
  }

  /** @param {PanelSpec} spec */
  #nameAs({ key, name, called, quantity, gradient, label, shape }) {
    this.el.dataset.panel = name;
    this.el.dataset.quantity = quantity;
    this.el.toggleAttribute("data-strong", gradient);
    this.el.setAttribute("aria-label", say("panel.shape", { name: label, shape }));
    if (this.#name.textContent !== label) {
      this.#name.replaceChildren(...breakable(label));
      this.#nameWidths = leastWidths(label);
    }
    setText(this.#shape, shape);
    explain(this.#name, `panel.${called}`);
    setText(this.#menu.about, helpOf(`panel.${called}`));
    const [equation] = key.split(":");
    this.#menu.firstElementChild?.setAttribute("aria-label", say("panel.menu", { panel: called, equation }));
  }

  /**
   * @param {import("../../base/format.js").Numbers} values @param {string} dtype @param {number} limit
   * @param {ArrayLike<number> | null} all
   */
  setValues(values, dtype, limit, all) {
    this.#shown = { values, dtype, limit };
    const isNew = this.grid.setValues(values, dtype, this.#scale(), limit);
    this.handle.see(values);
    if (isNew && this.#cell.width && this.grid.widest() !== this.#widest) this.#printNumbers();
    this.#menu.follow();
    if (all) this.#thumbs.draw(all, this.#scale(), limit);
  }

  /**
   * Shows the wrong numbers of a broken step; null removes them.
   * @param {WrongPlane | null} wrong @param {boolean} guilty its name is red
   */
  breakInto(wrong, guilty) {
    this.el.toggleAttribute("data-guilty", guilty);
    // Cells of another geometry stand there: what is said of a cell, and linked with it, would be the right plane's.
    this.area.toggleAttribute("inert", Boolean(wrong?.from));
    if (!this.#shown) return;
    const [rows, columns] = [this.#spec.rows.length, this.#spec.columns.length];
    this.#splits.show(
      { values: this.#shown.values, rows, columns, limit: this.#shown.limit, scale: this.#scale() },
      wrong,
    );
  }

  /**
   * Returns the words that follow a right sum; they are empty where the cell is right.
   * @param {number} row @param {number} column
   */
  brokenSum(row, column) {
    return this.#splits.after(row, column);
  }

  /** @param {boolean} without */
  colour(without) {
    if (!this.#alone && !without) return;
    this.#alone = without;
    this.#colour();
  }

  /** Plotly's picture stays behind on paper; every number is printed. @param {boolean} printing */
  print(printing) {
    this.#onPaper = printing;
    this.#colour();
    this.#printNumbers();
  }

  /** The width its numbers ask for beyond the cells; else 0. */
  crowded() {
    const least = this.grid.numbered() ? leastCell(this.grid.widest()).width : 0;
    return least > this.#cell.width || this.#cell.width > this.#cell.height ? least : 0;
  }

  /**
   * Room in a row: cells, name, height and width besides; for each of some counts of the name's lines.
   * @param {number[]} counts @param {import("../band/band_row.js").Asks} asks
   */
  needs(counts, { thumbs, planes, letters, hasWidth }) {
    const { tray } = this.#board;
    const { below, beside } = tray.room(tray.el.parentElement === this.el, hasWidth, letters);
    const [rows, columns] = [this.#spec.rows.length, this.#spec.columns.length];
    const digits = this.grid.numbered() ? leastCell(this.grid.widest()) : null;
    const all = (thumbs && this.#spec.thumbs?.planes.length) || 0;
    const choices = all > planes ? 0 : all;
    const [bare, dragged] = [Math.max(below.width, widthOfThumbs(choices)), Boolean(this.#spec.single)];
    return counts.map((lines) => {
      const least = Math.ceil(Math.max(this.#nameWidths[lines - 1] * letters, bare));
      const breaks = (lines - 1) * LINE * letters;
      const ofChoices = Math.ceil(
        (choices * THUMB) / (Math.max(least, columns * (digits?.width ?? 0)) + GAP_OF_THUMBS),
      );
      return {
        ...{ beside, rows, columns, digits, least, dragged, breaks },
        unbroken: this.#nameWidths[0] * letters,
        around:
          CAPTION * letters +
          breaks +
          (choices && thumbs + (ofChoices - 1) * THUMB) +
          Math.max(below.height, dragged ? HINT : 0),
      };
    });
  }

  /** @param {{ width: number, height: number }} next */
  setSize(next, lines = 1, letters = 1) {
    [this.#cell, this.#afar] = [next, letters > 1];
    const width = this.#cell.width * this.#spec.columns.length;
    setStyle(this.#name, "max-width", `${Math.max(width, this.#nameWidths[lines - 1] * letters)}px`);
    this.#printNumbers();
    setStyle(this.area, "width", `${width}px`);
    setStyle(this.area, "height", `${this.#cell.height * this.#spec.rows.length}px`);
  }
}
