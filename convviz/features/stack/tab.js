// The tab Stack: several layers like the board's, what one output sees of the input, and the gradient on its
// way back. The page computes all of it.
import { element, setText } from "../../web/base/dom.js";
import { formatNumber } from "../../web/base/format.js";
import { rich } from "../../web/base/rich_text.js";
import { Heatmap } from "../../web/board/grid/tab_heatmap.js";
import { MAX_LAYERS, gradientThrough, layersOf } from "./layer_stack.js";
import { planeRows } from "../../web/tabs/shown_planes.js";
import { split, tab } from "../../web/tabs/pane.js";
import { createChoice, button } from "../../web/tabs/pane_elements.js";
import { checkerboardWords, endWords, fieldWords, waysWords } from "./geometry_words.js";
import { say } from "./sentences.js";
import { planeOf, upTo } from "../../web/rules/shapes_and_indices.js";
import { shownAt } from "../../web/rules/shown_plane.js";
import { outputSizes } from "../../web/rules/conv_geometry.js";

const EXAMPLES = { uneven: "v=2&size=11&stride=2", even: "v=2&size=10&kernel=4&stride=2" };

/**
 * @typedef {{ layers: number, asks: string, weights: string }} Choice
 */

class StackPane {
  draw = () => {
    const there = this.#pane.page.shown();
    if (!there) return;
    const { spec, plane, transposed } = there.settings;
    const { layers, asks, weights } = this.#choice;
    const all = layersOf(spec, MAX_LAYERS);
    const stack = all.slice(0, layers);
    this.#used = stack.length;
    const size = outputSizes(stack[this.#used - 1]);
    const asking = asks === "one" ? within(this.#asked, size) : null;
    const data = planeOf(there.numbers.stages.weight, shownAt(plane, spec, "weight", transposed));
    const weight = weights === "ones" ? null : { shape: [1, 1, ...spec.kernel_size], data };
    const gradients = gradientThrough(stack, weight, asking);
    this.#layers.set(String(this.#used), all.length);
    this.#asks.set(asks);
    this.#weights.set(weights);
    this.#transposed.hidden = !transposed;
    this.#how.hidden = asks !== "one" || size[0] * size[1] === 1;
    setText(this.#ends, all.length < MAX_LAYERS ? endWords(all) : "");
    this.#show(gradients, asking);
    const input = gradients[gradients.length - 1];
    const ways = waysWords(input, weight === null);
    const lines = [...fieldWords(spec, this.#used), ...ways, ...checkerboardWords(spec)];
    this.#told.replaceChildren(...lines.map((line) => rich("p", line)));
    setText(this.#readout, say("hint"));
  };
  #pane;
  /** @type {Choice} */
  #choice = { layers: 2, asks: "one", weights: "ones" };
  /** @type {Pair | null} */
  #asked = null; // null: the middle one
  #used = 0; // layers that fit
  #layers = createChoice(
    say("layers"),
    upTo(MAX_LAYERS).map((index) => [String(index + 1), String(index + 1)]),
    (value) => this.#choose({ layers: Number(value) }),
  );
  #asks = createChoice(
    say("asks"),
    /** @type {const} */ (["one", "all"]).map((asks) => [asks, say(`asks.${asks}`)]),
    (asks) => this.#choose({ asks }),
  );
  #weights = createChoice(
    say("weights"),
    /** @type {const} */ (["ones", "board"]).map((weights) => [weights, say(`weights.${weights}`)]),
    (weights) => this.#choose({ weights }),
  );
  #transposed = element("p", say("about.transposed"));
  #ends = element("p.cv-note");
  #flow = element("div.cv-flow.cv-stack-planes");
  #how = element("p.cv-muted", say("choose"));
  #readout = element("p.cv-readout", say("hint"));
  #told = element("div.cv-stack-told");
  #planes;

  /** @param {PaneTools} pane @param {HTMLElement} body */
  constructor(pane, body) {
    this.#pane = pane;
    this.#planes = upTo(MAX_LAYERS + 1).map((index) =>
      createPlane(
        pane,
        (row, column) => this.#read(index, row, column),
        (row, column) => {
          if (index > 0 || this.#choice.asks !== "one") return;
          this.#asked = [row, column];
          this.draw();
        },
      ),
    );
    const choices = [this.#layers, this.#asks, this.#weights].map(({ el }) => el);
    const words = [
      element("h3", say("title")),
      rich("p", say("about")),
      this.#transposed,
      element("div.cv-stack-choices", ...choices),
      this.#ends,
    ];
    const examples = createExamples((name) => this.#open(name));
    body.append(split(words, [this.#flow, this.#readout, this.#how, this.#told, examples]));
    pane.onClose(pane.page.follow(this.draw));
  }

  /** @param {Partial<Choice>} changes */
  #choose(changes) {
    Object.assign(this.#choice, changes);
    if (changes.layers) this.#asked = null;
    this.draw();
  }

  /** @param {keyof typeof EXAMPLES} name */
  #open(name) {
    Object.assign(this.#choice, { layers: 2, asks: "all", weights: "ones" });
    this.#asked = null;
    this.#pane.page.open(EXAMPLES[name], say("opened", { what: say(`example.${name}`) }));
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
        // between the two, an output is an input, too
        layer ? (index ? "" : "grad_output") : "grad_input",
      );
    });
    if (this.#flow.childElementCount !== count) this.#flow.replaceChildren(...shown.map(({ el }) => el));
    shown[0].light(asking ? [{ row: asking[0], column: asking[1] }] : []);
  }

  /** @param {number} index @param {number} row @param {number} column */
  #read(index, row, column) {
    const value = this.#planes[index].valueAt(row, column);
    const layer = this.#used - index;
    const cell = layer ? say("cell.output", { row, column, layer }) : say("cell.input", { row, column });
    const words =
      this.#choice.weights === "ones"
        ? say("read.ways", { cell, count: value })
        : say("read.slope", { cell, value: formatNumber(value) });
    this.#pane.read(this.#readout, words);
  }
}

/** @param {Pair | null} asked @param {Pair} size @returns {Pair} */
function within(asked, [height, width]) {
  const inside = asked && asked[0] < height && asked[1] < width;
  return inside ? asked : [Math.floor((height - 1) / 2), Math.floor((width - 1) / 2)];
}

/** @param {PaneTools} pane @param {AtCell} onPoint @param {AtCell} onSelect */
function createPlane(pane, onPoint, onSelect) {
  const map = new Heatmap(pane, { onPoint, onSelect });
  const words = element("span.cv-sign-note");
  const arrow = element("span.cv-symbol", { "aria-hidden": "true" }, "\u2192");
  const sign = element("span.cv-sign", arrow, words);
  /** @type {number[][]} */
  let values = [];
  return {
    el: element("div.cv-stack-plane", map.el, sign),
    /** @param {number} row @param {number} column */
    valueAt: (row, column) => values[row][column],
    light: map.light,
    /**
     * @param {Tensor} tensor @param {string} label @param {string} through the next layer, or empty
     * @param {string} of whose colours it has
     */
    set(tensor, label, through, of) {
      values = planeRows(tensor, 0);
      map.set({ values, label, within: [250, 4, 30], of });
      setText(words, through);
      sign.hidden = !through;
    },
  };
}

/** @param {(name: keyof typeof EXAMPLES) => void} open */
function createExamples(open) {
  const buttons = /** @type {(keyof typeof EXAMPLES)[]} */ (Object.keys(EXAMPLES)).map((name) =>
    button(say(`example.${name}`), () => open(name), { "data-example": name }),
  );
  const title = element("span.cv-muted", say("examples"));
  return element("p.cv-buttons", title, ...buttons);
}

export default tab("stack", (pane, body) => new StackPane(pane, body).draw);
