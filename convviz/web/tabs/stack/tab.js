// @ts-check
// The tab Stack: several layers like the board's, what one output sees of the input, and the gradient on its
// way back. The page computes all of it: it needs no kernel.
import WORDS from "../../../facts/words/stack.json" with { type: "json" };
import { element, makeButton, setText } from "../../base/dom.js";
import { formatNumber } from "../../base/format.js";
import { setRich } from "../../base/rich_text.js";
import { sentences } from "../../base/words.js";
import { Heatmap } from "../../board/heatmap.js";
import { MOST_LAYERS, gradientThrough, layersOf, sizeAfter } from "../../numbers/stack.js";
import { createChoice } from "../choice.js";
import { planeRows } from "../mistakes/products.js";
import { openPane, split } from "../pane.js";
import { checkerboardWords, endWords, fieldWords, waysWords } from "./words.js";

const say = sentences(WORDS);
const EXAMPLES = { uneven: "v=2&size=11&stride=2", even: "v=2&size=10&kernel=4&stride=2" };

/**
 * @import { PaneContext } from "../pane.js"
 * @import { Tensor } from "../../rules/settings.js"
 * @import { Pair } from "../../rules/spec.js"
 * @import { Page } from "../mistakes/tab.js"
 * @typedef {{ layers: number, asks: string, weights: string }} Choice
 */

