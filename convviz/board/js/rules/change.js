// @ts-check
// What each action does to the settings: [settings, notices] from settings.
// What cannot be done is thrown as an Error whose message is the sentence to show.
import SETTINGS from "../../../facts/settings.json" with { type: "json" };
import { layerPair, mend, outputPaddingMoved, perAxis, rangeOf, withValue } from "./bounds.js";
import { GIVEN, kindsTaken, lossWith } from "./losses.js";
import { moved, saidOf } from "./moved.js";
import { shownName } from "./names.js";
import { planeIndex } from "./plane.js";
import { say } from "./say.js";
import { PRESETS, makeKernel } from "./samples.js";
import { MOST_NUMBER, MOST_PLANES, biasOf, gradOf, inputOf, replaced, shapeOfOutput, sourceWith, weightOf } from "./settings.js";
import { backwardPadding, remainderOf } from "./spec.js";

/**
 * @import { AxisName, Changes, Pairs } from "./bounds.js"
 * @import { Settings, Tensor } from "./settings.js"
 * @typedef {[Settings, string[]]} Changed
 * @typedef {"input" | "weight" | "grad" | "bias"} EditedField
 */

const DEFAULT_BIAS = [0.5, -0.5, 1, -1];
/**
 * The panels whose cells can be typed into, with the setting that then holds the numbers.
 * @param {boolean} transposed @returns {Record<string, EditedField>}
 */
export const editedPanels = (transposed) =>
  /** @type {any} */ (transposed ? SETTINGS.edited.transposed : SETTINGS.edited.convolution);

/** Move one per-axis control. @param {Settings} settings @param {AxisName} name @param {number} axis @param {number} value @returns {Changed} */
export function setAxis(settings, name, axis, value) {
  const { spec, link_axes: linked, transposed } = settings;
  const made = withValue(spec, name, axis, value, linked, transposed);
  if (!made) {
    const [low, high] = rangeOf(spec, name, axis, linked, transposed);
    throw new Error(say("refused.range", { name: name.replace("_", " "), low, high, value }));
  }
  const after = replaced(settings, { spec: made });
  return [after, movedAlong(settings, after)];
}

/**
 * Change padding_mode, groups, channels, batch or sizes; what has to give way is moved, and said.
 * @param {Settings} settings @param {Changes} changes @returns {Changed}
 */
export function setGeometry(settings, changes) {
  const { spec, moves } = mend(settings.spec, changes, settings.transposed);
  return [replaced(settings, { spec }), saidOf(moves)];
}

/**
 * Read the same geometry as a transposed convolution, or as a convolution again.
 * @param {Settings} settings @param {boolean} wanted @returns {Changed}
 */
export function setTransposed(settings, wanted) {
  const { spec } = settings;
  if (!wanted || spec.padding_mode === "zeros") return [replaced(settings, { transposed: wanted }), []];
  const notice = say("moved.padding_mode", { old: spec.padding_mode });
  return [replaced(settings, { spec: { ...spec, padding_mode: "zeros" }, transposed: true }), [notice]];
}

/**
 * Give the convolution's input another size; linked axes move together. Of a transposed one it is the output, whose size
 * output_padding makes.
 * @param {Settings} settings @param {number} height @param {number} width @returns {Changed}
 */
export function setSize(settings, height, width) {
  if (settings.transposed) {
    const smallest = settings.spec.input_size.map((size, axis) => size - remainderOf(settings.spec, axis));
    return setGeometry(settings, { output_padding: [height - smallest[0], width - smallest[1]] });
  }
  const linked = height === settings.spec.input_size[0] ? width : height;
  return setGeometry(settings, { input_size: settings.link_axes ? [linked, linked] : [height, width] });
}

/**
 * Link height and width: the width then takes the height's values where it can.
 * @param {Settings} settings @param {boolean} linked @returns {Changed}
 */
export function linkAxes(settings, linked) {
  if (!linked) return [replaced(settings, { link_axes: false }), []];
  /** @type {{ [name in AxisName]?: Pairs }} */
  const changes = {};
  for (const name of perAxis(settings.transposed)) {
    if (name === "input_size") continue;
    const [height] = layerPair(settings.spec, name, settings.transposed);
    changes[name] = [height, height];
  }
  const { spec, moves } = mend(settings.spec, /** @type {Changes} */ (changes), settings.transposed);
  const made = replaced(settings, { spec, link_axes: true });
  // What moved along the width is said once: that it is linked.
  return [made, [...saidOf(moves.filter(({ axis }) => axis !== 1)), ...movedAlong(settings, made)]];
}

