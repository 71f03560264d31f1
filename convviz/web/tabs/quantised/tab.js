// The tab Quantised: forward with the quantised weight, backward past it, and why gradcheck fails on purpose.
import { element, makeButton, setText } from "../../base/dom.js";
import { formatNumber, fullNumber } from "../../base/format.js";
import { Heatmap } from "../../board/pane_heatmap.js";
import { split, tab } from "../pane.js";
import { fillMenu, limitOf, numbersOf, signOf } from "../pane_elements.js";
import { say, sayPieces } from "../say.js";

/** @type {[number, number, number]} */
const WITHIN = [102, 3, 34]; // pixels: several planes stand beside each other
const ON_BOARD = ["output", "grad_output", "padded_input"]; // panels whose cells a plane may show

/**
 * @typedef {(number | null)[][]} Rows
 * @typedef {{ name: string, parameter: string, sentence: string, mask: Rows, gradient: Rows }} Variant
 * @typedef {{ kind: string, kinds: { name: string, title: string }[], sentence: string, at: string,
 *   latents: Record<string, Rows>, quantized_weight: Rows, signs?: Rows, scale?: Rows, output: Rows,
 *   grad_output: Rows, grad_quantized_weight: Rows, variants: Variant[], variant: string, stairs: Rows,
 *   surrogate: Rows, surrogate_complaint: string, gradcheck_passes: boolean, at_kink: boolean }}
 *   QuantisedData as app/tabs/quantised.py sends it
 * @typedef {{ name: string, label: string, values: Rows, of?: string, said?: string, limit?: number,
 *   signs?: [string, string?][] }} Item a plane and the signs before it; of: whose cells these are, the
 *   kernel's where it is left out; said: below the label
 */

/** @type {import("../pane.js").Build} */
function buildQuantised(pane, body) {
  const readout = element("p", { class: "cv-readout cv-said" }, say("quantised.hint"));
  const planes = new Planes(pane, readout);
  const menu = element("select", { "data-set": "kind" });
  menu.addEventListener("change", () => pane.choose({ kind: menu.value }));
  const layer = element("label", {}, ...sayPieces("quantised.layer", { menu }));
  const sentence = element("p");
  const [forward, backward, check] = [0, 1, 2].map(() => element("div", { class: "cv-flow" }));
  const attributes = { class: "cv-variants", role: "group", "aria-label": say("quantised.variants") };
  const variants = element("div", attributes);
  const [aside, heading] = ["variants", "check"].map((part) => element("h4", { "data-part": part }));
  const verdict = element("ul", { class: "cv-verdict" });
  const columns = new Columns(planes, variants, (variant) => pane.choose({ variant }));
  const words = [
    element("h3", {}, say("quantised")),
    element("p", {}, say("quantised.about")),
    element("p", { class: "cv-layer" }, layer),
    sentence,
    readout,
  ];
  const picture = [
    element("h4", { "data-part": "forward" }, say("quantised.forward")),
    forward,
    element("h4", {}, say("quantised.backward")),
    backward,
    ...[aside, variants, heading, check, verdict],
  ];
  body.append(split(words, picture));
  body.hidden = true; // until there is something to see: the layers may not take this geometry

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
    setText(aside, say(data.kind === "shift_ps" ? "quantised.parameters" : "quantised.side_by_side"));
    setText(heading, say(data.gradcheck_passes ? "quantised.check_passes" : "quantised.check_fails"));
    verdict.replaceChildren(
      ...verdictOf(data).map(({ ok, text }) => element("li", { "data-ok": String(ok) }, text)),
    );
    setText(readout, say("quantised.hint"));
  };
}

/** All heatmaps of the pane by name, each made once; those that a layer does not have are taken out. */
class Planes {
  /** @type {Map<string, { map: Heatmap, label: string, of: string, values: number[][] }>} */
  #made = new Map();
  #drawn = new Set();
  #pane;
  #readout;

  /** @param {import("../pane.js").PaneTools} pane @param {HTMLElement} readout */
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
    setText(this.#readout, say("quantised.hint"));
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
    plane.map.set({ values: plane.values, label, shape: said, limit, dtype: "float64", within: WITHIN });
    return plane.map.el;
  }

  /** @param {HTMLElement} row @param {Item[]} items */
  fill(row, items) {
    const terms = items.map((item) => {
      const plane = this.#draw(item);
      if (!item.signs) return plane;
      const signs = item.signs.map(([symbol, note]) => signOf(symbol, note));
      return element("div", { class: "cv-quantised-term" }, ...signs, plane);
    });
    fill(row, terms);
  }