class StackPane {
  draw = () => {
    const there = this.#page.shown();
    if (!there) return;
    const {
      settings: { spec, plane, transposed: turned },
      numbers: { stages },
    } = there;
    const all = layersOf(spec, MOST_LAYERS);
    const stack = all.slice(0, this.#choice.layers);
    this.#used = stack.length;
    const size = sizeAfter(stack[this.#used - 1]);
    const asking = this.#choice.asks === "one" ? within(this.#asked, size) : null;
    const weight =
      this.#choice.weights === "ones"
        ? null
        : planeOf(stages.weight, plane.out_channel, plane.in_channel % (spec.in_channels / spec.groups));
    const gradients = gradientThrough(stack, weight, asking);
    this.#layers.set(String(this.#used), all.length);
    this.#asks.set(this.#choice.asks);
    this.#weights.set(this.#choice.weights);
    this.#transposed.hidden = !turned;
    this.#how.hidden = this.#choice.asks !== "one" || size[0] * size[1] === 1;
    setText(this.#ends, all.length < MOST_LAYERS ? endWords(all) : "");
    this.#show(gradients, asking);
    const input = gradients[gradients.length - 1];
    this.#tell([
      ...fieldWords(spec, this.#used),
      ...waysWords(input, weight === null),
      ...checkerboardWords(spec),
    ]);
    setText(this.#readout, say("hint"));
  };
  #pane;
  /** @type {Page} */
  #page;
  /** @type {Choice} */
  #choice = { layers: 2, asks: "one", weights: "ones" };
  /** @type {Pair | null} */
  #asked = null; // the output that asks, until it is chosen the one in the middle
  #used = 0; // layers that are shown: those of the choice that fit
  #layers = createChoice(
    say("layers"),
    range(MOST_LAYERS).map((index) => [String(index + 1), String(index + 1)]),
    (value) => this.#choose({ layers: Number(value) }),
  );
  #asks = createChoice(
    say("asks"),
    [
      ["one", say("asks.one")],
      ["all", say("asks.all")],
    ],
    (value) => this.#choose({ asks: value }),
  );
  #weights = createChoice(
    say("weights"),
    [
      ["ones", say("weights.ones")],
      ["board", say("weights.board")],
    ],
    (value) => this.#choose({ weights: value }),
  );
  #transposed = element("p", {}, say("about.transposed"));
  #ends = element("p", { class: "cv-note" });
  #flow = element("div", { class: "cv-flow cv-stack-planes" });
  #how = element("p", { class: "cv-muted" }, say("choose"));
  #readout = element("p", { class: "cv-readout" }, say("hint"));
  #told = element("div", { class: "cv-stack-told" });
  #planes;

  /** @param {PaneContext} context @param {import("../pane.js").PaneTools} pane @param {HTMLElement} body */
  constructor(context, pane, body) {
    this.#pane = pane;
    this.#page = context.model.page;
    this.#planes = range(MOST_LAYERS + 1).map((index) =>
      createPlane(
        this.#pane,
        (row, column) => this.#read(index, row, column),
        (row, column) => this.#ask(index, row, column),
      ),
    );
    const about = element("p", {});
    setRich(about, say("about"));
    const words = [
      element("h3", {}, say("title")),
      about,
      this.#transposed,
      element("div", { class: "cv-stack-choices" }, this.#layers.el, this.#asks.el, this.#weights.el),
      this.#ends,
    ];
    body.append(
      split(words, [
        this.#flow,
        this.#readout,
        this.#how,
        this.#told,
        createExamples((name) => this.#open(name)),
      ]),
    );
    pane.onClose(this.#page.follow(this.draw));
  }

  /** @param {Partial<Choice>} changes */
  #choose(changes) {
    Object.assign(this.#choice, changes);
    if (changes.layers) this.#asked = null; // the planes that it stood in are others
    this.draw();
  }

  /** @param {keyof typeof EXAMPLES} name */
  #open(name) {
    Object.assign(this.#choice, { layers: 2, asks: "all", weights: "ones" });
    this.#asked = null;
    this.#page.open(EXAMPLES[name], say("opened", { what: say(`example.${name}`) }));
    this.draw();
  }

  /** @param {number} index of a plane @param {number} row @param {number} column */
  #ask(index, row, column) {
    if (index > 0 || this.#choice.asks !== "one") return;
    this.#asked = [row, column];
    this.draw();
  }

  /** @param {Tensor[]} gradients @param {Pair | null} asking */
  #show(gradients, asking) {
    const count = gradients.length;
    const shown = this.#planes.slice(0, count);
    shown.forEach((plane, index) => {
      const layer = count - 1 - index;
      plane.set(
        gradients[index],
        layer ? say("plane.output", { layer }) : say("plane.input"),
        layer ? say("through", { layer }) : "",
      );
    });
    if (this.#flow.childElementCount !== count) this.#flow.replaceChildren(...shown.map(({ el }) => el));
    shown[0].light(asking ? [{ row: asking[0], column: asking[1] }] : []);
  }

  /** @param {string[]} lines */
  #tell(lines) {
    this.#told.replaceChildren(
      ...lines.map((line) => {
        const words = element("p", {});
        setRich(words, line);
        return words;
      }),
    );
  }

  /** @param {number} index of a plane @param {number} row @param {number} column */
  #read(index, row, column) {
    const value = this.#planes[index].valueAt(row, column);
    const layer = this.#used - index;
    const cell = layer ? say("cell.output", { row, column, layer }) : say("cell.input", { row, column });
    const words =
      this.#choice.weights === "ones"
        ? say("read.ways", { cell, count: value })
        : say("read.slope", { cell, value: formatNumber(value) });
    setText(this.#readout, words);
    if (document.activeElement?.closest(".cv-pane") === this.#pane.root) this.#pane.say(words);
  }
}

/** @param {PaneContext} context */
function renderStack(context) {
  return openPane(context, "stack", (pane, body) => new StackPane(context, pane, body).draw);
}

/**
 * The output that was chosen, or the middle one.
 * @param {Pair | null} asked @param {Pair} size @returns {Pair}
 */
function within(asked, [height, width]) {
  const inside = asked && asked[0] < height && asked[1] < width;
  return inside ? asked : [Math.floor((height - 1) / 2), Math.floor((width - 1) / 2)];
}

/**
 * One kernel of a weight, as a weight.
 * @param {Tensor} weight @param {number} out @param {number} into @returns {Tensor}
 */
function planeOf({ shape: [, inputs, height, width], data }, out, into) {
  const start = (out * inputs + into) * height * width;
  return { shape: [1, 1, height, width], data: data.slice(start, start + height * width) };
}

/**
 * A plane with what leads to the next one.
 * @param {import("../pane.js").PaneTools} pane @param {(row: number, column: number) => void} onPoint
 * @param {(row: number, column: number) => void} onSelect
 */
function createPlane(pane, onPoint, onSelect) {
  const map = new Heatmap(pane, { onPoint, onSelect });
  const words = element("span", { class: "cv-sign-note" });
  const sign = element(
    "span",
    { class: "cv-sign" },
    element("span", { class: "cv-symbol", "aria-hidden": "true" }, "\u2192"),
    words,
  );
  /** @type {number[][]} */
  let values = [];
  return {
    el: element("div", { class: "cv-stack-plane" }, map.el, sign),
    /** @param {number} row @param {number} column */
    valueAt: (row, column) => values[row][column],
    light: map.light,
    /**
     * @param {Tensor} tensor @param {string} label
     * @param {string} through the layer that comes next; empty: none
     */
    set(tensor, label, through) {
      values = planeRows(tensor, 0);
      map.set({ values, label, within: [250, 4, 30], dtype: "float64" });
      setText(words, through);
      sign.hidden = !through;
    },
  };
}

/** @param {(name: keyof typeof EXAMPLES) => void} open */
function createExamples(open) {
  const buttons = /** @type {(keyof typeof EXAMPLES)[]} */ (Object.keys(EXAMPLES)).map((name) => {
    return makeButton({ class: "cv-button", "data-example": name }, say(`example.${name}`), () => open(name));
  });
  return element(
    "p",
    { class: "cv-buttons" },
    element("span", { class: "cv-muted" }, say("examples")),
    ...buttons,
  );
}

/** @param {number} count */
const range = (count) => [...Array(count).keys()];

export default { render: renderStack };