/** A sentence for every setting that moved because it is linked to the one that was set. @param {Settings} before @param {Settings} after */
function movedAlong(before, after) {
  const moves = after.transposed ? outputPaddingMoved(before.spec, after.spec) : [];
  const told = moves.length > 0;
  if (!after.link_axes) return saidOf(moves);
  for (const name of perAxis(before.transposed)) {
    if (name === "output_padding" && told) continue;
    const [height, old] = layerPair(before.spec, name, before.transposed);
    const now = layerPair(after.spec, name, after.transposed)[1];
    if (String(old) === String(now) || String(old) === String(height)) continue;
    const words = [old, now].map((side) => (Array.isArray(side) ? (side[0] === side[1] ? side[0] : `(${side.join(", ")})`) : side));
    moves.push(moved("moved.linked", 1, words[0], words[1], { name }));
  }
  return saidOf(moves);
}

/**
 * Give the plane that is shown a kernel by name; the others follow in the list's order, unless some were typed.
 * @param {Settings} settings @param {string} name @returns {Changed}
 */
export function chooseKernel(settings, name) {
  const weight = weightOf(settings);
  const shown = shownWeightPlane(settings);
  if (settings.weight.kind === "values" && weight.shape[0] * weight.shape[1] > 1) {
    const size = settings.spec.kernel_size[0] * settings.spec.kernel_size[1];
    const random = () => weightOf({ ...settings, weight: { kind: name } }).data.slice(shown * size, (shown + 1) * size);
    weight.data.set(name === "random" ? random() : makeKernel(name, settings.spec.kernel_size), shown * size);
    return [replaced(settings, { weight: sourceWith(weight) }), []];
  }
  if (!PRESETS.includes(name)) return [replaced(settings, { weight: { kind: name } }), []];
  const first = PRESETS.indexOf(name) - shown;
  return [replaced(settings, { weight: { kind: PRESETS[((first % PRESETS.length) + PRESETS.length) % PRESETS.length] } }), []];
}

/** The name of the kernel in the plane that is shown, "values" if it has none. @param {Settings} settings */
export function kernelName(settings) {
  const { kind } = settings.weight;
  const shown = shownWeightPlane(settings);
  if (kind === "values") {
    const plane = shownKernel(settings);
    /** @param {string} name */
    const same = (name) => makeKernel(name, settings.spec.kernel_size).every((value, cell) => value === plane[cell]);
    return [...PRESETS, "counting"].find(same) ?? "values"; // of one cell each, identity comes first
  }
  return PRESETS.includes(kind) ? PRESETS[(PRESETS.indexOf(kind) + shown) % PRESETS.length] : kind;
}

/** The numbers of the kernel that is shown. @param {Settings} settings */
export function shownKernel(settings) {
  const [height, width] = settings.spec.kernel_size;
  const start = shownWeightPlane(settings) * height * width;
  return [...weightOf(settings).data.subarray(start, start + height * width)];
}

/** The index of the shown kernel, counted over all planes of the weight. @param {Settings} settings */
function shownWeightPlane({ spec, plane }) {
  const ins = spec.in_channels / spec.groups;
  return plane.out_channel * ins + (plane.in_channel % ins);
}

/**
 * Switch the bias on, with numbers that differ also when channels are added later, or off.
 * @param {Settings} settings @param {boolean} wanted @returns {Changed}
 */
export function setBias(settings, wanted) {
  const values = Array.from({ length: MOST_PLANES.out_channels }, (_, channel) => DEFAULT_BIAS[channel % DEFAULT_BIAS.length]);
  return [replaced(settings, { bias: wanted ? { kind: "values", values, shape: [values.length] } : null }), []];
}

/** The panels in which a click moves the 1 of a one-hot target or grad_output. @param {Settings} settings @returns {string[]} */
export function oneHotPanels(settings) {
  if (!oneHotField(settings)) return [];
  return settings.transposed ? ["grad_input", "input"] : ["output", "grad_output"];
}

/** Which of target and grad the loss is given as a one-hot, if it is. @param {Settings} settings */
const oneHotField = (settings) => GIVEN.find((given) => kindsTaken(settings.loss, given).length && settings[given].kind === "one_hot");

