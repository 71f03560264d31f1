// The tab Quantised: forward with the quantised weight, backward past it, and why gradcheck fails on purpose.
import { element, setText } from "../../web/base/dom.js";
import { formatNumber, fullNumber } from "../../web/base/format.js";
import { Heatmap } from "../../web/board/grid/tab_heatmap.js";
import { split, tab } from "../../web/tabs/pane.js";
import { fillMenu, limitOf, numbersOf, signOf, button } from "../../web/tabs/pane_elements.js";
import WORDS from "./words.json" with { type: "json" };
import { pieces, sentences } from "../../web/base/sentences.js";

const say = sentences(WORDS);
const sayPieces = pieces(WORDS);

/** @type {[number, number, number]} */
const WITHIN = [102, 3, 34];
const ON_BOARD = ["output", "grad_output", "padded_input"];

/**
 * @typedef {(number | null)[][]} Rows
 * @typedef {{ name: string, parameter: string, sentence: string, mask: Rows, gradient: Rows }} Variant
 * @typedef {{ kind: string, kinds: { name: string, title: string }[], sentence: string, at: string, latents:
 *   Record<string, Rows>, quantized_weight: Rows, signs?: Rows, scale?: Rows, output: Rows, grad_output:
 *   Rows, grad_quantized_weight: Rows, variants: Variant[], variant: string, stairs: Rows, surrogate: Rows,
 *   surrogate_complaint: string, gradcheck_passes: boolean, at_kink: boolean }} QuantisedData by
 *   data.py
 * @typedef {{ name: string, label: string, values: Rows, of?: string, said?: string, limit?: number, signs?:
 *   [string, string?][] }} Item of: whose cells, else the kernel's; signs before it; said below it
 */

/** @type {Build} */
function buildQuantised(pane, body) {
  const readout = element("p.cv-readout.cv-said", say("hint"));
  const planes = new Planes(pane, readout);
  const menu = element("select", { "data-set": "kind" });
  menu.addEventListener("change", () => pane.choose({ kind: menu.value }));
  const layer = element("label", ...sayPieces("layer", { menu }));
  const sentence = element("p");
  const [forward, backward, check] = [0, 1, 2].map(() => element("div.cv-flow"));
  const variants = element("div.cv-variants", { role: "group", "aria-label": say("variants") });
  const [aside, heading] = ["variants", "check"].map((part) => element("h4", { "data-part": part }));
  const verdict = element("ul.cv-verdict");
  const columns = new Columns(planes, variants, (variant) => pane.choose({ variant }));
  const words = [
    element("h3", say("title")),
    element("p", say("about")),
    element("p.cv-layer", layer),
    sentence,
    readout,
  ];
  const picture = [
    element("h4", { "data-part": "forward" }, say("forward")),
    forward,
    element("h4", say("backward")),
    backward,
    ...[aside, variants, heading, check, verdict],
  ];
  body.append(split(words, picture));
  body.hidden = true; // the layers may not take this geometry

  return (/** @type {QuantisedData} */ data) => {
    body.hidden = false;
    fillMenu(
      menu,
      data.kinds.map(({ name, title }) => [name, title]),
      data.kind,
    );
    setText(sentence, data.sentence);
    planes.begin();
    planes.fill(forward, forwardItems(data));
    planes.fill(backward, backwardItems(data));
    columns.set(data);
    planes.fill(check, checkItems(data));
    planes.end();
    setText(aside, say(data.kind === "shift_ps" ? "parameters" : "side_by_side"));
    setText(heading, say(data.gradcheck_passes ? "check_passes" : "check_fails"));
    verdict.replaceChildren(
      ...verdictOf(data).map(({ ok, text }) => element("li", { "data-ok": String(ok) }, text)),
    );
    setText(readout, say("hint"));
  };
}

/** Made once by name; those a layer lacks are taken out. */
class Planes {
  /** @type {Map<string, { map: Heatmap, label: string, of: string, values: number[][] }>} */
  #made = new Map();
  #drawn = new Set();
  #pane;
  #readout;

