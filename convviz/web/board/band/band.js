// A band: title line, panels and signs over one plotly graph, steps.
import { element } from "../../base/dom.js";
import { BandHead } from "./band_head.js";
import { BandRow } from "./band_row.js";
import { Heatmaps } from "./row_heatmaps.js";
import { Animations } from "../panel/panel_animations.js";
import { equal } from "../grid/canvas_cell_colours.js";
import { Stepper } from "../steps/stepper.js";
import { rowsOf } from "../../rules/shapes_and_indices.js";

const LECTURE = 1.4; // scale of letters, as in lecture.css
const THUMBS = 34; // height of a row of planes
const OF_FIGURE = 3; // the most planes that a figure shows as pictures, as in bare_figure.css
const LEAST_AROUND = 60; // beside a band's panels: a title, a line of words, its edges

/**
 * @import { Numbers } from "../../base/format.js"
 * @typedef {{ planes: Record<string, Numbers>, thumbs: Record<string, Numbers> }} Values every panel's
 */

export class Band {
  name;
  panels;
  stage;
  el;

  row;
  stepper;
  #board;
  head;
  #plot;
  #film;
  /** @type {BandSpec | null} */
  #spec = null;
  /** @type {ArrayLike<number>[][]} */
  #planes = [];
  /** @type {number[]} */
  #limits = [];
  /** @type {[Values, string, BoardValues] | null} */
  #latest = null; // the last arguments of setValues
  // The height of its title and its words, when it last stood among others: with an answer, and without.
  #around = 0;
  #atRest = LEAST_AROUND;
  #unseen = false; // whether how the panels are made is still to be shown

  /** @param {Shared} board @param {string} name */
  constructor(board, name) {
    this.#board = board;
    this.name = name;
    this.row = new BandRow(board, (beside) => this.#asks(beside));
    this.panels = this.row.panels;
    this.#plot = new Heatmaps(board, this.panels);
    this.stage = element("div.cv-stage", this.#plot.el, this.row.el);
    this.#film = new Animations(this.stage, this.panels);
    const refresh = () => this.#latest && board.redraw(this, this.setValues(...this.#latest));
    const shared = { panels: this.panels, refresh, film: this.#film };
    this.stepper = new Stepper(board, name, shared);
    this.head = new BandHead(board, name, this.stepper.button, () => this.#film.making());

    this.el = element(
      "section.cv-equation",
      { "data-equation": name },
      this.head.el,
      this.stage,
      this.stepper.bar,
    );
  }

  /**
   * @param {BandSpec} next @param {Geometry} geometry @param
   * {import("../../picture/remainder_sentences.js").RemainderStory | null} story
   */
  setSpec(next, geometry, story) {
    if (next !== this.#spec) this.#film.finish();
    this.#unseen = this.#spec?.view === "stamps" && next.view !== "stamps";
    this.#spec = next;
    this.stepper.setSpec(next, geometry);
    this.row.set(next.items);
    this.head.setSpec(next, geometry, story);
  }

  /**
   * @param {Values} values @param {string} dtype @param {BoardValues} texts
   * @returns {number[]} indices of the panels that changed
   */
  setValues(values, dtype, texts) {
    this.#latest = [values, dtype, texts];
    this.stepper.setNumbers(values);
    this.head.setTexts(texts);
    const [planes, limits] = [this.#planes, this.#limits];
    const all = [...this.panels.values()];
    this.#limits = all.map((panel) => texts.limits[panel.spec().key]);
    this.#planes = all.map((panel, index) => {
      const { name, columns } = panel.spec();
      const plane = this.stepper.valuesOf(name) ?? values.planes[name];
      panel.setValues(plane, dtype, this.#limits[index], values.thumbs[name] ?? null);
      return rowsOf(plane, columns.length);
    });
    this.head.breakIt.show(texts.broken, this.panels);
    this.head.key.beyond(all.some((panel) => panel.grid.anyBeyond()));
    if (this.#unseen && !this.el.hasAttribute("data-strip")) this.#film.making();
    this.#unseen = false;
    return this.#planes.flatMap((plane, i) =>
      isSame(plane, planes[i]) && this.#limits[i] === limits[i] ? [] : [i],
    );
  }

  /** @param {{ focused: string, alone: string, inUse: string }} place */
  setPlace({ focused, alone, inUse }) {
    const isFocused = this.name === (alone || focused);
    this.el.style.gridArea = alone ? "" : this.name;
    this.el.toggleAttribute("data-focus", isFocused);
    this.el.toggleAttribute("data-strip", alone !== "" && alone !== this.name);
    this.el.toggleAttribute("data-in-use", this.name === inUse);
    this.head.setPressed(isFocused);
  }

  /** @param {boolean} beside as it would be beside the other bands */
  #asks(beside) {
    const isBeside = Boolean(this.el.closest('[data-bands="all"]'));
    const isFigure = this.el.closest('[data-stage="figure"]');
    // Planes as pictures; elsewhere lists choose.
    const hasRoom = beside ? isBeside : isFigure || this.el.closest('[data-stage="wide"]');
    const thumbs = this.el.hasAttribute("data-focus") && hasRoom ? THUMBS : 0;
    const planes = isFigure ? OF_FIGURE : Infinity;
    return { thumbs, planes, letters: this.#board.isLecture() ? LECTURE : 1, hasWidth: beside || isBeside };
  }

  /** Of whole pixels: clientWidth may be rounded up, and what fits into it would wrap. */
  room() {
    const { width, height } = this.stage.getBoundingClientRect();
    if (width && this.el.closest('[data-bands="all"]')) {
      this.#around = this.el.clientHeight - height;
      if (!this.head.isAsked()) this.#atRest = this.#around;
    }
    return { width: Math.floor(width), height: Math.floor(height) };
  }

  around = () => this.#around;

  /** What its words take is to be measured anew. */
  forgetAround() {
    this.#atRest = LEAST_AROUND;
  }

  /**
   * Beside other bands: the least room for readable numbers, and for colours alone.
   * @param {boolean} asked with the answer that was asked for
   */
  least(asked = false) {
    const { height, low, ...widths } = this.row.least();
    const around = asked ? this.#around : this.#atRest;
    return { ...widths, height: height && Math.ceil(height + around), low: Math.ceil(low + around) };
  }

  /**
   * Panels colour at once, plotly once at rest.
   * @param {Plotly | null} plotly @param {number[] | null} changed null: all
   */
  draw(plotly, changed) {
    if (this.#spec && this.#planes.length && changed?.length !== 0)
      this.#plot.draw(plotly, this.#planes, this.#limits);
  }

  /** @param {Plotly | null} plotly */
  destroy(plotly) {
    this.#film.finish();
    this.stepper.destroy();
    this.#plot.destroy(plotly);
    this.el.remove();
  }
}

/** @param {ArrayLike<number>[]} rows @param {ArrayLike<number>[] | undefined} before */
const isSame = (rows, before) =>
  before?.length === rows.length && rows.every((row, index) => equal(row, before[index]));