/**
 * Move the 1 of the loss's one-hot to one cell of the plane that is shown; without one, grad_output becomes it.
 * @param {Settings} settings @param {number} row @param {number} column @returns {Changed}
 */
export function oneHot(settings, row, column) {
  const [height, width] = shapeOfOutput(settings).slice(2);
  const field = oneHotField(settings);
  const name = field === "target" ? "target" : "grad_output";
  if (row >= height || column >= width) {
    throw new Error(say("refused.one_hot", { name, height, width, row, column }));
  }
  const channel = planeIndex(settings.plane, settings.transposed ? "c" : "o");
  const movedTo = { kind: "one_hot", values: [settings.plane.sample, channel, row, column] };
  return [replaced(settings, field ? { [field]: movedTo } : { loss: lossWith("grad"), grad: movedTo }), []];
}

/** Send back a single 1, from the middle of the plane that is shown. @param {Settings} settings @returns {Changed} */
export function singleOne(settings) {
  const [height, width] = shapeOfOutput(settings).slice(2);
  const byHand = replaced(settings, { loss: lossWith("grad"), grad: { kind: "one_hot" } });
  return oneHot(byHand, Math.floor((height - 1) / 2), Math.floor((width - 1) / 2));
}

/** Whether a single 1 is sent back. @param {Settings} settings */
export const isSingleOne = (settings) => oneHotField(settings) === "grad";

/**
 * Write a number into a cell of a panel.
 * @param {Settings} settings @param {{ panel: string, row: number, column: number, value: number }} edit as shown
 * @param {Tensor | null} [gradOutput] of the layer, as shown: typing into it ends its being made by a loss
 * @returns {Changed}
 */
export function editCell(settings, { panel, row, column, value }, gradOutput = null) {
  const { transposed } = settings;
  const fields = editedPanels(transposed);
  if (!fields[panel]) {
    const names = [...new Set(Object.keys(fields).map((name) => shownName(name, transposed)))];
    throw new Error(say("refused.follows", { name: shownName(panel, transposed), panels: names.join(", ") }));
  }
  if (!(Math.abs(value) < MOST_NUMBER)) throw new Error(say("refused.number", { most: MOST_NUMBER, value }));
  const field = fields[panel];
  const { shape, data } = editedTensor(settings, field, gradOutput);
  const index = placeOf(settings, panel, row, column);
  const axes = field === "bias" ? [1, 1, 1, ...shape] : shape;
  if (!index.every((at, axis) => at >= 0 && at < axes[axis])) {
    throw new Error(say(panel === "padded_grad_output" ? "refused.zero" : "refused.border"));
  }
  const changed = { shape, data: data.slice() };
  changed.data[index.reduce((at, place, axis) => at * axes[axis] + place, 0)] = value;
  const loss = field === "grad" ? lossWith("grad") : settings.loss;
  return [replaced(settings, { [field]: sourceWith(changed), loss }), []];
}

/** @param {Settings} settings @param {EditedField} field @param {Tensor | null} gradOutput */
function editedTensor(settings, field, gradOutput) {
  if (field === "input") return inputOf(settings);
  if (field === "weight") return weightOf(settings);
  const there = field === "grad" ? gradOf(settings) ?? gradOutput : biasOf(settings);
  if (!there) throw new Error(say("refused.bias")); // grad_output there is, once there are cells
  return there;
}

/**
 * The index of a panel's cell in the tensor that it edits; outside of it for a cell that is not data.
 * @param {Settings} settings @param {string} panel @param {number} row @param {number} column
 */
function placeOf({ spec, plane }, panel, row, column) {
  const [n, o, c] = [plane.sample, plane.out_channel, plane.in_channel];
  if (panel === "padded_input") return [n, c, row - spec.padding[0][0], column - spec.padding[1][0]];
  if (panel === "padded_grad_output") {
    const places = [row, column].map((at, axis) => (at - backwardPadding(spec, axis)[0]) / spec.stride[axis]);
    return [n, o, ...places.map((place) => (Number.isInteger(place) ? place : -1))]; // -1: a zero of the stride
  }
  if (panel === "weight") return [o, c % (spec.in_channels / spec.groups), row, column];
  if (panel === "bias") return [0, 0, row, column];
  return [n, panel === "input" ? c : o, row, column];
}
