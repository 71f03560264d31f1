// @ts-check
// The tab Double backward: a number made of a gradient, and its slopes, each as the call that computes it.
import WORDS from "../../../facts/words/double.json" with { type: "json" };
import { element, setText } from "../../base/dom.js";
import { formatLong, formatNumber } from "../../base/format.js";
import { setRich } from "../../base/rich_text.js";
import { sentences } from "../../base/words.js";
import { Heatmap } from "../../board/heatmap.js";
import { createChoice } from "../choice.js";
import { openPane, split } from "../pane.js";

const say = sentences(WORDS);

/**
 * @import { PaneContext, PaneTools } from "../pane.js"
 * @typedef {{ label: string, at: number[], shape: number[], values: number[][], panel: string }} Plane
 * @typedef {{ to: string, function: string, arguments: Plane[], value: Plane }} Slope
 * @typedef {{ of: string, number: string, at: number[], s: number, gradient: Plane, slopes: Slope[], absent:
 *   string, node: string, deviation: number, agrees: boolean, several: boolean, code: string }} Data
 */

/** @param {PaneContext} context */
function renderDouble(context) {
  return openPane(context, "double", (pane, body) => {
    /** @type {Data | null} */
    let data = null;
    const gradients = createChoice(
      say("gradient"),
      ["grad_input", "grad_weight"].map((of) => [of, of]),
      (of) => of !== data?.of && pane.choose({ of, cell: [] }),
    );
    const numbers = createChoice(
      say("number"),
      [
        ["one", say("number.one")],
        ["squares", say("number.squares")],
      ],
      (number) => pane.choose({ number }),
    );
    const gradient = createPlane(
      pane,
      () => {},
      (row, column) => data?.number === "one" && pane.choose({ cell: [row, column] }),
    );
    const s = element("p", { class: "cv-double-s" });
    const how = element("p", { class: "cv-muted" });
    const slopes = [0, 1].map(() => createSlope(pane, read));
    const readout = element("p", { class: "cv-double-read" }, say("hint"));
    const [absent, truth, node, several] = [
      element("p"),
      element("p", { class: "cv-double-truth" }),
      element("p"),
      element("p", { class: "cv-muted" }),
    ];
    const code = element("code");
    const block = element("pre", {}, code);
    const about = element("p", {});
    const sizes = element("p", { class: "cv-muted" });
    const codeTitle = element("h4", {}, say("code"));
    setRich(about, say("about"));
    setRich(sizes, say("sizes"));
    const chosen = element("div", {}, gradient.el, s, how);
    const equations = element("div", { class: "cv-double-slopes" }, ...slopes.map(({ el }) => el), readout);
    const facts = element("div", {}, truth, absent, node, several);
    const words = [
      element("h3", {}, say("title")),
      about,
      element("div", { class: "cv-double-choices" }, gradients.el, numbers.el),
      ...[chosen, facts],
    ];
    body.append(split(words, [equations, codeTitle, block, sizes]));

    /** @param {string} slope @param {number} value */
    function read(slope, value) {
      const words = say("read", { slope, value: formatNumber(value) });
      setText(readout, words);
      if (document.activeElement?.closest(".cv-pane") === pane.root) pane.say(words);
    }

    return (/** @type {Data} */ next) => {
      data = next;
      const { of, number, at } = data;
      gradients.set(of);
      numbers.set(number);
      gradient.set(data.gradient);
      gradient.light(number === "one" ? [{ row: at[2], column: at[3] }] : []);
      const values = { of, s: formatLong(data.s), cell: `${of}[${at.join(", ")}]` };
      setText(s, number === "one" ? say("s.one", values) : say("s.squares", values));
      setText(how, number === "one" ? say("choose", { of }) : "");
      slopes.forEach((slope, index) => slope.set(next.slopes[index], next.absent));
      setText(readout, say("hint"));
      setText(absent, say("absent", { absent: data.absent, of }));
      setText(truth, say(data.agrees ? "agrees" : "differs", { apart: formatNumber(data.deviation) }));
      truth.dataset.ok = String(data.agrees);
      setRich(node, say("node", { of, node: data.node }));
      setText(several, data.several ? say("several") : "");
      setText(code, data.code);
      block.hidden = codeTitle.hidden = !data.code;
    };
  });
}

/**
 * One slope: the call that computes it, its tensors drawn.
 * @param {PaneTools} pane @param {(slope: string, value: number) => void} onRead
 */
function createSlope(pane, onRead) {
  const title = element("h4", {});
  /** @type {Plane | null} */
  let shown = null;
  const maps = [0, 1].map(() => createPlane(pane, () => {}));
  const value = createPlane(
    pane,
    (row, column) =>
      shown && onRead(`${shown.label}[${[...shown.at, row, column].join(", ")}]`, shown.values[row][column]),
  );
  const call = element("code", {});
  const sign = (/** @type {string} */ text) => element("code", {}, text);
  const flow = element(
    "div",
    { class: "cv-flow" },
    element("div", { class: "cv-double-term" }, call, maps[0].el, sign(",")),
    element("div", { class: "cv-double-term" }, maps[1].el, sign(") =")),
    element("div", { class: "cv-double-term" }, value.el),
  );
  const el = element("section", { class: "cv-double-slope" }, title, flow);
  return {
    el,
    /** @param {Slope} slope @param {string} absent */
    set(slope, absent) {
      const { to } = slope;
      shown = slope.value;
      el.dataset.to = to;
      setText(title, say(/** @type {"to.input"} */ (`to.${to}`), { absent }));
      setText(call, `${slope.function}(`);
      slope.arguments.forEach((plane, index) => maps[index].set(plane));
      value.set(slope.value);
    },
  };
}

/**
 * A plane, whose cells the board lights where it shows the same.
 * @param {PaneTools} pane @param {(row: number, column: number) => void} onPoint
 * @param {(row: number, column: number) => void} [onSelect]
 */
function createPlane(pane, onPoint, onSelect) {
  let panel = "";
  const map = new Heatmap(pane, {
    onPoint: (row, column) => {
      onPoint(row, column);
      if (panel) pane.point({ panels: [panel], cell: { panel, row, column } });
    },
    onLeave: () => pane.point(),
    onSelect,
  });
  return {
    el: map.el,
    light: map.light,
    /** @param {Plane} plane */
    set(plane) {
      panel = plane.panel;
      const label = `${plane.label}[${plane.at.join(", ")}]`;
      const shape = `[${plane.shape.join(", ")}]`;
      map.el.dataset.of = plane.label;
      map.set({ values: plane.values, label, shape, within: [190, 4, 30], dtype: "float64" });
    },
  };
}

export default { render: renderDouble };
