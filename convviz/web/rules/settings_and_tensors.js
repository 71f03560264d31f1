// Settings, as App.state() returns them, and their tensors, as in settings/tensors.py. Replaced whole, never
// changed.
import SETTINGS from "../../facts/data/settings.json" with { type: "json" };
import { kindsTaken, withKindsOfLoss } from "./loss_inputs.js";
import { randomTenths } from "./torch_random.js";
import { planeWithin } from "./shown_plane.js";
import { PRESETS, clamped, fitTensor, sampleKernel, samplePlane, resizePlane } from "./samples.js";
import { say } from "./sentences.js";
import { LARGEST } from "./schema.js";
import { inputShape, outputShape, weightShape } from "./conv_geometry.js";
import { upTo, countOf, flatIndex } from "./shapes_and_indices.js";

/**
 * @import { PanelName } from "./shown_plane.js"
 * @typedef {{ kind: string, values?: number[], shape?: number[] }} Source
 * @typedef {{ input: Source, weight: Source, bias: Required<Source> | null, target: Source, grad: Source }}
 *   Sources
 * @typedef {Omit<typeof SETTINGS.base_state, keyof Sources | "spec"> & Sources & { spec: Spec }} Settings
 * @typedef {{ shape: number[], data: Float64Array }} Tensor in reading order
 * @typedef {{ input: Tensor, weight: Tensor, bias: Tensor | null, target: Tensor | null, grad: Tensor |
 *   null }} Given
 * @typedef {Record<Exclude<PanelName, "grad_padded_input" | "target">, Tensor> & { grad_padded_input:
 *   Tensor | null, target: Tensor | null, bias: Tensor | null, grad_bias: Tensor | null, loss: number }}
 *   Stages as in ops/stages.py
 */

/** The board refuses larger sizes than these. */
export const MAX_SIZES = /** @type {Record<Exclude<keyof Spec, "version" | "padding_mode">, number>} */ (
  LARGEST
);
export const MAX_NUMBER = SETTINGS.limits.number;
const STREAMS = SETTINGS.random_streams; // what each tensor adds to the seed

/** @param {number[]} shape @param {ArrayLike<number>} values @returns {Tensor} */
const tensorOf = (shape, values) => ({ shape, data: Float64Array.from(values) });

/** @param {Tensor} tensor */
export const sourceWith = ({ shape, data }) => ({ kind: "values", values: [...data], shape: [...shape] });

/**
 * The plane follows into the geometry.
 * @param {Settings} settings @param {Partial<Settings>} changes @returns {Settings}
 */
export function replaced(settings, changes) {
  const made = { ...settings, ...changes };
  const { spec } = made;
  const limits = /** @type {[keyof typeof MAX_SIZES, number][]} */ (Object.entries(MAX_SIZES));
  for (const [name, most] of limits) {
    if (Math.max(...[spec[name]].flat(2)) <= most) continue;
    throw new Error(say("refused.page_size", { name, most }));
  }
  const broken = made.transposed ? "" : made.broken; // mistakes are a convolution's
  return { ...withKindsOfLoss(made), broken, plane: planeWithin(made.plane, spec) };
}

/** On the same device, in the same theme and tab. @param {Settings} old @param {Settings} next */
export const inPlaceOf = ({ device, dtype, theme, tab, mistake }, next) =>
  replaced(next, { device, dtype, theme, tab, mistake });

/** @param {Settings} settings */
export const shapeOfOutput = ({ spec, transposed }) => (transposed ? inputShape : outputShape)(spec);

/** Of what the numbers depend on. @param {Settings} settings */
export function numbersKey({ spec, input, digit, weight, bias, loss, target, grad, seed, transposed }) {
  return JSON.stringify([spec, input, digit, weight, bias, loss, target, grad, seed, transposed]);
}

/** @param {Settings} settings @returns {Given} */
export function tensorsOf(settings) {
  return {
    input: inputOf(settings),
    weight: weightOf(settings),
    bias: biasOf(settings),
    target: likeOutput(settings, "target"),
    grad: likeOutput(settings, "grad"),
  };
}

/** @param {Settings} settings @returns {Tensor} */
export function inputOf(settings) {
  const shape = (settings.transposed ? outputShape : inputShape)(settings.spec);
  const { kind, values = [], shape: from = [] } = settings.input;
  const [batch, channels, ...size] = shape;
  const picture = kind === "image" ? resizePlane(values, from, size) : null;
  const make = (/** @type {number} */ plane) => picture ?? samplePlane(kind, plane, size, settings.digit);
  return ownOf(settings, "input", shape) ?? tensorOf(shape, upTo(batch * channels).flatMap(make));
}

/** @param {Settings} settings @returns {Tensor} */
export function weightOf(settings) {
  const { kind } = settings.weight;
  const [size, shape] = [settings.spec.kernel_size, weightShape(settings.spec)];
  const own = ownOf(settings, "weight", shape);
  if (own) return kind === "random" ? tensorOf(shape, clamped([...own.data])) : own;
  const first = PRESETS.indexOf(kind);
  // Counting goes up from plane to plane.
  const planes = upTo(shape[0] * shape[1]).flatMap((plane) =>
    first < 0
      ? sampleKernel(kind, size).map((value) => value + plane)
      : sampleKernel(PRESETS[(first + plane) % PRESETS.length], size),
  );
  return tensorOf(shape, planes);
}

/** @param {Settings} settings @param {keyof typeof STREAMS} given @param {number[]} shape */
function ownOf(settings, given, shape) {
  const { kind, values = [], shape: own = [] } = settings[given];
  if (kind === "values") return tensorOf(shape, fitTensor(values, own, shape));
  return kind === "random"
    ? tensorOf(shape, randomTenths(countOf(shape), settings.seed + STREAMS[given]))
    : null;
}

/** @param {Settings} settings @returns {Tensor | null} */
export function biasOf(settings) {
  if (!settings.bias) return null;
  const shape = [shapeOfOutput(settings)[1]];
  return tensorOf(shape, fitTensor(settings.bias.values, settings.bias.shape, shape));
}

/**
 * The target, or a given grad_output.
 * @param {Settings} settings @param {"target" | "grad"} given @returns {Tensor | null}
 */
export function likeOutput(settings, given) {
  if (!kindsTaken(settings.loss, given).length) return null;
  const [{ kind, values = [] }, shape] = [settings[given], shapeOfOutput(settings)];
  const own = ownOf(settings, given, shape);
  if (own) return own;
  const filled = new Float64Array(countOf(shape)).fill(Number(kind === "ones"));
  if (kind === "one_hot") {
    const [n, ...cell] = shape.map((size, axis) => Math.min(values[axis] ?? 0, size - 1));
    // A target for each sample; of grad_output one cell is asked about.
    const samples = given === "target" ? upTo(shape[0]) : [n];
    for (const sample of samples) filled[flatIndex(shape, [sample, ...cell])] = 1;
  }
  return { shape, data: filled };
}
