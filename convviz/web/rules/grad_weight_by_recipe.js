// grad_weight and grad_bias by a recipe, as mistakes/grad_weight.py computes them.
import { biasProducts, crossed } from "./products.js";
import { behind, factorOf, linesOf, samplesOf, slide, turnedFrom, turnedSize } from "./recipe_steps.js";
import { bothAxes, outputSize, perGroup } from "./conv_geometry.js";
import { sourceOf } from "./taps.js";
import { upTo } from "./shapes_and_indices.js";

/** @import { Line } from "./recipe_steps.js" */

/** @param {Recipe} chosen @param {Spec} spec */
export function biasBy(chosen, spec) {
  const products = biasProducts(
    chosen.sum.split(", "),
    samplesOf(chosen, spec),
    factorOf(chosen, spec),
    spec,
  );
  return chosen.shape === "[1]" ? { ...products, shape: [1] } : products;
}

/** @param {Recipe} chosen @param {Spec} spec @returns {Products | null} null: the recipe is impossible */
export function weightProducts(chosen, spec) {
  const lines = linesOf(chosen, spec);
  const slid = bothAxes((axis) => slideOver(chosen, spec, lines[axis], axis));
  if (slid.some(({ fits }) => !fits)) return null;
  const size = bothAxes((axis) => slid[axis].length);
  const [turned, from] = [turnedSize(chosen.result, size), turnedFrom(chosen.result, size)];
  const place = new Map(); // before and after turning
  upTo(turned[0]).forEach((a) =>
    upTo(turned[1]).forEach((b) => place.set(from(a, b).join(), a * turned[1] + b)),
  );
  const [across, width] = [outputSize(spec, 1), spec.input_size[1]];
  // Turned by 180° at most.
  const gradAt = turnedFrom(chosen.gradient, [outputSize(spec, 0), across]);
  const cells = crossed(slid[0].met, slid[1].met, (row, column) => {
    const [o, p] = gradAt(row.slot, column.slot);
    return {
      result: place.get(`${row.result},${column.result}`),
      grad: o * across + p,
      other: row.at * width + column.at,
    };
  });
  const { planes, shape } = planesOf(chosen, spec);
  return {
    shape: [...shape, ...turned],
    size: turned[0] * turned[1],
    planes,
    cells,
    factor: factorOf(chosen, spec),
  };
}

/**
 * grad_output, its cells `gap` apart, over the input.
 * @param {Recipe} chosen @param {Spec} spec @param {Line} line @param {number} axis
 */
function slideOver(chosen, spec, line, axis) {
  const [cells, size] = [outputSize(spec, axis), spec.input_size[axis]];
  const [step, spacing, before] = [line[chosen.step], line[chosen.gap], line[chosen.pad]];
  const mode = chosen.pad === "p" && chosen.axes === "own" ? spec.padding_mode : "zeros";
  const room = size + before + behind(line, chosen.pad) - spacing * (cells - 1) - 1;
  const whole = Math.floor(room / step) + 1;
  const length = chosen.start === "all" ? whole : Math.min(whole, line.K);
  const first = chosen.start === "last" ? whole - length : 0;
  const met = slide({ step, spacing, cells, length, first }, (at) => sourceOf(at - before, size, mode));
  return { fits: room >= 0, length, met };
}

/**
 * With the result's leading axes.
 * @param {Recipe} chosen @param {Spec} spec @returns {{ planes: Triple[], shape: Pair }}
 */
function planesOf(chosen, spec) {
  const own = chosen.groups === "own" ? spec : { ...spec, groups: 1 };
  const [ins, outs] = perGroup(own);
  const outIn = chosen.channels === "out, in";
  const planes = samplesOf(chosen, spec).flatMap((n) =>
    upTo(own.groups).flatMap((g) =>
      upTo(outs).flatMap((o) =>
        upTo(ins).map((c) => ({
          result: outIn ? (g * outs + o) * ins + c : (g * ins + c) * outs + o,
          grad: n * spec.out_channels + g * outs + o,
          other: n * spec.in_channels + g * ins + c,
        })),
      ),
    ),
  );
  return { planes, shape: outIn ? [spec.out_channels, ins] : [spec.in_channels, outs] };
}
