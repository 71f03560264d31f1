// @ts-check
// The picture: three equations (four with a bias), each a row of named panels, as views/panels.py lays them out.
import { rolesOf } from "./cells.js";
import { joined, say } from "./say.js";
import { shownLetter, shownName } from "../rules/names.js";
import { PANEL_AXES, planeIndex, planeWithin } from "../rules/plane.js";

/**
 * @import { Axis, PanelName } from "../rules/plane.js"
 * @import { Settings, Stages, Tensor } from "../rules/settings.js"
 * @import { Pair, Spec } from "../rules/spec.js"
 * @import { Roles } from "./cells.js"
 * @typedef {{ symbol: string, note: string }} Sign
 * @typedef {{ name: string, called: string, label: string, tensor: Tensor, at: Pair, roles: Roles, shape: number[] }} Panel
 *   tensor has four axes, shape is the tensor's own
 * @typedef {Panel | Sign} Item
 * @typedef {{ name: string, title: string, items: Item[], choices: [Axis, number][], view: string }} Equation
 * @typedef {(name: PanelName | "bias" | "grad_bias") => Panel} MakePanel
 * @typedef {(name: string, title: string, items: Item[], axes: string, shownAs?: string) => Equation} MakeRow
 */

/** @param {Item} item @returns {item is Panel} */
export const isPanel = (item) => "tensor" in item;

/** @param {Equation} equation @returns {Panel[]} */
export const panelsOf = (equation) => equation.items.filter(isPanel);

/**
 * Lay out everything that was computed.
 * @param {Settings} settings @param {Stages} stages
 * @returns {Equation[]}
 */
export function equationsOf(settings, stages) {
  const { spec, input_view: view } = settings;
  const make = panelMaker(settings, stages);
  const counts = { n: spec.batch, o: spec.out_channels, c: spec.in_channels };
  const toInput = (view === "stamps" ? asStamps : toTheInput)(spec, make, stages, settings.transposed);
  /** @type {MakeRow} */
  const row = (name, title, items, axes, shownAs = "") => ({
    name,
    title,
    items: items.filter(isShown),
    choices: /** @type {Axis[]} */ ([...axes]).filter((axis) => counts[axis] > 1).map((axis) => [axis, counts[axis]]),
    view: shownAs,
  });
  if (settings.transposed) return transposedRows(spec, make, stages, toInput, row, view);
  const rows = [
    row("forward", say("title.forward"), forward(spec, make, stages), "noc"),
    row("input", say("title.input"), toInput, "noc", view),
    row("weight", say("title.weight"), toTheWeight(spec, make, false), "noc"),
  ];
  return stages.bias ? [...rows, row("bias", say("title.bias"), toTheBias(make, "grad_output"), "no")] : rows;
}

/** @param {Settings} settings @param {Stages} stages @returns {MakePanel} */
function panelMaker({ spec, plane, transposed }, stages) {
  const at = planeWithin(plane, spec);
  /** @type {Record<string, number>} */
  const perGroup = { oc: spec.in_channels / spec.groups, co: spec.out_channels / spec.groups };
  return (name) => {
    const tensor = /** @type {Tensor} */ (stages[name]); // a row asks for those alone that there are
    const called = shownName(name, transposed);
    if (name === "bias" || name === "grad_bias") {
      const row = { shape: [1, 1, 1, tensor.data.length], data: tensor.data };
      return { name, called, label: called, tensor: row, at: [0, 0], roles: rolesOf(spec, name, row.shape.slice(2)), shape: tensor.shape };
    }
    const [first, second] = PANEL_AXES[name];
    const within = perGroup[first + second] ?? Infinity; // the second axis of a weight counts within the group
    /** @type {Pair} */
    const index = [planeIndex(at, first), planeIndex(at, second) % within];
    const label = `${called}[${index.join(", ")}]`;
    return { name, called, label, tensor, at: index, roles: rolesOf(spec, name, tensor.shape.slice(2)), shape: tensor.shape };
  };
}

/** A sign without a symbol holds a place that this geometry does not need. @param {Item} item */
const isShown = (item) => isPanel(item) || Boolean(item.symbol);
/** @param {string} symbol @returns {Sign} */
const sign = (symbol, note = "") => ({ symbol, note });
/** @param {Axis} axis @param {number} count @param {boolean} transposed */
const sumOver = (axis, count, transposed) =>
  count > 1 ? sign("Σ", say("sign.over", { axis: shownLetter(axis, transposed) })) : sign("");
