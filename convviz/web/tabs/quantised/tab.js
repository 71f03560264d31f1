// @ts-check
// The tab Quantised: forward with the quantised weight, backward past it, and why gradcheck fails on purpose.
import WORDS from "../../../facts/words/tabs.json" with { type: "json" };
import { element, makeButton, setText } from "../../base/dom.js";
import { formatNumber, fullNumber } from "../../base/format.js";
import { Heatmap } from "../../board/heatmap.js";
import { openPane, split } from "../pane.js";
import { pieces, sentences } from "../../base/words.js";

const say = sentences(WORDS);
const sayPieces = pieces(WORDS);
/** @type {[number, number, number]} */
const WITHIN = [102, 3, 34]; // pixels: several planes stand beside each other

/**
 * @typedef {{ name: string, parameter: string, sentence: string, mask: number[][], gradient: number[][] }}
 *   QuantisedVariant
 * @typedef {{ label: string, shape: string, values: number[][], map: Heatmap }}
 *   Drawn
 */

function renderQuantised(context) {
  return openPane(context, "quantised", (pane, body) => {
    let data = null;
    const readout = element("p", { class: "cv-readout cv-said" }, say("quantised.hint"));
    const planes = new Planes(pane, read, leave);
    const chooser = createLayerMenu((kind) => pane.choose({ kind }));
    const sentence = element("p");
    const forward = element("div", { class: "cv-flow" });
    const backward = element("div", { class: "cv-flow" });
    const variants = element("div", {
      class: "cv-variants",
      role: "group",
      "aria-label": say("quantised.variants"),
    });
    const check = element("div", { class: "cv-flow" });
    const [aside, heading] = [
      element("h4", { "data-part": "variants" }),
      element("h4", { "data-part": "check" }),
    ];
    const verdict = element("ul", { class: "cv-verdict" });
    const columns = new Columns(planes, variants, (variant) => pane.choose({ variant }));
    const words = [
      element("h3", {}, say("quantised")),
      element("p", {}, say("quantised.about")),
      chooser.el,
      sentence,
      readout,
    ];
    const picture = [
      element("h4", { "data-part": "forward" }, say("quantised.forward")),
      forward,
      element("h4", {}, say("quantised.backward")),
      backward,
      aside,
      variants,
      heading,
      check,
      verdict,
    ];
    body.append(split(words, picture));
    pane.onPoint(({ cell }) =>
      planes.light(cell?.panel === "weight" || cell?.panel === "grad_weight" ? cell : null),
    );

    /**
     * @param {string} label @param {string} shape "kernel" where its cells are the weight's
     * @param {number} value
     */
    function read(label, shape, row, column, value) {
      setText(readout, `${label}[${row},${column}] = ${fullNumber(value, "float64")}`);
      if (shape === "kernel") {
        planes.light({ row, column });
        pane.point({ cell: { panel: "weight", row, column } });
      } else if (shape === "output" || shape === "grad_output" || shape === "padded_input") {
        pane.point({ cell: { panel: shape, row, column } });
      }
    }

    function leave() {
      setText(readout, say("quantised.hint"));
      planes.light(null);
      pane.point();
    }

    // until there is something to see: this geometry may be one that the layers do not take
    body.hidden = true;
    return (next) => {
      data = next;
      body.hidden = false;
      chooser.set(data);
      setText(sentence, data.sentence);
      planes.begin();
      drawForward(planes, forward, data);
      drawBackward(planes, backward, data);
      columns.set(data);
      drawCheck(planes, check, data);
      planes.end();
      setText(aside, say(data.kind === "shift_ps" ? "quantised.parameters" : "quantised.side_by_side"));
      setText(heading, say(data.gradcheck_passes ? "quantised.check_passes" : "quantised.check_fails"));
      verdict.replaceChildren(
        ...verdictOf(data).map((line) => element("li", { "data-ok": String(line.ok) }, line.text)),
      );
      setText(readout, say("quantised.hint"));
    };
  });
}

/** The menu of layers. @param {(kind: string) => void} onChoose */
function createLayerMenu(onChoose) {
  const menu = element("select", { "data-set": "kind" });
  const el = element(
    "p",
    { class: "cv-layer" },
    element("label", {}, ...sayPieces("quantised.layer", { menu })),
  );
  menu.addEventListener("change", () => onChoose(menu.value));
  return {
    el,
    /** @param {{ kinds: { name: string, title: string }[], kind: string }} data */
    set({ kinds, kind }) {
      if (!menu.options.length)
        menu.append(...kinds.map(({ name, title }) => element("option", { value: name }, title)));
      menu.value = kind;
    },
  };
}

/** All heatmaps of the pane by name, each made once; those that a layer does not have are taken out. */
class Planes {
  /** @type {Map<string, Drawn>} */
  #made = new Map();
  #drawn = new Set();
  #pane;
  #read;
  #leave;

