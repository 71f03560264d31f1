// @ts-check
// The picture: three equations (four with a bias), each a row of named panels, as views/panels.py lays them out.
import { rolesOf } from "./cells.js";
import { inLayersWords, shownName } from "../rules/names.js";
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
  const toInput = (view === "stamps" ? asStamps : toTheInput)(spec, make, stages);
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
    row("forward", "Forward", forward(spec, make, stages), "noc"),
    row("input", "Backward, to the input", toInput, "noc", view),
    row("weight", "Backward, to the weight", toTheWeight(spec, make), "noc"),
  ];
  return stages.bias ? [...rows, row("bias", "Backward, to the bias", toTheBias(make, "grad_output"), "no")] : rows;
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
/** @param {string} over @param {number} count */
const sumOver = (over, count) => (count > 1 ? sign("Σ", `over ${over}`) : sign(""));

/** What has to be said about an operation, such as its stride. @param {[string, number[]][]} parts */
function notesOf(...parts) {
  const told = parts.filter(([, pair]) => pair[0] !== 1 || pair[1] !== 1);
  return told.map(([word, [down, across]]) => `${word} ${down === across ? down : `${down} × ${across}`}`).join(", ");
}

/** @param {Spec} spec @param {MakePanel} make @param {Stages} stages @returns {Item[]} */
function forward(spec, make, stages) {
  return [
    sumOver("c", spec.in_channels / spec.groups),
    make("padded_input"),
    sign("⊛", notesOf(["stride", spec.stride], ["dilation", spec.dilation])),
    make("weight"),
    ...(stages.bias ? [sign("+"), make("bias")] : []),
    sign("="),
    make("output"),
    sign("→", "loss"),
    make("grad_output"),
  ];
}

/** @param {Spec} spec @param {MakePanel} make @param {Stages} stages @returns {Item[]} */
function toTheInput(spec, make, stages) {
  return [
    sumOver("o", spec.out_channels / spec.groups),
    make("padded_grad_output"),
    sign("⊛", notesOf(["dilation", spec.dilation])),
    make("rotated_weight"),
    sign("="),
    ...gradient(make, stages),
  ];
}

/** @param {Spec} spec @param {MakePanel} make @param {Stages} stages @returns {Item[]} */
function asStamps(spec, make, stages) {
  const note = notesOf(["stride", spec.stride], ["dilation", spec.dilation]);
  return [
    sumOver("o", spec.out_channels / spec.groups),
    make("grad_output"),
    sign("⊞", `stamps${note && `, ${note}`}`),
    make("weight"),
    sign("="),
    ...gradient(make, stages),
  ];
}

/** A border of copies has a gradient, which is folded back. @param {MakePanel} make @param {Stages} stages @returns {Item[]} */
function gradient(make, stages) {
  if (!stages.grad_padded_input) return [make("grad_input")];
  return [make("grad_padded_input"), sign("→", "fold the border back"), make("grad_input")];
}

/** @param {Spec} spec @param {MakePanel} make @returns {Item[]} */
function toTheWeight(spec, make) {
  return [
    sumOver("n", spec.batch),
    make("padded_input"),
    sign("⊛", notesOf(["stride", spec.dilation])),
    make("dilated_grad_output"),
    sign("="),
    make("grad_weight"),
  ];
}

/** @param {MakePanel} make @param {PanelName} name @returns {Item[]} */
function toTheBias(make, name) {
  return [sumOver("n, rows and columns", 2), make(name), sign("="), make("grad_bias")];
}

/**
 * What leads a convolution back to its input comes first and makes output.
 * @param {Spec} spec @param {MakePanel} make @param {Stages} stages @param {Item[]} toInput @param {MakeRow} row @param {string} view
 */
function transposedRows(spec, make, stages, toInput, row, view) {
  const stamped = toInput.filter(isShown);
  const bias = stages.bias ? [sign("+"), make("bias")] : [];
  const output = [...stamped.slice(0, -2), ...bias, ...stamped.slice(-2), sign("→", "loss"), make("input")];
  const toLayersInput = [
    sumOver("c", spec.in_channels / spec.groups),
    make("padded_input"),
    sign("⊛", notesOf(["stride", spec.stride], ["dilation", spec.dilation])),
    make("weight"),
    sign("="),
    make("output"),
  ];
  /** @param {Item[]} items */
  const inWords = (items) => items.map((item) => (isPanel(item) ? item : sign(item.symbol, inLayersWords(item.note))));
  const rows = [
    row("input", "Forward", inWords(output), "noc", view),
    row("forward", "Backward, to the input", inWords(toLayersInput), "noc"),
    row("weight", "Backward, to the weight", inWords(toTheWeight(spec, make)), "noc"),
  ];
  return stages.bias ? [...rows, row("bias", "Backward, to the bias", inWords(toTheBias(make, "input")), "nc")] : rows;
}
