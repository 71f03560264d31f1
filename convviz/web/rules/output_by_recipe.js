// The output by a recipe, as mistakes/grad_weight.py computes it.
import { crossed, planesOver } from "./products.js";
import { behind, factorOf, linesOf, slide, turnedFrom, turnedSize } from "./recipe_steps.js";
import { bothAxes } from "./conv_geometry.js";
import { sourceOf } from "./taps.js";
import { upTo } from "./shapes_and_indices.js";

/** @import { Line } from "./recipe_steps.js" */

/** @param {Recipe} chosen @param {Spec} spec @returns {Products | null} null: the recipe is impossible */
export function outputProducts(chosen, spec) {
  const lines = linesOf(chosen, spec);
  const kernel = turnedSize(chosen.kernel, spec.kernel_size);
  const slid = bothAxes((axis) => slideOver(chosen, spec, lines[axis], axis, kernel[axis]));
  const { planes, channels } = planesOf(chosen, spec);
  if (!channels || slid.some(({ length }) => length <= 0)) return null;
  const size = bothAxes((axis) => slid[axis].length);
  const from = turnedFrom(chosen.kernel, spec.kernel_size);
  const cells = crossed(slid[0].met, slid[1].met, (row, column) => {
    const [a, b] = from(row.slot, column.slot);
    return {
      result: row.result * size[1] + column.result,
      grad: a * spec.kernel_size[1] + b,
      other: row.at * spec.input_size[1] + column.at,
    };
  });
  return {
    shape: [spec.batch, channels, ...size],
    size: size[0] * size[1],
    planes,
    cells,
    factor: factorOf(chosen, spec),
    bias: channels === spec.out_channels ? biasOf(chosen, spec) : 0,
  };
}

/** @param {Recipe} chosen @param {Spec} spec */
const biasOf = ({ bias }, { in_channels, groups }) =>
  ({ 0: 0, "once a channel": in_channels / groups })[bias] ?? 1;

/** @param {Recipe} chosen @param {Spec} spec @param {Line} line @param {number} axis @param {number} cells */
function slideOver(chosen, spec, line, axis, cells) {
  const size = spec.input_size[axis];
  const copied = chosen.border === "own" && spec.padding_mode !== "zeros";
  const sides = copied ? spec.padding[axis] : [line[chosen.lead], behind(line, chosen.trail)];
  const [step, spacing] = [line[chosen.step], line[chosen.spacing]];
  const mode = copied ? spec.padding_mode : "zeros";
  const length = Math.floor((size + sides[0] + sides[1] - spacing * (cells - 1) - 1) / step) + 1;
  const met = slide({ step, spacing, cells, length }, (at) => sourceOf(at - sides[0], size, mode));
  return { length, met };
}

/** @param {Recipe} chosen @param {Spec} spec */
function planesOf(chosen, spec) {
  const { groups, in_channels, out_channels, batch } = spec;
  const ins = in_channels / groups;
  const exchanged = chosen.channels === "exchanged";
  const own = upTo(out_channels).map((o) => upTo(ins).map((c) => o * ins + c));
  const kernel = exchanged ? upTo(ins).map((c) => own.map((row) => row[c])) : own;
  return planesOver(kernel, in_channels, batch, groups, (grad, other) => ({ grad, other }));
}
