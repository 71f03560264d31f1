// What the first stamps of grad_output add up to, or products.
import { fold, tableOf, toPaddedInput, zeros } from "./compute.js";

/**
 * `plane`: the equation's result; `folded`: with its border folded back; with zeros they are one.
 * @param {Spec} geometry
 * @param {ArrayLike<number>[]} gradients a plane an output channel
 * @param {ArrayLike<number>[]} kernels their planes to the input channel
 * @param {number} count in reading order
 * @param {number} [cells] of the kernel, of the next stamp
 */
export function stampedSoFar(geometry, gradients, kernels, count, cells = 0) {
  const spec = { ...geometry, batch: 1, in_channels: 1, out_channels: gradients.length, groups: 1 };
  const [size, kernel] = [gradients[0].length, kernels[0].length];
  const border = toPaddedInput(spec, tableOf(spec), cut(gradients, 0, count), cut(kernels, 0, kernel));
  if (cells) {
    const next = cut(gradients, count, Math.min(count + 1, size));
    const more = toPaddedInput(spec, tableOf(spec), next, cut(kernels, 0, cells));
    more.data.forEach((value, at) => {
      border.data[at] += value;
    });
  }
  const { data: folded } = fold(border, spec);
  return { plane: geometry.padding_mode === "zeros" ? folded : border.data, folded };
}

/** Zero but in a part. @param {ArrayLike<number>[]} planes @param {number} start @param {number} end */
function cut(planes, start, end) {
  const tensor = zeros([planes.length, planes[0].length]);
  planes.forEach((plane, o) =>
    tensor.data.set(Array.from(plane).slice(start, end), o * plane.length + start),
  );
  return tensor;
}
