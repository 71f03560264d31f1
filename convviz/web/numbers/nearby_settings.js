// The moves of a setting, one control each, nearest first.
import SETTINGS from "../../facts/data/settings.json" with { type: "json" };
import { LIMITS } from "../rules/bounds.js";
import { MAX_SIZES, replaced } from "../rules/settings_and_tensors.js";
import { countProducts, isPossible } from "../rules/conv_geometry.js";
import { upTo } from "../rules/shapes_and_indices.js";

/**
 * @typedef {typeof PLANES[number]} Planes
 * @typedef {typeof PAIRS[number]} PairControl
 * @typedef {Planes | PairControl | "groups" | "padding_mode"} GeometryControl
 * @typedef {"grad_output" | "weight" | "input"} NumbersControl
 * @typedef {{ control: GeometryControl | NumbersControl, settings: Settings }} Move the settings after it
 */

const PLANES = /** @type {const} */ (["batch", "out_channels", "in_channels"]);
const PAIRS = /** @type {const} */ (["stride", "dilation", "padding", "kernel_size", "input_size"]);
const REACH = 4; // the largest step by which a size changes

/** @type {readonly NumbersControl[]} */
export const NUMBERS = ["grad_output", "weight", "input"];

/** @param {Settings} settings @param {NumbersControl} control @returns {Move} */
export function randomMove(settings, control) {
  const random = { kind: "random" };
  const changes = control === "grad_output" ? { loss: "weighted_sum", grad: random } : { [control]: random };
  return { control, settings: replaced(settings, changes) };
}

/** @param {Settings} settings @param {number} most products after it @returns {Move[]} */
export function nearbyGeometries(settings, most) {
  const { spec } = settings;
  /** @type {[GeometryControl, Partial<Spec>][]} */
  const changes = [
    ...PLANES.flatMap((name) => others(LIMITS[name], spec[name]).map((value) => of(name, { [name]: value }))),
    ...others(LIMITS.in_channels, spec.groups).map((groups) => of("groups", inGroups(spec, groups))),
    ...[[0, 1], [0], [1]].flatMap((axes) => PAIRS.flatMap((name) => along(spec, name, axes))),
    ...SETTINGS.fields.padding_mode.words
      .filter((mode) => mode !== spec.padding_mode)
      .map((padding_mode) => of("padding_mode", { padding_mode })),
  ];
  return changes.flatMap(([control, change]) => {
    const made = { ...spec, ...change };
    const { in_channels, out_channels } = MAX_SIZES;
    const shown = made.in_channels <= in_channels && made.out_channels <= out_channels;
    const fits = shown && isPossible(made) && countProducts(made) <= most;
    return fits ? [{ control, settings: replaced(settings, { spec: made }) }] : [];
  });
}

/**
 * @param {GeometryControl} control @param {Partial<Spec>} change
 * @returns {[GeometryControl, Partial<Spec>]}
 */
const of = (control, change) => [control, change];

/** Nearest first, up before down. @param {number[]} range @param {number} here */
function others([low, high], here) {
  const all = upTo(high - low + 1).map((index) => low + index);
  const nearest = all.sort((one, two) => Math.abs(one - here) - Math.abs(two - here) || two - one);
  return nearest.filter((value) => value !== here);
}

/** @param {Spec} spec @param {number} groups @returns {Partial<Spec>} */
function inGroups({ in_channels, out_channels }, groups) {
  const up = (/** @type {number} */ channels) => Math.ceil(channels / groups) * groups;
  return { groups, in_channels: up(in_channels), out_channels: up(out_channels) };
}

/** @param {Spec} spec @param {PairControl} name @param {number[]} axes */
function along(spec, name, axes) {
  const here = Math.max(...[spec[name][axes[0]]].flat());
  const [low, high] = LIMITS[name];
  return others([Math.max(low, here - REACH), Math.min(high, here + REACH)], here).map((value) => {
    const changed = name === "padding" ? [value, value] : value;
    const moved = spec[name].map((own, axis) => (axes.includes(axis) ? changed : own));
    return of(name, { [name]: moved });
  });
}

/**
 * Writes a setting as 2, or as 1 × 2; the text is empty where the geometry has no such setting.
 * @param {Spec} spec @param {string} control
 */
export function textOf(spec, control) {
  const value = spec[/** @type {keyof Spec} */ (control)];
  if (!Array.isArray(value)) return String(value ?? "");
  const axes = value.map((own) => [...new Set([own].flat())].join(" + "));
  const whole = axes[0] === axes[1] && control !== "input_size" && control !== "kernel_size";
  return whole ? axes[0] : axes.join(" \u00d7 ");
}