  /** @param {PaneTools} pane @param {HTMLElement} readout */
  constructor(pane, readout) {
    [this.#pane, this.#readout] = [pane, readout];
    pane.onPoint(({ cell }) =>
      this.#light(cell?.panel === "weight" || cell?.panel === "grad_weight" ? cell : null),
    );
  }

  begin = () => this.#drawn.clear();

  end() {
    for (const [name, plane] of this.#made) if (!this.#drawn.has(name)) plane.map.el.remove();
  }

  /** @param {string} name @param {number} row @param {number} column */
  #read(name, row, column) {
    const { label, of, values } = this.#planeOf(name);
    setText(this.#readout, `${label}[${row},${column}] = ${fullNumber(values[row][column], "float64")}`);
    if (of === "kernel") this.#light({ row, column });
    const panel = of === "kernel" ? "weight" : ON_BOARD.find((each) => each === of);
    if (panel) this.#pane.point({ cell: { panel, row, column } });
  }

  #leave = () => {
    setText(this.#readout, say("hint"));
    this.#light(null);
    this.#pane.point();
  };

  /** @param {string} name */
  #planeOf(name) {
    const found = this.#made.get(name);
    if (found) return found;
    const map = new Heatmap(this.#pane, {
      onPoint: (row, column) => this.#read(name, row, column),
      onLeave: this.#leave,
    });
    map.el.dataset.plane = name;
    const made = { map, label: "", of: "", values: [[0]] };
    this.#made.set(name, made);
    return made;
  }

  /** @param {Item} item */
  #draw({ name, label, values, of = "kernel", said, limit }) {
    const plane = this.#planeOf(name);
    this.#drawn.add(name);
    Object.assign(plane, { label, of, values: numbersOf(values) });
    const quantity = of === "kernel" ? "weight" : of;
    plane.map.set({ values: plane.values, label, shape: said, limit, within: WITHIN, of: quantity });
    return plane.map.el;
  }

  /** @param {HTMLElement} row @param {Item[]} items */
  fill(row, items) {
    const terms = items.map((item) => {
      const plane = this.#draw(item);
      if (!item.signs) return plane;
      const signs = item.signs.map(([symbol, note]) => signOf(symbol, note));
      return element("div.cv-quantised-term", ...signs, plane);
    });
    fill(row, terms);
  }

  /** @param {Point | null} cell */
  #light(cell) {
    for (const [name, { map, of }] of this.#made)
      if (this.#drawn.has(name)) map.light(cell && of === "kernel" ? [cell] : []);
  }
}

/** Fills a row anew; the focus stays. @param {HTMLElement} row @param {HTMLElement[]} nodes */
function fill(row, nodes) {
  const held = row.contains(document.activeElement) ? document.activeElement : null;
  row.replaceChildren(...nodes);
  if (held instanceof HTMLElement || held instanceof SVGElement) held.focus({ preventScroll: true });
}

/** @param {QuantisedData} data */
const chosenOf = ({ variants, variant }) =>
  /** @type {Variant} */ (variants.find(({ name }) => name === variant));

/**
 * @param {string} name @param {Rows} values @param {string} said @param {Item["signs"]} [signs]
 * @param {Partial<Item>} [more] @returns {Item}
 */
const item = (name, values, said, signs, more) => ({ name, label: name, values, said, signs, ...more });

/** @param {QuantisedData} data @returns {Item[]} */
function forwardItems({ at, latents, quantized_weight, signs, scale, output }) {
  const latent = Object.entries(latents).map(([name, values], index) =>
    item(`latent ${name}`, values, say("latent"), index ? [[say("and")]] : [], {
      label: `${name}${at}`,
    }),
  );
  const signed = say(signs?.flat().includes(-1) ? "sign_zero" : "all_positive");
  /** @type {NonNullable<Item["signs"]>} */
  const times = signs ? [] : [["\u229b", say("with", { name: "padded_input" })]];
  return [
    ...latent,
    item("quantized_weight", quantized_weight, say("used"), [["\u2192", say("quantise")]], {
      label: `quantized_weight${at}`,
    }),
    ...(signs
      ? [item("signs", signs, signed, [["\u229b"]], { label: "sign(padded_input)", of: "padded_input" })]
      : []),
    ...(scale ? [item("scale", scale, say("mean"), [["\u00d7"]], { label: "K", of: "output" })] : []),
    item("output", output, say("output"), [...times, ["="]], { of: "output" }),
  ];
}