  /** @param {{ row: number, column: number } | null} cell */
  #light(cell) {
    for (const [name, { map, of }] of this.#made)
      if (this.#drawn.has(name)) map.light(cell && of === "kernel" ? [cell] : []);
  }
}

/**
 * Put nodes into a row; the focus stays where it is.
 * @param {HTMLElement} row @param {HTMLElement[]} nodes
 */
function fill(row, nodes) {
  const held = row.contains(document.activeElement) ? document.activeElement : null;
  row.replaceChildren(...nodes);
  if (held instanceof HTMLElement || held instanceof SVGElement) held.focus({ preventScroll: true });
}

/** @param {QuantisedData} data */
const chosenOf = ({ variants, variant }) =>
  /** @type {Variant} */ (variants.find(({ name }) => name === variant));

/** @param {QuantisedData} data @returns {Item[]} */
function forwardItems({ at, latents, quantized_weight, signs, scale, output }) {
  /** @type {Item[]} */
  const items = Object.entries(latents).map(([name, values], index) => ({
    name: `latent ${name}`,
    label: `${name}${at}`,
    values,
    said: say("quantised.latent"),
    signs: index ? [[say("quantised.and")]] : [],
  }));
  items.push({
    name: "quantized_weight",
    label: `quantized_weight${at}`,
    values: quantized_weight,
    said: say("quantised.used"),
    signs: [["\u2192", say("quantised.quantise")]],
  });
  if (signs)
    items.push({
      name: "signs",
      label: "sign(padded_input)",
      values: signs,
      of: "padded_input",
      said: say(signs.flat().includes(-1) ? "quantised.sign_zero" : "quantised.all_positive"),
      signs: [["\u229b"]],
    });
  if (scale)
    items.push({
      name: "scale",
      label: "K",
      values: scale,
      of: "output",
      said: say("quantised.mean"),
      signs: [["\u00d7"]],
    });
  items.push({
    name: "output",
    label: "output",
    values: output,
    of: "output",
    said: say("quantised.output"),
    signs: signs ? [["="]] : [["\u229b", say("quantised.with", { name: "padded_input" })], ["="]],
  });
  return items;
}

/** @param {QuantisedData} data @returns {Item[]} */
function backwardItems(data) {
  const { name, parameter, mask, gradient } = chosenOf(data);
  return [
    {
      name: "grad_output",
      label: "grad_output",
      values: data.grad_output,
      of: "grad_output",
      said: say("quantised.on_board"),
    },
    {
      name: "grad_quantized_weight",
      label: "grad_quantized_weight",
      values: data.grad_quantized_weight,
      said: say("quantised.exact"),
      signs: [["\u2192", say("quantised.as", { name: "grad_weight" })]],
    },
    {
      name: "mask",
      label: "mask",
      values: mask,
      said: say("quantised.of", { variant: name }),
      signs: [["\u00d7", say("quantised.cell_by_cell")]],
    },
    {
      name: "gradient",
      label: `grad_${parameter}`,
      values: gradient,
      said: say("quantised.learned"),
      signs: [["=", data.variant === "scaled_sign" ? say("quantised.plus_alpha") : ""]],
    },
  ];
}

/** @param {QuantisedData} data @returns {Item[]} */
function checkItems(data) {
  const { parameter, gradient } = chosenOf(data);
  const { stairs, surrogate, gradcheck_passes, at_kink } = data;
  const limit = limitOf([...gradient, ...surrogate].flat());
  const said = say("quantised.difference");
  return [
    { name: "stairs", label: say("quantised.itself"), values: stairs, said },
    {
      name: "backward",
      label: `grad_${parameter}`,
      values: gradient,
      limit,
      said: say("quantised.returned"),
      signs: [[gradcheck_passes ? "=" : "\u2260"]],
    },
    {
      name: "surrogate",
      label: say("quantised.surrogate"),
      values: surrogate,
      limit,
      said,
      signs: [[at_kink ? "\u2248" : "="]],
    },
  ];
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

  /** @param {Planes} planes @param {HTMLElement} el @param {(name: string) => void} onChoose */
  constructor(planes, el, onChoose) {
    [this.#planes, this.#el, this.#onChoose] = [planes, el, onChoose];
  }

  /** @param {QuantisedData} data */
  set({ variants, variant }) {
    // One scale for all gradients: the columns are there to be compared.
    const limit = limitOf(variants.flatMap(({ gradient }) => gradient.flat()));
    const shown = variants.map(({ name, parameter, sentence, mask, gradient }) => {
      const column = this.#made.get(name) ?? createColumn(name, () => this.#onChoose(name));
      this.#made.set(name, column);
      column.button.setAttribute("aria-pressed", String(name === variant));
      setText(column.sentence, sentence);
      this.#planes.fill(column.maps, [
        { name: `${name} mask`, label: "mask", values: mask, said: say("quantised.factor") },
        {
          name: `${name} gradient`,
          label: `grad_${parameter}`,
          values: gradient,
          limit,
          said: say("quantised.gradient"),
        },
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
    say("quantised.fails", { apart: formatNumber(apart) }),
    say(throughAlpha ? "quantised.flat_alpha" : "quantised.flat"),
    ...(jumps ? [say("quantised.jumps", { count: jumps })] : []),
  ];
  const complaint = data.surrogate_complaint;
  const lines = [
    { ok: data.gradcheck_passes, text: data.gradcheck_passes ? say("quantised.passes") : fails.join(" ") },
    {
      ok: !complaint,
      text: complaint
        ? say("quantised.surrogate_fails", { complaint })
        : say("quantised.surrogate_passes", { variant: name }),
    },
  ];
  if (data.at_kink) lines.push({ ok: true, text: say("quantised.kink") });
  return lines;
}

export default tab("quantised", buildQuantised);
