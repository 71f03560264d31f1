// @ts-check
// The tab Linear: a lesson of its own. Three equations of matrices, linked by their indices, and the way to
// conv2d.
import WORDS from "../../../facts/words/tabs.json" with { type: "json" };
import { element, makeButton, setText } from "../../base/dom.js";
import { openEditor } from "../../board/editor.js";
import { colorOf, formatNumber } from "../../base/format.js";
import { factorSpan } from "../../board/sum.js";
import { Heatmap } from "../../board/heatmap.js";
import { createFormula, setFormula } from "../../board/quantities.js";
import { LINEAR_RULES, linearLinks, linearName, linearTerms } from "./rules.js";
import { openPane, split } from "../pane.js";
import { pieces, sentences } from "../../base/words.js";

const say = sentences(WORDS);
const sayPieces = pieces(WORDS);
const CELL_SIDE = 34;
const GIVEN = ["input", "weight", "bias"];
const MENU_WORDS = {
  batch: say("linear.batch"),
  in_features: say("linear.in_features"),
  out_features: say("linear.out_features"),
  loss: say("linear.loss"),
};
const LOSS_WORDS = {
  half_squared_error: say("linear.half_squared_error"),
  sum: say("linear.sum"),
  mean: say("linear.mean"),
};
const LOSS_SLOPES = /** @type {const} */ ({
  half_squared_error: "linear.slope_half_squared_error",
  sum: "linear.slope_sum",
  mean: "linear.slope_mean",
});

// A tensor's name, or ~name for the transposed one, and signs between them.
const LESSON_ROWS = [
  {
    title: say("linear.forward"),
    formula: "output[n, o] = \u03a3\u1d62 input[n, i] \u00b7 weight[o, i] + bias[o]",
    items: ["input", "\u00b7", "~weight", "+", "bias", "=", "output", "\u2192", "grad_output"],
  },
  {
    title: say("linear.to_input"),
    formula: "grad_input[n, i] = \u03a3\u2092 grad_output[n, o] \u00b7 weight[o, i]",
    items: ["grad_output", "\u00b7", "weight", "=", "grad_input"],
  },
  {
    title: say("linear.to_weight"),
    formula: "grad_weight[o, i] = \u03a3\u2099 grad_output[n, o] \u00b7 input[n, i]",
    items: ["~grad_output", "\u00b7", "input", "=", "grad_weight"],
  },
  {
    title: say("linear.to_bias"),
    formula: "grad_bias[o] = \u03a3\u2099 grad_output[n, o]",
    items: ["\u03a3", "grad_output", "=", "grad_bias"],
  },
];

/**
 * @import { PaneContext } from "../pane.js"
 * @import { Settings } from "../../rules/settings.js"
 * @typedef {{ tensor: string, row: number, column: number }} LessonCell
 * @typedef {{ tensors: Record<string, any> & { weight: number[][], bias: number[] }, loss: number, deviation:
 *   number, settings: import("./rules.js").LinearSizes & { seed: number, loss: string }, sizes:
 *   Record<string, [number, number]>, losses: string[] }} LinearData as app/tabs/linear.py sends it
 * @typedef {[tensor: string, row: number, column: number, value: number]} Typed
 */

/**
 * The numbers that were typed, with one more.
 * @param {Typed[]} typed @param {LessonCell} cell @param {number} value @returns {Typed[]}
 */
export function withTyped(typed, { tensor, row, column }, value) {
  const others = typed.filter((each) => each[0] !== tensor || each[1] !== row || each[2] !== column);
  return [...others, [tensor, row, column, value]];
}

/**
 * What gives the board a 1 x 1 kernel: the lesson's weight, applied to the channels of every cell of the
 * input.
 * @param {Settings} settings @param {{ weight: number[][], bias: number[] }} tensors of the lesson
 * @returns {Partial<Settings>}
 */
export function onBoard({ spec }, { weight, bias }) {
  const [out_channels, in_channels] = [weight.length, weight[0].length];
  return {
    spec: {
      ...spec,
      in_channels,
      out_channels,
      groups: 1,
      kernel_size: [1, 1],
      stride: [1, 1],
      padding: [
        [0, 0],
        [0, 0],
      ],
      dilation: [1, 1],
    },
    transposed: false,
    weight: { kind: "values", values: weight.flat(), shape: [out_channels, in_channels, 1, 1] },
    bias: { kind: "values", values: bias, shape: [out_channels] },
  };
}

class LinearPane {
  #pane;
  #data = /** @type {LinearData} */ (/** @type {unknown} */ (null));
  #controls;
  #loss = element("span");
  #truth = element("span", { class: "cv-truth" });
  #sum = element("p", { class: "cv-lesson-sum cv-said" }, say("linear.hint"));
  #equations;
  #maps;