/** @param {QuantisedData} data @returns {Item[]} */
function backwardItems(data) {
  const { name, parameter, mask, gradient } = chosenOf(data);
  const { grad_output, grad_quantized_weight: exact, variant } = data;
  const as = say("as", { name: "grad_weight" });
  const alpha = variant === "scaled_sign" ? say("plus_alpha") : "";
  return [
    item("grad_output", grad_output, say("on_board"), undefined, { of: "grad_output" }),
    item("grad_quantized_weight", exact, say("exact"), [["\u2192", as]]),
    item("mask", mask, say("of", { variant: name }), [["\u00d7", say("cell_by_cell")]]),
    item("gradient", gradient, say("learned"), [["=", alpha]], { label: `grad_${parameter}` }),
  ];
}

/** @param {QuantisedData} data @returns {Item[]} */
function checkItems(data) {
  const { parameter, gradient } = chosenOf(data);
  const { stairs, surrogate, gradcheck_passes, at_kink } = data;
  const limit = limitOf([...gradient, ...surrogate].flat());
  const said = say("difference");
  return [
    item("stairs", stairs, said, undefined, { label: say("itself") }),
    item("backward", gradient, say("returned"), [[gradcheck_passes ? "=" : "\u2260"]], {
      label: `grad_${parameter}`,
      limit,
    }),
    item("surrogate", surrogate, said, [[at_kink ? "\u2248" : "="]], {
      label: say("surrogate"),
      limit,
    }),
  ];
}

/** @param {string} name @param {() => void} choose */
function createColumn(name, choose) {
  const chooser = button(name, choose, { "data-variant": name });
  const sentence = element("p.cv-muted");
  const maps = element("div.cv-variant-maps");
  return { chooser, sentence, maps, root: element("section.cv-variant", chooser, sentence, maps) };
}

class Columns {
  /** @type {Map<string, ReturnType<typeof createColumn>>} */
  #made = new Map();
  #planes;
  #el;
  #onChoose;

  /** @param {Planes} planes @param {HTMLElement} el @param {(name: string) => void} onChoose */
  constructor(planes, el, onChoose) {
    [this.#planes, this.#el, this.#onChoose] = [planes, el, onChoose];
  }

  /** @param {QuantisedData} data */
  set({ variants, variant }) {
    // One scale, to compare columns.
    const limit = limitOf(variants.flatMap(({ gradient }) => gradient.flat()));
    const shown = variants.map(({ name, parameter, sentence, mask, gradient }) => {
      const column = this.#made.get(name) ?? createColumn(name, () => this.#onChoose(name));
      this.#made.set(name, column);
      column.chooser.setAttribute("aria-pressed", String(name === variant));
      setText(column.sentence, sentence);
      this.#planes.fill(column.maps, [
        item(`${name} mask`, mask, say("factor"), undefined, { label: "mask" }),
        item(`${name} gradient`, gradient, say("gradient"), undefined, {
          label: `grad_${parameter}`,
          limit,
        }),
      ]);
      return column.root;
    });
    fill(this.#el, shown);
  }
}

/** @param {QuantisedData} data */
function verdictOf(data) {
  const { name, gradient } = chosenOf(data);
  const [ours, stairs] = [gradient, data.stairs].map((rows) => numbersOf(rows).flat());
  const apart = Math.max(...ours.map((value, index) => Math.abs(value - stairs[index])));
  const jumps = stairs.filter((value) => Math.abs(value) > 1e3).length;
  const throughAlpha = data.kind === "binary" || data.kind === "xnor";
  const fails = [
    say("fails", { apart: formatNumber(apart) }),
    say(throughAlpha ? "flat_alpha" : "flat"),
    ...(jumps ? [say("jumps", { count: jumps })] : []),
  ];
  const complaint = data.surrogate_complaint;
  const lines = [
    { ok: data.gradcheck_passes, text: data.gradcheck_passes ? say("passes") : fails.join(" ") },
    {
      ok: !complaint,
      text: complaint ? say("surrogate_fails", { complaint }) : say("surrogate_passes", { variant: name }),
    },
  ];
  if (data.at_kink) lines.push({ ok: true, text: say("kink") });
  return lines;
}

export default tab("quantised", buildQuantised);
