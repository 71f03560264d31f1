// What one mistake makes of a band, by the recipes of the tab Mistakes.
import BROKEN from "../../facts/data/breakable_steps.json" with { type: "json" };
import I01 from "../../facts/data/mistakes/I01_kernel_not_rotated.json" with { type: "json" };
import I07 from "../../facts/data/mistakes/I07_no_zeros_inserted.json" with { type: "json" };
import I10 from "../../facts/data/mistakes/I10_remainder_dropped.json" with { type: "json" };
import I16 from "../../facts/data/mistakes/I16_forward_padding.json" with { type: "json" };
import W02 from "../../facts/data/mistakes/W02_stride_not_dilation.json" with { type: "json" };
import W06 from "../../facts/data/mistakes/W06_input_not_padded.json" with { type: "json" };
import W07 from "../../facts/data/mistakes/W07_remainder_not_cropped.json" with { type: "json" };
import SETTINGS from "../../facts/data/settings.json" with { type: "json" };
import { countProducts, unfolded } from "../rules/conv_geometry.js";
import { differing, mistakenGradient, gradientRight, isNear } from "./compute_mistake.js";
import { eachCell, largestOf } from "../rules/shapes_and_indices.js";
import { shownAt } from "../rules/shown_plane.js";

/**
 * @typedef {"I01" | "I07" | "I10" | "I16" | "W02" | "W06" | "W07"} BrokenId
 * @typedef {{ id: BrokenId, guilty: string, equation: "input" | "weight", of: "grad_input" | "grad_weight",
 *   recipe: Recipe, setting: string }} Toggle setting: a link to where it shows
 * @typedef {"grad_input" | "grad_padded_input" | "grad_weight"} ResultName
 * @typedef {{ rows: number, columns: number, values: number[], wrong: boolean[], from?: Pair }} WrongPlane
 *   in its own shape, without rows if nothing comes out; wrong: of each number; from: where it begins, if it
 *   replaces the right plane
 * @typedef {{ kind: "same" | "wrong" | "elsewhere" | "shape" | "nothing" | "large", result: ResultName,
 *   plane: WrongPlane, right: Pair, count: number, here: number, all: number, planes: number, other: Pair }}
 *   Outcome right: the right shape; count: wrong numbers in all planes; here: in the shown one; other: the
 *   first wrong plane
 */

/** @type {Record<BrokenId, { ways: Recipe[], setting: string }>} */
const MISTAKES = /** @type {any} */ ({ I01, I07, I10, I16, W02, W06, W07 });

/** In the order of their bands. @type {Toggle[]} */
export const TOGGLES = /** @type {const} */ (["input", "weight"]).flatMap((equation) =>
  BROKEN[equation].map(({ id, way, guilty }) => {
    const known = /** @type {BrokenId} */ (id);
    const of = /** @type {const} */ ({ input: "grad_input", weight: "grad_weight" })[equation];
    const { ways, setting } = MISTAKES[known];
    return { id: known, guilty, equation, of, recipe: ways[way], setting };
  }),
);

/** @param {string} id */
export const toggleOf = (id) => TOGGLES.find((toggle) => toggle.id === id) ?? null;

/**
 * grad_padded_input, where a border of copies is yet to be folded back.
 * @param {Settings} settings @param {Toggle} toggle
 */
export const brokenResult = ({ spec }, { of }) =>
  of === "grad_input" && spec.padding_mode !== "zeros" ? "grad_padded_input" : of;

/** @type {WrongPlane} */
export const NO_PLANE = { rows: 0, columns: 0, values: [], wrong: [] };

/**
 * @param {Settings} settings @param {Pick<Stages, "grad_output" | "weight" | "input">} stages
 * @param {Toggle} toggle @param {ResultName} [result] @returns {Outcome}
 */
export function brokenOutcome(settings, stages, toggle, result = brokenResult(settings, toggle)) {
  /** @type {Outcome} */
  const found = {
    kind: "large",
    result,
    plane: NO_PLANE,
    right: [0, 0],
    count: 0,
    here: 0,
    all: 0,
    planes: 1,
    other: [0, 0],
  };
  if (countProducts(settings.spec) > SETTINGS.limits.products.page) return found;
  const spec = result === "grad_padded_input" ? unfolded(settings.spec) : settings.spec;
  const right = gradientRight(toggle.of, spec, stages);
  const wrong = mistakenGradient(toggle.of, toggle.recipe, spec, stages);
  const [first, second] = shownAt(settings.plane, settings.spec, toggle.of, false);
  found.right = sizeOf(right);
  found.planes = right.shape[0] * right.shape[1];
  found.all = right.data.length;
  if (!wrong?.data.length) return { ...found, kind: "nothing" };
  found.plane = comparedPlane(right, wrong, first * right.shape[1] + second);
  if (String(wrong.shape) !== String(right.shape)) return { ...found, kind: "shape" };
  const wrongs = differing(right, wrong);
  const cells = found.right[0] * found.right[1];
  const other = Math.floor(Math.max(wrongs.indexOf(true), 0) / cells);
  found.count = wrongs.filter(Boolean).length;
  found.here = found.plane.wrong.filter(Boolean).length;
  found.other = [Math.floor(other / right.shape[1]), other % right.shape[1]];
  return { ...found, kind: found.here ? "wrong" : found.count ? "elsewhere" : "same" };
}

/** @param {Tensor} right @param {Tensor} wrong @param {number} place @returns {WrongPlane} */
function comparedPlane(right, wrong, place) {
  const [[rows, columns], [height, width]] = [sizeOf(wrong), sizeOf(right)];
  const values = [...wrong.data.subarray(place * rows * columns, (place + 1) * rows * columns)];
  const belongs = right.data.subarray(place * height * width, (place + 1) * height * width);
  const most = largestOf(right.data);
  const wrongs = eachCell(rows, columns, (row, column, index) => {
    const there = row < height && column < width ? belongs[row * width + column] : NaN;
    return !isNear(values[index], there, most);
  });
  return { rows, columns, values, wrong: wrongs };
}

/** @param {Tensor} tensor @returns {Pair} */
const sizeOf = ({ shape }) => [shape[2], shape[3]];
