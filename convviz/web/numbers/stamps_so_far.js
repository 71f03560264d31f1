// What the first stamps of grad_output add up to.
import { fold, tableOf, toPaddedInput, zeros } from "./compute.js";

/**
 * `plane`: the equation's result; `folded`: with its border folded back; with zeros they are one.
 * @param {Spec} geometry
 * @param {ArrayLike<number>[]} gradients a plane an output channel
 * @param {ArrayLike<number>[]} kernels their planes to the input channel
 * @param {number} count in reading order
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