  /**
   * @param {import("../pane.js").PaneTools} pane
   * @param {(label: string, shape: string, row: number, column: number, value: number) => void} read
   * @param {() => void} leave
   */
  constructor(pane, read, leave) {
    [this.#pane, this.#read, this.#leave] = [pane, read, leave];
  }

  begin = () => this.#drawn.clear();

  end() {
    for (const [name, plane] of this.#made) if (!this.#drawn.has(name)) plane.map.el.remove();
  }

  /**
   * @param {string} name @param {string} label @param {(number | null)[][]} values
   * @param {string} shape whose cells these are
   * @param {{ limit?: number, said?: string }} [more] `said`: below the label, in the shape's place
   */
  draw(name, label, values, shape, more = {}) {
    if (!this.#made.has(name)) {
      const plane = {
        label: "",
        shape: "",
        values: [[0]],
        map: /** @type {any} */ (null),
      };
      plane.map = new Heatmap(this.#pane, {
        onPoint: (row, column) =>
          this.#read(plane.label, plane.shape, row, column, plane.values[row][column]),
        onLeave: this.#leave,
      });
      plane.map.el.dataset.plane = name;
      this.#made.set(name, plane);
    }
    const plane = /** @type {Drawn} */ (this.#made.get(name));
    this.#drawn.add(name);
    Object.assign(plane, { label, shape, values: values.map((line) => line.map((value) => value ?? NaN)) });
    const { said, limit } = more;
    plane.map.set({ values: plane.values, label, shape: said, limit, dtype: "float64", within: WITHIN });
    return plane.map.el;
  }

  /** Light a cell of the kernel wherever it stands. @param {{ row: number, column: number } | null} cell */
  light(cell) {
    for (const [name, { map, shape }] of this.#made)
      if (this.#drawn.has(name)) map.light(cell && shape === "kernel" ? [cell] : []);
  }
}

/** A sign between two planes. @param {string} symbol @param {string} [note] */
function signOf(symbol, note = "") {
  return element(
    "span",
    { class: "cv-sign" },
    element("span", { class: "cv-symbol" }, symbol),
    ...(note ? [element("span", { class: "cv-sign-note" }, note)] : []),
  );
}

/** A sign and the plane after it, which stay on one line. @param {HTMLElement[]} nodes */
function termOf(...nodes) {
  return element("div", { class: "cv-quantised-term" }, ...nodes);
}

/**
 * Put nodes into a row; the focus stays where it is.
 * @param {HTMLElement} row @param {HTMLElement[]} nodes
 */
function fill(row, nodes) {
  const held = /** @type {HTMLElement | null} */ (
    row.contains(document.activeElement) ? document.activeElement : null
  );
  row.replaceChildren(...nodes);
  held?.focus?.({ preventScroll: true });
}

function drawForward(planes, row, data) {
  const nodes = Object.entries(data.latents).map(([name, values], index) =>
    termOf(
      ...(index ? [signOf(say("quantised.and"))] : []),
      planes.draw(`latent ${name}`, `${name}${data.at}`, values, "kernel", { said: say("quantised.latent") }),
    ),
  );
  nodes.push(
    termOf(
      signOf("\u2192", say("quantised.quantise")),
      planes.draw("quantized_weight", `quantized_weight${data.at}`, data.quantized_weight, "kernel", {
        said: say("quantised.used"),
      }),
    ),
  );
  if (data.signs)
    nodes.push(
      termOf(
        signOf("\u229b"),
        planes.draw("signs", "sign(padded_input)", data.signs, "padded_input", {
          said: say(data.signs.flat().includes(-1) ? "quantised.sign_zero" : "quantised.all_positive"),
        }),
      ),
    );
  if (data.scale)
    nodes.push(
      termOf(
        signOf("\u00d7"),
        planes.draw("scale", "K", data.scale, "output", { said: say("quantised.mean") }),
      ),
    );
  const convolved = data.signs
    ? [signOf("=")]
    : [signOf("\u229b", say("quantised.with", { name: "padded_input" })), signOf("=")];
  nodes.push(
    termOf(
      ...convolved,
      planes.draw("output", "output", data.output, "output", { said: say("quantised.output") }),
    ),
  );
  fill(row, nodes);
}

function drawBackward(planes, row, data) {
  const chosen = data.variants.find(({ name }) => name === data.variant);
  const through = data.variant === "scaled_sign" ? say("quantised.plus_alpha") : "";
  fill(row, [
    planes.draw("grad_output", "grad_output", data.grad_output, "grad_output", {
      said: say("quantised.on_board"),
    }),
    termOf(
      signOf("\u2192", say("quantised.as", { name: "grad_weight" })),
      planes.draw("grad_quantized_weight", "grad_quantized_weight", data.grad_quantized_weight, "kernel", {
        said: say("quantised.exact"),
      }),
    ),
    termOf(
      signOf("\u00d7", say("quantised.cell_by_cell")),
      planes.draw("mask", "mask", chosen.mask, "kernel", {
        said: say("quantised.of", { variant: chosen.name }),
      }),
    ),
    termOf(
      signOf("=", through),
      planes.draw("gradient", `grad_${chosen.parameter}`, chosen.gradient, "kernel", {
        said: say("quantised.learned"),
      }),
    ),
  ]);
}

/** @param {string} name of a variant @param {() => void} choose */
function createColumn(name, choose) {
  const button = makeButton({ class: "cv-button", "data-variant": name }, name, choose);
  const sentence = element("p", { class: "cv-muted" });
  const maps = element("div", { class: "cv-variant-maps" });
  return {
    button,
    sentence,
    maps,
    root: element("section", { class: "cv-variant" }, button, sentence, maps),
  };
}

/** One column a variant: its name, which chooses it, its sentence, mask and gradient. */
class Columns {
  /** @type {Map<string, ReturnType<typeof createColumn>>} */
  #made = new Map();
  #planes;
  #el;
  #onChoose;

  constructor(planes, el, onChoose) {
    [this.#planes, this.#el, this.#onChoose] = [planes, el, onChoose];
  }

  /** @param {string} name */
  #columnOf(name) {
    const column = this.#made.get(name) ?? createColumn(name, () => this.#onChoose(name));
    this.#made.set(name, column);
    return column;
  }

  /** @param {{ variants: QuantisedVariant[], variant: string }} data */
  set({ variants, variant }) {
    // One scale for all gradients: the columns are there to be compared.
    const limit =
      Math.max(...variants.flatMap(({ gradient }) => gradient.flat().map((value) => Math.abs(value ?? 0)))) ||
      1;
    const shown = variants.map((each) => {
      const column = this.#columnOf(each.name);
      column.button.setAttribute("aria-pressed", String(each.name === variant));
      setText(column.sentence, each.sentence);
      fill(column.maps, [
        this.#planes.draw(`${each.name} mask`, "mask", each.mask, "kernel", {
          said: say("quantised.factor"),
        }),
        this.#planes.draw(`${each.name} gradient`, `grad_${each.parameter}`, each.gradient, "kernel", {
          limit,
          said: say("quantised.gradient"),
        }),
      ]);
      return column.root;
    });
    fill(this.#el, shown);
  }
}

function drawCheck(planes, row, data) {
  const chosen = data.variants.find(({ name }) => name === data.variant);
  const limit =
    Math.max(...[...chosen.gradient, ...data.surrogate].flat().map((value) => Math.abs(value ?? 0))) || 1;
  fill(row, [
    planes.draw("stairs", say("quantised.itself"), data.stairs, "kernel", {
      said: say("quantised.difference"),
    }),
    termOf(
      signOf(data.gradcheck_passes ? "=" : "\u2260"),
      planes.draw("backward", `grad_${chosen.parameter}`, chosen.gradient, "kernel", {
        limit,
        said: say("quantised.returned"),
      }),
    ),
    termOf(
      signOf(data.at_kink ? "\u2248" : "="),
      planes.draw("surrogate", say("quantised.surrogate"), data.surrogate, "kernel", {
        limit,
        said: say("quantised.difference"),
      }),
    ),
  ]);
}

/** What the three planes of the check mean. @param {any} data @returns {{ ok: boolean, text: string }[]} */
function verdictOf(data) {
  const chosen = data.variants.find(({ name }) => name === data.variant);
  const pairs = chosen.gradient.flatMap((line, row) =>
    line.map((value, column) => [
      value ?? NaN,
      data.stairs[row][column] ?? NaN,
      data.surrogate[row][column] ?? NaN,
    ]),
  );
  const apart = Math.max(...pairs.map(([gradient, stairs]) => Math.abs(gradient - stairs)));
  const jumps = pairs.filter(([, stairs]) => Math.abs(stairs) > 1e3).length;
  const throughAlpha = data.kind === "binary" || data.kind === "xnor";
  const fails = [
    say("quantised.fails", { apart: formatNumber(apart) }),
    say(throughAlpha ? "quantised.flat_alpha" : "quantised.flat"),
    ...(jumps ? [say("quantised.jumps", { count: jumps })] : []),
  ];
  const lines = [
    { ok: data.gradcheck_passes, text: data.gradcheck_passes ? say("quantised.passes") : fails.join(" ") },
    {
      ok: !data.surrogate_complaint,
      text: data.surrogate_complaint
        ? say("quantised.surrogate_fails", { complaint: data.surrogate_complaint })
        : say("quantised.surrogate_passes", { variant: chosen.name }),
    },
  ];
  if (data.at_kink) lines.push({ ok: true, text: say("quantised.kink") });
  return lines;
}

export default { render: renderQuantised };
