// @ts-check
// The tab Stack: several layers like the board's, what one output sees of the input, and the gradient on its way back.
// The page computes all of it: it needs no kernel.
import WORDS from "../../../facts/words/stack.json" with { type: "json" };
import { element, setText } from "../base/dom.js";
import { formatNumber } from "../base/format.js";
import { setRich } from "../base/rich_text.js";
import { sentences } from "../base/words.js";
import { createHeatmap } from "../board/heatmap.js";
import { MOST_LAYERS, gradientThrough, layersOf, sizeAfter } from "../numbers/stack.js";
import { createChoice } from "./choice.js";
import { planeRows } from "./mistakes_products.js";
import { openPane, split } from "./pane.js";
import { checkerboardWords, endWords, fieldWords, waysWords } from "./stack_words.js";

const say = sentences(WORDS);
const [SMALLEST, LARGEST, SIDE] = [4, 30, 250]; // pixels of a cell, and of a plane
const ROOM_FOR_NUMBER = 22;
const EXAMPLES = { uneven: "v=2&size=11&stride=2", even: "v=2&size=10&kernel=4&stride=2" };

/**
 * @import { Tensor } from "../rules/settings.js"
 * @import { Pair } from "../rules/spec.js"
 * @import { Page } from "./tab_mistakes.js"
 * @typedef {{ layers: number, asks: string, weights: string }} Choice
 */

/** @param {{ model: any, el: HTMLElement }} context the model has the page */
function renderStack(context) {
  /** @type {Page} */
  const page = context.model.page;
  return openPane(context, "stack", (pane, body) => {
    /** @type {Choice} */
    const choice = { layers: 2, asks: "one", weights: "ones" };
    /** @type {Pair | null} */
    let asked = null; // the output that asks, until it is chosen the one in the middle
    let used = 0; // layers that are shown: those of the choice that fit
    const layers = createChoice(
      say("layers"),
      range(MOST_LAYERS).map((index) => [String(index + 1), String(index + 1)]),
      (value) => choose({ layers: Number(value) }),
    );
    const asks = createChoice(
      say("asks"),
      [
        ["one", say("asks.one")],
        ["all", say("asks.all")],
      ],
      (value) => choose({ asks: value }),
    );
    const weights = createChoice(
      say("weights"),
      [
        ["ones", say("weights.ones")],
        ["board", say("weights.board")],
      ],
      (value) => choose({ weights: value }),
    );
    const transposed = element("p", {}, say("about.transposed"));
    const ends = element("p", { class: "cv-note" });
    const flow = element("div", { class: "cv-flow cv-stack-planes" });
    const how = element("p", { class: "cv-muted" }, say("choose"));
    const readout = element("p", { class: "cv-readout" }, say("hint"));
    const told = element("div", { class: "cv-stack-told" });
    const about = element("p", {});
    setRich(about, say("about"));
    const words = [
      element("h3", {}, say("title")),
      about,
      transposed,
      element("div", { class: "cv-stack-choices" }, layers.el, asks.el, weights.el),
      ends,
    ];
    body.append(split(words, [flow, readout, how, told, createExamples(open)]));
    /** @type {ReturnType<typeof createPlane>[]} the last layer's output first, the input last */
    const planes = range(MOST_LAYERS + 1).map((index) =>
      createPlane(
        pane,
        (row, column) => read(index, row, column),
        (row, column) => ask(index, row, column),
      ),
    );

    /** @param {Partial<Choice>} changes */
    function choose(changes) {
      Object.assign(choice, changes);
      if (changes.layers) asked = null; // the planes that it stood in are others
      draw();
    }

    /** @param {keyof typeof EXAMPLES} name */
    function open(name) {
      Object.assign(choice, { layers: 2, asks: "all", weights: "ones" });
      asked = null;
      page.open(EXAMPLES[name], say("opened", { what: say(`example.${name}`) }));
      draw();
    }

    /** @param {number} index of a plane @param {number} row @param {number} column */
    function ask(index, row, column) {
      if (index > 0 || choice.asks !== "one") return;
      asked = [row, column];
      draw();
    }

    function draw() {
      const there = page.shown();
      if (!there) return;
      const {
        settings: { spec, plane, transposed: turned },
        numbers: { stages },
      } = there;
      const all = layersOf(spec, MOST_LAYERS);
      const stack = all.slice(0, choice.layers);
      used = stack.length;
      const size = sizeAfter(stack[used - 1]);
      const asking = choice.asks === "one" ? within(asked, size) : null;
      const weight =
        choice.weights === "ones"
          ? null
          : planeOf(stages.weight, plane.out_channel, plane.in_channel % (spec.in_channels / spec.groups));
      const gradients = gradientThrough(stack, weight, asking);
      layers.set(String(used), all.length);
      asks.set(choice.asks);
      weights.set(choice.weights);
      transposed.hidden = !turned;
      how.hidden = choice.asks !== "one" || size[0] * size[1] === 1;
      setText(ends, all.length < MOST_LAYERS ? endWords(all) : "");
      show(gradients, asking);
      const input = gradients[gradients.length - 1];
      tell([...fieldWords(spec, used), ...waysWords(input, weight === null), ...checkerboardWords(spec)]);
      setText(readout, say("hint"));
    }

    /** @param {Tensor[]} gradients @param {Pair | null} asking */
    function show(gradients, asking) {
      const count = gradients.length;
      const shown = planes.slice(0, count);
      shown.forEach((plane, index) => {
        const layer = count - 1 - index;
        plane.set(
          gradients[index],
          layer ? say("plane.output", { layer }) : say("plane.input"),
          layer ? say("through", { layer }) : "",
        );
      });
      if (flow.childElementCount !== count) flow.replaceChildren(...shown.map(({ el }) => el));
      shown[0].light(asking ? [{ row: asking[0], column: asking[1] }] : []);
    }

    /** @param {string[]} lines */
    function tell(lines) {
      told.replaceChildren(
        ...lines.map((line) => {
          const words = element("p", {});
          setRich(words, line);
          return words;
        }),
      );
    }

    /** @param {number} index of a plane @param {number} row @param {number} column */
    function read(index, row, column) {
      const value = planes[index].valueAt(row, column);
      const layer = used - index;
      const cell = layer ? say("cell.output", { row, column, layer }) : say("cell.input", { row, column });
      const words =
        choice.weights === "ones"
          ? say("read.ways", { cell, count: value })
          : say("read.slope", { cell, value: formatNumber(value) });
      setText(readout, words);
      if (document.activeElement?.closest(".cv-pane") === pane.root) pane.say(words);
    }

    pane.onClose(page.follow(draw));
    return draw;
  });
}

