// The tab Double backward: a number made of a gradient, and its slopes, each as the call that computes it.
import WORDS from "./words.json" with { type: "json" };
import { element, setText } from "../../web/base/dom.js";
import { formatLong, formatNumber } from "../../web/base/format.js";
import { rich, setRich } from "../../web/base/rich_text.js";
import { sentences } from "../../web/base/sentences.js";
import { Heatmap } from "../../web/board/grid/tab_heatmap.js";
import { split, tab } from "../../web/tabs/pane.js";
import { code, createChoice } from "../../web/tabs/pane_elements.js";

const say = sentences(WORDS);

/**
 * @typedef {{ label: string, at: number[], shape: number[], values: number[][], panel: string }} Plane
 * @typedef {{ to: string, function: string, arguments: Plane[], value: Plane }} Slope
 * @typedef {{ of: string, number: string, at: number[], s: number, gradient: Plane, slopes: Slope[], absent:
 *   string, node: string, deviation: number, agrees: boolean, several: boolean, code: string }} Data
 */

/** @type {Build} */
function buildDouble(pane, body) {
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
  const gradient = createPlane(pane, {
    select: (row, column) => data?.number === "one" && pane.choose({ cell: [row, column] }),
  });
  const readout = element("p.cv-double-read", say("hint"));
  const slopes = [0, 1].map(() =>
    createSlope(pane, (slope, value) =>
      pane.read(readout, say("read", { slope, value: formatNumber(value) })),
    ),
  );
  const chosen = createNumber(gradient.el);
  const facts = createFacts();
  const program = element("code");
  const block = element("pre", program);
  const title = element("h4", say("code"));
  const equations = element("div.cv-double-slopes", ...slopes.map(({ el }) => el), readout);
  const choices = element("div.cv-double-choices", gradients.el, numbers.el);
  const words = [element("h3", say("title")), rich("p", say("about")), choices, chosen.el, facts.el];
  body.append(split(words, [equations, title, block, rich("p.cv-muted", say("sizes"))]));

  return (/** @type {Data} */ next) => {
    data = next;
    gradients.set(next.of);
    numbers.set(next.number);
    gradient.set(next.gradient);
    gradient.light(next.number === "one" ? [{ row: next.at[2], column: next.at[3] }] : []);
    chosen.set(next);
    slopes.forEach((slope, index) => slope.set(next.slopes[index], next.absent));
    setText(readout, say("hint"));
    facts.set(next);
    setText(program, next.code);
    block.hidden = title.hidden = !next.code;
  };
}

/** @param {HTMLElement} gradient */
function createNumber(gradient) {
  const [s, how] = [element("p.cv-double-s"), element("p.cv-muted")];
  return {
    el: element("div", gradient, s, how),
    /** @param {Data} data */
    set({ of, number, at, s: value }) {
      const one = number === "one";
      const values = { of, s: formatLong(value), cell: `${of}[${at.join(", ")}]` };
      setText(s, say(one ? "s.one" : "s.squares", values));
      setText(how, one ? say("choose", { of }) : "");
    },
  };
}

function createFacts() {
  const truth = element("p.cv-double-truth");
  const [none, node, several] = [element("p"), element("p"), element("p.cv-muted")];
  return {
    el: element("div", truth, none, node, several),
    /** @param {Data} data */
    set({ absent, of, agrees, deviation, node: name, several: isSeveral }) {
      setText(none, say("absent", { absent, of }));
      setText(truth, say(agrees ? "agrees" : "differs", { apart: formatNumber(deviation) }));
      truth.dataset.ok = String(agrees);
      setRich(node, say("node", { of, node: name }));
      setText(several, isSeveral ? say("several") : "");
    },
  };
}

/** @param {PaneTools} pane @param {(slope: string, value: number) => void} onRead */
function createSlope(pane, onRead) {
  const [title, call] = [element("h4"), element("code")];
  /** @type {Plane | null} */
  let shown = null;
  const maps = [0, 1].map(() => createPlane(pane));
  const value = createPlane(pane, {
    point: (row, column) =>
      shown && onRead(`${shown.label}[${[...shown.at, row, column].join(", ")}]`, shown.values[row][column]),
  });
  const terms = [[call, maps[0].el, code(",")], [maps[1].el, code(") =")], [value.el]];
  const flow = terms.map((parts) => element("div.cv-double-term", ...parts));
  const el = element("section.cv-double-slope", title, element("div.cv-flow", ...flow));
  return {
    el,
    /** @param {Slope} slope @param {string} absent */
    set(slope, absent) {
      shown = slope.value;
      el.dataset.to = slope.to;
      setText(title, say(/** @type {"to.input"} */ (`to.${slope.to}`), { absent }));
      setText(call, `${slope.function}(`);
      slope.arguments.forEach((plane, index) => maps[index].set(plane));
      value.set(slope.value);
    },
  };
}

/** @param {PaneTools} pane @param {Partial<Record<"point" | "select", AtCell>>} [events] */
function createPlane(pane, { point, select } = {}) {
  let panel = "";
  const map = new Heatmap(pane, {
    onPoint: (row, column) => {
      point?.(row, column);
      if (panel) pane.point({ panels: [panel], cell: { panel, row, column } });
    },
    onLeave: () => pane.point(),
    onSelect: select,
  });
  return {
    el: map.el,
    light: map.light,
    /** @param {Plane} plane */
    set({ label, at, shape, values, panel: shown }) {
      panel = shown;
      map.el.dataset.of = label;
      map.set({
        values,
        label: `${label}[${at.join(", ")}]`,
        shape: `[${shape.join(", ")}]`,
        within: [190, 4, 30],
      });
    },
  };
}

export default tab("double", buildDouble);
