// Actions on settings: [settings, notices]. An error's message is the sentence to show.
import { layerPair, mend, outputPaddingMoved, perAxis, boundsOf, withValue } from "./bounds.js";
import { GIVEN, kindsTaken, lossWith } from "./loss_inputs.js";
import { moved, describeAdjustments } from "./adjustment_notes.js";
import { isPlain } from "./tensor_display_names.js";
import { planeIndex, shownAt } from "./shown_plane.js";
import { say } from "./sentences.js";
import { PRESETS, sampleKernel } from "./samples.js";
import { MAX_SIZES, replaced, shapeOfOutput, sourceWith, weightOf } from "./settings_and_tensors.js";
import { remainderOf, weightShape } from "./conv_geometry.js";
import { flatIndex, halfTurned, planeOf, upTo } from "./shapes_and_indices.js";

/**
 * @import { AxisName, Changes, Pairs } from "./bounds.js"
 * @import { Moved } from "./adjustment_notes.js"
 * @typedef {[Settings, string[]]} Changed
 */

const DEFAULT_BIAS = [0.5, -0.5, 1, -1];
/**
 * @param {Settings} settings @param {AxisName} name @param {number} axis @param {number} value
 * @returns {Changed}
 */
export function setAxis(settings, name, axis, value) {
  const { spec, link_axes: linked, transposed } = settings;
  const made = withValue(spec, name, axis, value, linked, transposed);
  if (!made) {
    const [low, high] = boundsOf(spec, name, axis, linked, transposed);
    throw new Error(say("refused.range", { name: name.replace("_", " "), low, high, value }));
  }
  const after = replaced(settings, { spec: made });
  const uneven = name === "padding" ? evened(settings.spec, made) : [];
  const along = movedAlong(settings, after, uneven.some((move) => move.axis === 1) ? [name] : []);
  return [after, [...describeAdjustments(uneven), ...along]];
}

/**
 * Reports where one padding replaced two different sides.
 * @param {Spec} before @param {Spec} after @returns {Moved[]}
 */
function evened({ padding }, after) {
  const uneven = [0, 1].filter(
    (axis) => padding[axis][0] !== padding[axis][1] && after.padding[axis][0] === after.padding[axis][1],
  );
  return uneven.map((axis) => moved("moved.sides", axis, padding[axis].join(" + "), after.padding[axis][0]));
}

/** What gives way is said. @param {Settings} settings @param {Changes} changes @returns {Changed} */
export function setGeometry(settings, changes) {
  const { spec, moves } = mend(settings.spec, changes, settings.transposed);
  return [replaced(settings, { spec }), describeAdjustments(moves)];
}

/** @param {Settings} settings @param {boolean} wanted @returns {Changed} */
export function setTransposed(settings, wanted) {
  const { spec } = settings;
  if (!wanted || spec.padding_mode === "zeros") return [replaced(settings, { transposed: wanted }), []];
  const notice = say("moved.padding_mode", { old: spec.padding_mode });
  return [replaced(settings, { spec: { ...spec, padding_mode: "zeros" }, transposed: true }), [notice]];
}

/**
 * Linked axes move together; a transposed layer's output follows output_padding.
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

/** The width follows if it can. @param {Settings} settings @param {boolean} linked @returns {Changed} */
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
  // Linking itself says what moved along the width.
  const others = describeAdjustments(moves.filter(({ axis }) => axis !== 1));
  return [made, [...others, ...movedAlong(settings, made)]];
}

/**
 * Reports which other settings moved: those of a linked width, and output_padding.
 * @param {Settings} before @param {Settings} after @param {string[]} [said] said already
 */
function movedAlong(before, after, said = []) {
  const moves = after.transposed ? outputPaddingMoved(before.spec, after.spec) : [];
  const isExplained = moves.length > 0;
  if (!after.link_axes) return describeAdjustments(moves);
  for (const name of perAxis(before.transposed)) {
    if (said.includes(name) || (name === "output_padding" && isExplained)) continue;
    const [height, old] = layerPair(before.spec, name, before.transposed);
    const now = layerPair(after.spec, name, after.transposed)[1];
    if (String(old) === String(now) || String(old) === String(height)) continue;
    const words = [old, now].map((side) =>
      Array.isArray(side) ? (side[0] === side[1] ? side[0] : `(${side.join(", ")})`) : side,
    );
    moves.push(moved("moved.linked", 1, words[0], words[1], { name }));
  }
  return describeAdjustments(moves);
}

