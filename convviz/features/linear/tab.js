// The tab Linear: equations of matrices, linked by their indices, and the way to conv2d.
import WORDS from "./words.json" with { type: "json" };
import { element, setText } from "../../web/base/dom.js";
import { colorOf, formatNumber } from "../../web/base/format.js";
import { pieces, sentences } from "../../web/base/sentences.js";
import { openEditor } from "../../web/board/grid/cell_editor.js";
import { Heatmap } from "../../web/board/grid/tab_heatmap.js";
import { createFormula, setFormula } from "../../web/board/band/coloured_names.js";
import { factorSpan } from "../../web/board/grid/sum_of_products.js";
import { split, tab } from "../../web/tabs/pane.js";
import { code, fillMenu, limitOf, signOf, button } from "../../web/tabs/pane_elements.js";
import { quantityOf } from "../../web/picture/colour_scales.js";
import { LINEAR_RULES, linearLinks, linearName, linearTerms } from "./linear_index_triples.js";
import { upTo } from "../../web/rules/shapes_and_indices.js";

const say = sentences(WORDS);
const sayPieces = pieces(WORDS);

const CELL_SIDE = 34;
const GIVEN = ["input", "weight", "bias"];
const MENUS = /** @type {const} */ (["batch", "in_features", "out_features", "loss"]);
const SUMS = { n: "\u03a3\u2099", o: "\u03a3\u2092", i: "\u03a3\u1d62" };
/** @type {Record<string, string>} */
const NOTES = { "\u2192": say("loss"), "\u03a3": say("over_n") }; // words shown below a sign

// A tensor's name, or ~name for the transposed one, and signs between them.
const EQUATIONS = [
  {
    title: say("forward"),
    formula: `output[n, o] = ${SUMS.i} input[n, i] \u00b7 weight[o, i] + bias[o]`,
    items: "input \u00b7 ~weight + bias = output \u2192 grad_output",
  },
  {
    title: say("to_input"),
    formula: `grad_input[n, i] = ${SUMS.o} grad_output[n, o] \u00b7 weight[o, i]`,
    items: "grad_output \u00b7 weight = grad_input",
  },
  {
    title: say("to_weight"),
    formula: `grad_weight[o, i] = ${SUMS.n} grad_output[n, o] \u00b7 input[n, i]`,
    items: "~grad_output \u00b7 input = grad_weight",
  },
  {
    title: say("to_bias"),
    formula: `grad_bias[o] = ${SUMS.n} grad_output[n, o]`,
    items: "\u03a3 grad_output = grad_bias",
  },
];

/**
 * @import { LinearCell, LinearSizes } from "./linear_index_triples.js"
 * @typedef {{ tensors: Record<string, any> & { weight: number[][], bias: number[] }, loss: number, deviation:
 *   number, settings: LinearSizes & { seed: number, loss: string }, sizes:
 *   Record<string, Pair>, losses: string[] }} LinearData by data.py
 * @typedef {[tensor: string, row: number, column: number, value: number]} Typed
 * @typedef {{ cell: LinearCell, at: Pair, size: Pair, typed: string }} Edit at, size:
 *   in its map
 * @typedef {{ point: (cell: LinearCell) => void, leave: () => void, edit: (map: Heatmap, edit: Edit) => void
 *   }} Events
 */

/** @param {Typed[]} typed @param {LinearCell} cell @param {number} value @returns {Typed[]} */
export function withTyped(typed, { tensor, row, column }, value) {
  const others = typed.filter((each) => each[0] !== tensor || each[1] !== row || each[2] !== column);
  return [...others, [tensor, row, column, value]];
}

