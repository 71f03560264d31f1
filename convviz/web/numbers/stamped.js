// @ts-check
// What the stamps of grad_output have added up to so far: the gradient that those cells alone send back.
import { fold, tableOf, toPaddedInput, zeros } from "./compute.js";

/**
 * `plane` is the result of the equation, `folded` the gradient of the input itself, with the border folded
 * back. They are one plane where the padding is zeros.
 * @param {import("../rules/spec.js").Spec} geometry
 * @param {ArrayLike<number>[]} gradients grad_output's planes of the group, one an output channel
 * @param {ArrayLike<number>[]} kernels weight's planes between these channels and the input channel
 * @param {number} count how many cells of grad_output have stamped, in reading order
 */
export function stampedSoFar(geometry, gradients, kernels, count) {
  const spec = { ...geometry, batch: 1, in_channels: 1, out_channels: gradients.length, groups: 1 };
  const [gradient, weight] = [gradients, kernels].map((planes) => zeros([planes.length, planes[0].length]));
  gradients.forEach((plane, o) => gradient.data.set(Array.from(plane).slice(0, count), o * plane.length));
  kernels.forEach((plane, o) => weight.data.set(plane, o * plane.length));
  const border = toPaddedInput(spec, tableOf(spec), gradient, weight);
  const { data: folded } = fold(border, spec);
  return { plane: geometry.padding_mode === "zeros" ? folded : border.data, folded };
}