/**
 * Other planes follow the list, unless some were typed.
 * @param {Settings} settings @param {string} name @returns {Changed}
 */
export function chooseKernel(settings, name) {
  const weight = weightOf(settings);
  if (settings.weight.kind === "values" && weight.shape[0] * weight.shape[1] > 1) {
    const made = replaced(settings, { weight: { kind: name } });
    const kernel = name === "random" ? shownKernel(made) : sampleKernel(name, settings.spec.kernel_size);
    planeOf(weight, shownWeight(settings)).set(kernel);
    return [replaced(settings, { weight: sourceWith(weight) }), []];
  }
  if (!PRESETS.includes(name)) return [replaced(settings, { weight: { kind: name } }), []];
  const first = PRESETS.indexOf(name) - flatIndex(weight.shape, shownWeight(settings));
  const kind = /** @type {string} */ (PRESETS.at(first % PRESETS.length));
  return [replaced(settings, { weight: { kind } }), []];
}

/** Names the preset or the kind of the shown kernel; "values" means that it is no preset. @param {Settings} settings */
export function kernelName(settings) {
  const { kind } = settings.weight;
  if (kind === "values") {
    const plane = shownKernel(settings);
    /** @param {string} name */
    const same = (name) =>
      sampleKernel(name, settings.spec.kernel_size).every((value, cell) => value === plane[cell]);
    return [...PRESETS, "counting"].find(same) ?? "values"; // of one cell, identity comes first
  }
  if (!PRESETS.includes(kind)) return kind;
  const shown = flatIndex(weightShape(settings.spec), shownWeight(settings));
  return PRESETS[(PRESETS.indexOf(kind) + shown) % PRESETS.length];
}

/** @param {Settings} settings */
export const shownKernel = (settings) => [...planeOf(weightOf(settings), shownWeight(settings))];

/** By 180°: conv2d then computes the true convolution. @param {Settings} settings @returns {Changed} */
export function turnKernel(settings) {
  const weight = weightOf(settings);
  const data = halfTurned(weight);
  return [replaced(settings, { weight: sourceWith({ ...weight, data }) }), [say("turned")]];
}

/** @param {Settings} settings */
const shownWeight = ({ spec, plane }) => shownAt(plane, spec, "weight", false);

/**
 * Different for each channel, later ones too.
 * @param {Settings} settings @param {boolean} wanted @returns {Changed}
 */
export function setBias(settings, wanted) {
  const values = upTo(MAX_SIZES.out_channels).map((channel) => DEFAULT_BIAS[channel % DEFAULT_BIAS.length]);
  const bias = wanted ? { kind: "values", values, shape: [values.length] } : null;
  return [replaced(settings, { bias }), []];
}

/** A click moves the 1 there. @param {Settings} settings */
export function oneHotPanels(settings) {
  const field = oneHotField(settings);
  if (!field) return [];
  const sentBack = isPlain(settings.spec.stride) ? ["grad_output", "dilated_grad_output"] : ["grad_output"];
  return [
    ...(settings.transposed ? ["grad_input", "input"] : ["output", ...sentBack]),
    ...(field === "target" ? ["target"] : []),
  ];
}

/**
 * Returns "target" or "grad", whichever holds a single 1, or undefined where neither does.
 * @param {Settings} settings
 */
const oneHotField = (settings) =>
  GIVEN.find((given) => kindsTaken(settings.loss, given).length && settings[given].kind === "one_hot");

/**
 * In the shown plane; without one, grad_output becomes it.
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

/** From the middle of the shown plane. @param {Settings} settings @returns {Changed} */
export function singleOne(settings) {
  const [height, width] = shapeOfOutput(settings).slice(2);
  const byHand = replaced(settings, { loss: lossWith("grad"), grad: { kind: "one_hot" } });
  return oneHot(byHand, Math.floor((height - 1) / 2), Math.floor((width - 1) / 2));
}

/** @param {Settings} settings */
export const isSingleOne = (settings) => oneHotField(settings) === "grad";

/** Returns the place of the single 1, or null where the shown plane does not hold it. @param {Settings} settings */
export function shownOne(settings) {
  if (!isSingleOne(settings)) return null;
  const { grad, plane, transposed } = settings;
  const places = shapeOfOutput(settings).map((size, axis) => Math.min(grad.values?.[axis] ?? 0, size - 1));
  const here = [plane.sample, planeIndex(plane, transposed ? "c" : "o")];
  return places[0] === here[0] && places[1] === here[1] ? { row: places[2], column: places[3] } : null;
}