/** @param {number[]} pair */
const stepWords = ([down, across]) => (down === across ? String(down) : `${down} × ${across}`);

/**
 * What there is to know about an operation; a step of 1 is left out.
 * @param {{ stride?: number[], dilation?: number[] }} steps @param {string[]} [first]
 */
function notesOf({ stride = [1, 1], dilation = [1, 1] }, first = []) {
  const parts = [...first];
  if (stride.some((step) => step !== 1)) parts.push(say("sign.stride", { step: stepWords(stride) }));
  if (dilation.some((step) => step !== 1)) parts.push(say("sign.dilation", { step: stepWords(dilation) }));
  return joined("list.comma", parts);
}

/** @param {Spec} spec @param {MakePanel} make @param {Stages} stages @returns {Item[]} */
function forward(spec, make, stages) {
  return [
    sumOver("c", spec.in_channels / spec.groups, false),
    make("padded_input"),
    sign("⊛", notesOf(spec)),
    make("weight"),
    ...(stages.bias ? [sign("+"), make("bias")] : []),
    sign("="),
    make("output"),
    sign("→", say("sign.loss")),
    make("grad_output"),
  ];
}

/** @param {Spec} spec @param {MakePanel} make @param {Stages} stages @param {boolean} transposed @returns {Item[]} */
function toTheInput(spec, make, stages, transposed) {
  return [
    sumOver("o", spec.out_channels / spec.groups, transposed),
    make("padded_grad_output"),
    sign("⊛", notesOf({ dilation: spec.dilation })),
    make("rotated_weight"),
    sign("="),
    ...gradient(make, stages),
  ];
}

/** @param {Spec} spec @param {MakePanel} make @param {Stages} stages @param {boolean} transposed @returns {Item[]} */
function asStamps(spec, make, stages, transposed) {
  return [
    sumOver("o", spec.out_channels / spec.groups, transposed),
    make("grad_output"),
    sign("⊞", notesOf(spec, [say("sign.stamps")])),
    make("weight"),
    sign("="),
    ...gradient(make, stages),
  ];
}

/** A border of copies has a gradient, which is folded back. @param {MakePanel} make @param {Stages} stages @returns {Item[]} */
function gradient(make, stages) {
  if (!stages.grad_padded_input) return [make("grad_input")];
  return [make("grad_padded_input"), sign("→", say("sign.fold")), make("grad_input")];
}

/** @param {Spec} spec @param {MakePanel} make @param {boolean} transposed @returns {Item[]} */
function toTheWeight(spec, make, transposed) {
  return [
    sumOver("n", spec.batch, transposed),
    make("padded_input"),
    sign("⊛", notesOf({ stride: spec.dilation })),
    make("dilated_grad_output"),
    sign("="),
    make("grad_weight"),
  ];
}

/** @param {MakePanel} make @param {PanelName} name @returns {Item[]} */
function toTheBias(make, name) {
  return [sign("Σ", say("sign.over_all")), make(name), sign("="), make("grad_bias")];
}

/**
 * What leads a convolution back to its input comes first and makes output.
 * @param {Spec} spec @param {MakePanel} make @param {Stages} stages @param {Item[]} toInput @param {MakeRow} row @param {string} view
 */
function transposedRows(spec, make, stages, toInput, row, view) {
  const stamped = toInput.filter(isShown);
  const bias = stages.bias ? [sign("+"), make("bias")] : [];
  const output = [...stamped.slice(0, -2), ...bias, ...stamped.slice(-2), sign("→", say("sign.loss")), make("input")];
  const toLayersInput = [
    sumOver("c", spec.in_channels / spec.groups, true),
    make("padded_input"),
    sign("⊛", notesOf(spec)),
    make("weight"),
    sign("="),
    make("output"),
  ];
  const rows = [
    row("input", say("title.forward"), output, "noc", view),
    row("forward", say("title.input"), toLayersInput, "noc"),
    row("weight", say("title.weight"), toTheWeight(spec, make, true), "noc"),
  ];
  return stages.bias ? [...rows, row("bias", say("title.bias"), toTheBias(make, "input"), "nc")] : rows;
}