  /** @param {PaneContext} context @param {import("../pane.js").PaneTools} pane @param {HTMLElement} body */
  constructor(context, pane, body) {
    this.#pane = pane;
    this.#equations = LESSON_ROWS.map((row) =>
      createEquationRow(this.#pane, row, {
        point: (cell) => this.#point(cell),
        leave: () => this.#leave(),
        type: (area, cell, at, size, typed, closed) => this.#type(area, cell, at, size, typed, closed),
      }),
    );
    this.#maps = this.#equations.flatMap((equation) => equation.maps);
    this.#controls = createControls(pane, () =>
      pane.choose({ seed: this.#data.settings.seed + 1, typed: [] }),
    );
    const facts = element("p", { class: "cv-facts" });
    facts.append(this.#loss, this.#truth);
    const show = makeButton({ class: "cv-button" }, say("linear.show"), () =>
      context.model.goTo((settings) => onBoard(settings, this.#data.tensors), say("linear.shown")),
    );
    const words = [
      element("h3", {}, say("linear")),
      element("p", {}, say("linear.about")),
      this.#controls.el,
      facts,
      this.#sum,
    ];
    const picture = [
      ...this.#equations.map((equation) => equation.el),
      element("h4", {}, say("linear.conv2d")),
      element("p", {}, say("linear.conv2d_about")),
      element("p", { class: "cv-lesson-go" }, show),
    ];
    body.append(split(words, picture));
  }

  /** @param {LessonCell} cell */
  #point(cell) {
    const links = [cell, ...linearLinks(this.#data.settings, cell)];
    for (const map of this.#maps) map.light(links);
    this.#write(cell);
  }

  #leave() {
    for (const map of this.#maps) map.light([]);
  }

  /** @param {LessonCell} cell */
  #valueOf({ tensor, row, column }) {
    const values = this.#data.tensors[tensor];
    return Array.isArray(values[0]) ? values[row][column] : values[column];
  }

  /** Write the sum behind a cell. @param {LessonCell} cell */
  #write(cell) {
    const terms = linearTerms(this.#data.settings, cell);
    const head = element("code", {}, linearName(cell));
    const value = this.#valueOf(cell);
    this.#sum.dataset.value = String(value);
    if (!terms.length) {
      const given = GIVEN.includes(cell.tensor);
      const values = { cell: head, value: formatNumber(value) };
      return this.#sum.replaceChildren(
        ...sayPieces(given ? "linear.given" : LOSS_SLOPES[this.#data.settings.loss], values),
      );
    }
    const factor = (each) => {
      const value = this.#valueOf(each);
      const color = colorOf(this.#pane.scale(), value, limitOf(each.tensor, this.#data));
      return factorSpan(value, color, { title: linearName(each) });
    };
    const parts = terms.flatMap((term, index) => [
      index ? " + " : "",
      ...term.flatMap((each, place) => [place ? "\u00b7" : "", factor(each)]),
    ]);
    if (cell.tensor === "output") parts.push(" + ", factor({ tensor: "bias", row: 0, column: cell.column }));
    const axis = { n: "\u2099", o: "\u2092", i: "\u1d62" }[LINEAR_RULES[cell.tensor].over];
    this.#sum.replaceChildren(
      head,
      ` = \u03a3${axis} `,
      ...parts,
      " = ",
      element("output", {}, formatNumber(value)),
    );
    if (document.activeElement?.closest(".cv-pane") === this.#pane.root)
      this.#pane.say(this.#sum.textContent ?? "");
  }

  /** @param {HTMLElement} area @param {LessonCell} cell @param {[number, number]} at
   * @param {[number, number]} size @param {string} typed @param {() => void} closed */
  #type(area, cell, at, size, typed, closed) {
    const text = typed || String(this.#valueOf(cell));
    openEditor(
      area,
      { row: at[0], column: at[1], rows: size[0], columns: size[1] },
      linearName(cell),
      text,
      Boolean(typed),
      (value) => this.#pane.choose({ typed: withTyped(this.#pane.chosen().typed ?? [], cell, value) }),
      (sentence) => setText(this.#sum, sentence),
      closed,
    );
  }

  set(next) {
    this.#data = next;
    this.#controls.set(this.#data);
    setText(this.#loss, say("linear.loss_is", { loss: formatNumber(this.#data.loss) }));
    const small = this.#data.deviation <= 1e-4;
    const held = this.#data.deviation === 0 ? "linear.exact" : small ? "linear.close" : "linear.differs";
    setText(this.#truth, say(held, { apart: formatNumber(this.#data.deviation) }));
    this.#truth.dataset.ok = String(small);
    for (const equation of this.#equations) equation.set(this.#data);
    this.#leave();
    setText(this.#sum, say("linear.hint"));
  }
}

/** @param {PaneContext} context */
function renderLinear(context) {
  return openPane(context, "linear", (pane, body) => {
    const made = new LinearPane(context, pane, body);
    return (next) => made.set(next);
  });
}

/** The menus of the lesson. @param {import("../pane.js").PaneTools} pane @param {() => void} onDraw */
function createControls(pane, onDraw) {
  /** @type {Record<string, HTMLSelectElement>} */
  const menus = {};
  const el = element("div", { class: "cv-lesson-controls" });
  for (const [name, words] of Object.entries(MENU_WORDS)) {
    const menu = element("select", { "data-set": name });
    menu.addEventListener("change", () =>
      pane.choose({ [name]: name === "loss" ? menu.value : Number(menu.value) }),
    );
    menus[name] = menu;
    el.append(element("label", {}, `${words} `, menu));
  }
  const draw = makeButton({ class: "cv-button" }, say("linear.other"), onDraw);
  el.append(draw);
  return {
    el,
    /** @param {LinearData} data */
    set(data) {
      for (const [name, menu] of Object.entries(menus)) {
        if (!menu.options.length) {
          const [least, most] = data.sizes[name] ?? [0, -1];
          const values =
            name === "loss" ? data.losses : [...Array(most - least + 1).keys()].map((step) => least + step);
          menu.append(
            ...values.map((value) =>
              element("option", { value: String(value) }, LOSS_WORDS[value] ?? String(value)),
            ),
          );
        }
        menu.value = String(data.settings[name]);
      }
    },
  };
}

/**
 * One equation: its heatmaps and the signs between them.
 * @param {import("../pane.js").PaneTools} pane
 * @param {{ title: string, formula: string, items: string[] }} row
 * @param {{ point: (cell: LessonCell) => void, leave: () => void,
 *   type: (area: HTMLElement, cell: LessonCell, at: [number, number], size: [number, number], typed: string,
 *   closed: () => void) => void }} events
 */
function createEquationRow(pane, row, events) {
  const flow = element("div", { class: "cv-flow" });
  const maps = [];
  let term = element("div", { class: "cv-lesson-term" }); // a sign stays with the matrix that follows it
  for (const item of row.items) {
    if (!/\w/.test(item)) {
      const sign = element("span", { class: "cv-sign" }, element("span", { class: "cv-symbol" }, item));
      if (item === "\u2192") sign.append(element("span", { class: "cv-sign-note" }, say("linear.loss")));
      if (item === "\u03a3") sign.append(element("span", { class: "cv-sign-note" }, say("linear.over_n")));
      term.append(sign);
      continue;
    }
    const map = createLessonMap(pane, item, events);
    maps.push(map);
    term.append(map.el);
    flow.append(term);
    term = element("div", { class: "cv-lesson-term" });
  }
  const formula = createFormula();
  setFormula(formula, row.formula);
  const el = element("section", { class: "cv-lesson-row" }, element("h4", {}, row.title), formula, flow);
  return {
    el,
    maps,
    /** @param {LinearData} data */
    set(data) {
      for (const map of maps) map.set(data);
    },
  };
}

/** A tensor's heatmap; an item that begins with ~ stands for the transposed matrix. */
function createLessonMap(pane, item, events) {
  const turned = item.startsWith("~");
  const tensor = item.replace("~", "");
  let size = /** @type {[number, number]} */ ([1, 1]);
  const cellAt = (row, column) => ({ tensor, row: turned ? column : row, column: turned ? row : column });
  const map = new Heatmap(pane, {
    onPoint: (row, column) => events.point(cellAt(row, column)),
    onLeave: events.leave,
    onEdit: (row, column, typed) => {
      const area = /** @type {HTMLElement} */ (map.el.querySelector(".cv-area"));
      events.type(area, cellAt(row, column), [row, column], size, typed, () =>
        map.grid.focusCell(row, column),
      );
    },
  });
  map.el.dataset.tensor = item;
  return {
    el: map.el,
    /** @param {LinearData} data */
    set(data) {
      const stored = data.tensors[tensor];
      const rows = Array.isArray(stored[0]) ? stored : [stored];
      const values = turned ? rows[0].map((_, column) => rows.map((line) => line[column])) : rows;
      size = [values.length, values[0].length];
      const shape = Array.isArray(stored[0]) ? `[${size.join(", ")}]` : `[${stored.length}]`;
      map.set({
        values,
        label: turned ? `${tensor}\u1d40` : tensor,
        shape,
        limit: limitOf(tensor, data),
        cell: CELL_SIDE,
        editable: GIVEN.includes(tensor),
      });
    },
    /** @param {LessonCell[]} cells */
    light: (cells) =>
      map.light(cells.filter((cell) => cell.tensor === tensor).map((cell) => cellAt(cell.row, cell.column))),
  };
}

/**
 * The end of a tensor's colour scale: it has the same colours in every equation.
 * @param {string} tensor @param {LinearData} data
 */
function limitOf(tensor, data) {
  return Math.max(...data.tensors[tensor].flat().map(Math.abs)) || 1;
}

export default { render: renderLinear };