/** The output that was chosen, or the middle one. @param {Pair | null} asked @param {Pair} size @returns {Pair} */
function within(asked, [height, width]) {
  const inside = asked && asked[0] < height && asked[1] < width;
  return inside ? asked : [Math.floor((height - 1) / 2), Math.floor((width - 1) / 2)];
}

/** One kernel of a weight, as a weight. @param {Tensor} weight @param {number} out @param {number} into @returns {Tensor} */
function planeOf({ shape: [, inputs, height, width], data }, out, into) {
  const start = (out * inputs + into) * height * width;
  return { shape: [1, 1, height, width], data: data.slice(start, start + height * width) };
}

/** A plane with what leads to the next one. @param {import("./pane.js").PaneTools} pane @param {(row: number, column: number) => void} onPoint
 * @param {(row: number, column: number) => void} onSelect */
function createPlane(pane, onPoint, onSelect) {
  const map = createHeatmap(pane, { onPoint, onSelect });
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
    /** @param {Tensor} tensor @param {string} label @param {string} through the layer that comes next; empty: none */
    set(tensor, label, through) {
      values = planeRows(tensor, 0);
      const longest = Math.max(values.length, values[0].length);
      const cell = Math.max(SMALLEST, Math.min(LARGEST, Math.floor(SIDE / longest)));
      map.set({ values, label, cell, numbers: cell >= ROOM_FOR_NUMBER, dtype: "float64" });
      setText(words, through);
      sign.hidden = !through;
    },
  };
}

/** @param {(name: keyof typeof EXAMPLES) => void} open */
function createExamples(open) {
  const buttons = /** @type {(keyof typeof EXAMPLES)[]} */ (Object.keys(EXAMPLES)).map((name) => {
    const button = element(
      "button",
      { type: "button", class: "cv-button", "data-example": name },
      say(`example.${name}`),
    );
    button.addEventListener("click", () => open(name));
    return button;
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
