// The arrival: a 1 walks over grad_output, stamps land, and one pixel receives the kernel backwards. Data
// only.
import { isSingleOne } from "../rules/change_settings.js";
import { FIRST_STATE, toLink } from "../rules/settings_link.js";
import { inPlaceOf, weightOf } from "../rules/settings_and_tensors.js";
import { geometryOf } from "../rules/conv_geometry.js";
import { stampLinks } from "./stamp_and_window_pairs.js";
import { pointAt } from "../rules/shapes_and_indices.js";

/**
 * @typedef {Point} At
 * @typedef {{ at: Point, corner: Point, sent: number[], landed: number[], received: number }} Step at: of the
 *   1; corner: of the stamp; sent, landed: grad_output and grad_input; received: by the pixel
 * @typedef {{ pixel: Point, rows: number, columns: number, weight: number[], steps: Step[] }} Arrival rows
 *   and columns of the kernel
 */

const MAX_STEPS = 9; // steps: more is no glance

const KINDS = /** @type {const} */ (["input", "weight", "grad"]);

/** In any theme, on any device. @param {Settings} settings */
export function isFirstPicture(settings) {
  if (settings.tab || KINDS.some((name) => settings[name].kind !== FIRST_STATE[name].kind)) return false;
  return toLink(inPlaceOf(FIRST_STATE, settings)) === toLink(FIRST_STATE);
}

/** @param {Settings} settings @returns {Settings} */
export const firstPicture = (settings) => inPlaceOf(settings, FIRST_STATE);

/** One pixel is read by each window once, each time by another weight. @param {Spec} spec */
function showsAll(spec) {
  const { batch, in_channels, out_channels, padding_mode, kernel_size, input_size, stride, dilation } = spec;
  return (
    [batch, in_channels, out_channels, ...stride, ...dilation].every((count) => count === 1) &&
    padding_mode === "zeros" &&
    spec.padding.flat().every((cells) => cells === 0) &&
    kernel_size.every((size, axis) => input_size[axis] === 2 * size - 1) &&
    kernel_size[0] * kernel_size[1] <= MAX_STEPS
  );
}

/**
 * Of a single 1: the pixel that receives the kernel backwards while the 1 walks.
 * @param {Settings} settings
 * @returns {{ pixel: Point, weight: number[] } | null} null: none does, or nobody could see it
 */
export function conclusionOf(settings) {
  const { spec, transposed, broken } = settings;
  if (transposed || broken || !showsAll(spec) || !isSingleOne(settings)) return null;
  const weight = Array.from(weightOf(settings).data);
  const backwards = weight.toReversed();
  if (!weight.every(Number.isFinite) || weight.every((value, index) => value === backwards[index]))
    return null;
  const [rows, columns] = spec.kernel_size;
  return { pixel: { row: rows - 1, column: columns - 1 }, weight };
}

/** @param {Settings} settings @returns {Arrival | null} null: without a conclusion */
export function introOf(settings) {
  const found = conclusionOf(settings);
  if (!found) return null;
  const { pixel, weight } = found;
  const [rows, columns] = settings.spec.kernel_size;
  const steps = weight.map((_, index) => stepAt(settings, weight, pixel, index));
  return { pixel, rows, columns, weight, steps };
}

/**
 * @param {Settings} settings @param {number[]} weight @param {Point} pixel @param {number} index @returns
 *   {Step}
 */
function stepAt({ spec, plane, transposed }, weight, pixel, index) {
  const [[, columns], [height, width]] = [spec.kernel_size, spec.input_size];
  const at = pointAt(index, columns);
  const links = stampLinks(geometryOf(spec, plane, transposed), "grad_input", [at.row, at.column]);
  const landed = Array(height * width).fill(0);
  const cells = links.filter(({ panel }) => panel === "grad_input");
  for (const { row, column, kernel } of cells)
    if (kernel) landed[row * width + column] += weight[kernel.row * columns + kernel.column];
  const corner = cells.find(({ kernel }) => kernel?.row === 0 && kernel.column === 0) ?? at;
  return {
    at,
    corner: { row: corner.row, column: corner.column },
    sent: weight.map((__, place) => Number(place === index)),
    landed,
    received: landed[pixel.row * width + pixel.column],
  };
}