/**
 * A 1 x 1 kernel with the lesson's weight.
 * @param {Settings} settings @param {{ weight: number[][], bias: number[] }} tensors
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
  #menus;
  #loss = element("span");
  #truth = element("span.cv-truth");
  #sum = element("p.cv-lesson-sum.cv-said", say("hint"));
  /** @type {ReturnType<typeof createLessonMap>[]} */
  #maps = [];

  /** @param {PaneTools} pane @param {HTMLElement} body */
  constructor(pane, body) {
    this.#pane = pane;
    this.#menus = createMenus(pane);
    const draw = button(say("other"), () => pane.choose({ seed: this.#data.settings.seed + 1, typed: [] }));
    const show = button(say("show"), () =>
      pane.goTo((settings) => onBoard(settings, this.#data.tensors), say("shown")),
    );
    const words = [
      element("h3", say("title")),
      element("p", say("about")),
      element("div.cv-lesson-controls", ...this.#menus.els, draw),
      element("p.cv-facts", this.#loss, this.#truth),
      this.#sum,
    ];
    const picture = [
      ...EQUATIONS.map((equation) => this.#createEquation(equation)),
      element("h4", say("conv2d")),
      element("p", say("conv2d_about")),
      element("p.cv-lesson-go", show),
    ];
    body.append(split(words, picture));
  }

  /** @param {typeof EQUATIONS[0]} equation */
  #createEquation({ title, formula: text, items }) {
    const flow = element("div.cv-flow");
    let term = element("div.cv-lesson-term"); // a sign stays with its matrix
    for (const item of items.split(" ")) {
      if (!/\w/.test(item)) {
        term.append(signOf(item, NOTES[item]));
        continue;
      }
      const map = createLessonMap(this.#pane, item, this.#events);
      this.#maps.push(map);
      term.append(map.el);
      flow.append(term);
      term = element("div.cv-lesson-term");
    }
    const formula = createFormula();
    setFormula(formula, text);
    return element("section.cv-lesson-row", element("h4", title), formula, flow);
  }

  /** @type {Events} */
  #events = {
    point: (cell) => {
      const links = [cell, ...linearLinks(this.#data.settings, cell)];
      for (const map of this.#maps) map.light(links);
      this.#write(cell);
    },
    leave: () => {
      for (const map of this.#maps) map.light([]);
    },
    edit: (map, { cell, at: [row, column], size: [rows, columns], typed }) =>
      openEditor(
        /** @type {HTMLElement} */ (map.el.querySelector(".cv-area")),
        { row, column, rows, columns },
        linearName(cell),
        typed || String(this.#valueOf(cell)),
        Boolean(typed),
        (value) => this.#pane.choose({ typed: withTyped(this.#pane.chosen().typed ?? [], cell, value) }),
        (sentence) => setText(this.#sum, sentence),
        () => map.grid.focusCell(row, column),
      ),
  };

  /** @param {LinearCell} cell @returns {number} */
  #valueOf({ tensor, row, column }) {
    const values = this.#data.tensors[tensor];
    return Array.isArray(values[0]) ? values[row][column] : values[column];
  }

  /** @param {LinearCell} cell */
  #factor(cell) {
    const value = this.#valueOf(cell);
    const limit = limitOf(this.#data.tensors[cell.tensor].flat());
    const color = colorOf(this.#pane.scale(quantityOf(cell.tensor)), value, limit);
    return factorSpan(value, color, { title: linearName(cell) });
  }

  /** @param {LinearCell} cell */
  #write(cell) {
    const terms = linearTerms(this.#data.settings, cell);
    const [head, value] = [code(linearName(cell)), this.#valueOf(cell)];
    this.#sum.dataset.value = String(value);
    if (!terms.length) {
      const loss = /** @type {"sum"} */ (this.#data.settings.loss);
      const id = GIVEN.includes(cell.tensor) ? "given" : `slope_${loss}`;
      const values = { cell: head, value: formatNumber(value) };
      return this.#sum.replaceChildren(...sayPieces(/** @type {"given"} */ (id), values));
    }
    const parts = terms.flatMap((term, index) => [
      index ? " + " : "",
      ...term.flatMap((each, place) => [place ? "\u00b7" : "", this.#factor(each)]),
    ]);
    if (cell.tensor === "output")
      parts.push(" + ", this.#factor({ tensor: "bias", row: 0, column: cell.column }));
    const total = element("output", formatNumber(value));
    const sum = SUMS[LINEAR_RULES[cell.tensor].over];
    this.#sum.replaceChildren(head, ` = ${sum} `, ...parts, " = ", total);
    if (document.activeElement?.closest(".cv-pane") === this.#pane.root)
      this.#pane.say(this.#sum.textContent ?? "");
  }

  /** @param {LinearData} next */
  set = (next) => {
    this.#data = next;
    const { loss, deviation } = next;
    this.#menus.set(next);
    setText(this.#loss, say("loss_is", { loss: formatNumber(loss) }));
    const small = deviation <= 1e-4;
    const held = deviation === 0 ? "exact" : small ? "close" : "differs";
    setText(this.#truth, say(held, { apart: formatNumber(deviation) }));
    this.#truth.dataset.ok = String(small);
    for (const map of this.#maps) map.set(next);
    this.#events.leave();
    setText(this.#sum, say("hint"));
  };
}

/** @param {PaneTools} pane */
function createMenus(pane) {
  const menus = MENUS.map((name) => {
    const menu = element("select", { "data-set": name });
    menu.addEventListener("change", () =>
      pane.choose({ [name]: name === "loss" ? menu.value : Number(menu.value) }),
    );
    return { name, menu };
  });
  return {
    els: menus.map(({ name, menu }) => element("label", say(`${name}`), " ", menu)),
    /** @param {LinearData} data */
    set({ sizes, losses, settings }) {
      for (const { name, menu } of menus) {
        const [least, most] = sizes[name] ?? [0, -1];
        const counts = upTo(most - least + 1).map((step) => [String(least + step)]);
        const words = losses.map((loss) => [loss, say(/** @type {"sum"} */ (`${loss}`))]);
        fillMenu(menu, name === "loss" ? words : counts, String(settings[name]));
      }
    },
  };
}

/** @param {PaneTools} pane @param {string} item @param {Events} events */
function createLessonMap(pane, item, events) {
  const turned = item.startsWith("~");
  const tensor = item.replace("~", "");
  let size = /** @type {Pair} */ ([1, 1]);
  const cellAt = (/** @type {number} */ row, /** @type {number} */ column) =>
    turned ? { tensor, row: column, column: row } : { tensor, row, column };
  const map = new Heatmap(pane, {
    onPoint: (row, column) => events.point(cellAt(row, column)),
    onLeave: events.leave,
    onEdit: (row, column, typed) =>
      events.edit(map, { cell: cellAt(row, column), at: [row, column], size, typed }),
  });
  map.el.dataset.tensor = item;
  return {
    el: map.el,
    /** @param {LinearData} data */
    set({ tensors }) {
      const stored = tensors[tensor];
      const isMatrix = Array.isArray(stored[0]);
      /** @type {number[][]} */
      const rows = isMatrix ? stored : [stored];
      const values = turned ? rows[0].map((_, column) => rows.map((line) => line[column])) : rows;
      size = [values.length, values[0].length];
      map.set({
        values,
        label: turned ? `${tensor}\u1d40` : tensor,
        shape: isMatrix ? undefined : `[${stored.length}]`,
        limit: limitOf(stored.flat()),
        cell: CELL_SIDE,
        editable: GIVEN.includes(tensor),
        dtype: "float32",
      });
    },
    /** @param {LinearCell[]} cells */
    light: (cells) =>
      map.light(cells.filter((cell) => cell.tensor === tensor).map((cell) => cellAt(cell.row, cell.column))),
  };
}

export default tab("linear", (pane, body) => new LinearPane(pane, body).set);
