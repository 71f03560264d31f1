// The shown plane, by the rules of geometry/shown_plane.py.
import SETTINGS from "../../facts/data/settings.json" with { type: "json" };
import { perGroup } from "./conv_geometry.js";

/**
 * @typedef {{ sample: number, out_channel: number, in_channel: number }} Plane
 * @typedef {"n" | "o" | "c"} Axis samples, output channels or input channels
 * @typedef {keyof typeof PANEL_AXES} PanelName with four axes
 */

/** What the leading axes count. @type {Record<keyof typeof SETTINGS.panel_axes, [Axis, Axis]>} */
export const PANEL_AXES = /** @type {any} */ (SETTINGS.panel_axes);

/** A target has its output's axes. @param {PanelName} name @param {boolean} transposed */
export const panelAxes = (name, transposed) => PANEL_AXES[transposed && name === "target" ? "input" : name];

/** @param {number} value @param {number} most */
const clip = (value, most) => Math.min(Math.max(value, 0), most);

/** The nearest; itself where it is one. @param {Plane} plane @param {Spec} spec */
export function planeWithin(plane, spec) {
  const [ins, outs] = perGroup(spec);
  const out_channel = clip(plane.out_channel, spec.out_channels - 1);
  const in_channel =
    Math.floor(out_channel / outs) * ins + (clip(plane.in_channel, spec.in_channels - 1) % ins);
  const sample = clip(plane.sample, spec.batch - 1);
  const isWithin =
    sample === plane.sample && out_channel === plane.out_channel && in_channel === plane.in_channel;
  return isWithin ? plane : { sample, out_channel, in_channel };
}

/** @param {Plane} plane @param {Axis} axis */
export const planeIndex = (plane, axis) =>
  ({ n: plane.sample, o: plane.out_channel, c: plane.in_channel })[axis];

/**
 * The indices of the shown plane of a tensor; a kernel's second counts within the group.
 * @param {Plane} plane @param {Spec} spec @param {PanelName} name @param {boolean} transposed @returns {Pair}
 */
export function shownAt(plane, spec, name, transposed) {
  const axes = panelAxes(name, transposed);
  const near = planeWithin(plane, spec);
  const [first, second] = axes.map((axis) => planeIndex(near, axis));
  const [ins, outs] = perGroup(spec);
  /** @type {Record<string, number>} */
  const counts = { oc: ins, co: outs };
  return [first, second % (counts[axes.join("")] ?? Infinity)];
}

/**
 * The other channel follows into its group.
 * @param {Plane} plane @param {Spec} spec @param {Axis} axis @param {number} index
 */
export function choosePlane(plane, spec, axis, index) {
  if (axis === "n") return planeWithin({ ...plane, sample: index }, spec);
  if (axis === "o") return planeWithin({ ...plane, out_channel: index }, spec);
  const [ins, outs] = perGroup(spec);
  const out_channel = Math.floor(index / ins) * outs + (plane.out_channel % outs);
  return planeWithin({ ...plane, out_channel, in_channel: index }, spec);
}

/**
 * A weight's second axis counts within the group.
 * @param {Plane} plane @param {Spec} spec @param {PanelName} name @param {number[]} at
 */
export function showPlane(plane, spec, name, at, transposed = false) {
  const [first, second] = panelAxes(name, transposed);
  const [ins, outs] = perGroup(spec);
  const near = choosePlane(plane, spec, first, at[0]);
  /** @type {Record<string, number>} */
  const starts = {
    oc: near.in_channel - (near.in_channel % ins),
    co: near.out_channel - (near.out_channel % outs),
  };
  return choosePlane(near, spec, second, (starts[first + second] ?? 0) + at[1]);
}
