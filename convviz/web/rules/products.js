// The products of a result: right ones from the taps; *_recipe.js has those of recipes. A gradient's are
// grad_output times weight or input, or alone; the output's are weight times input.
import { bothAxes, inputShape, outputShape, outputSizes, perGroup, weightShape } from "./conv_geometry.js";
import { axisTaps } from "./taps.js";
import { eachCell, upTo } from "./shapes_and_indices.js";

/**
 * @import { Result } from "./recipe_steps.js"
 * @typedef {{ result: number, grad: number, other: number }} Triple planes, or cells; other: of weight for
 *   grad_input, of input for grad_weight and output, else -1; grad: of grad_output, for output of weight
 * @typedef {{ shape: number[], size: number, planes: Triple[], cells: Triple[], factor: number, bias?:
 *   number }} Products every plane with every cell; size: of a result plane; bias: times the channel's bias
 */

/**
 * @template T @param {T[]} rows @param {T[]} columns @param {(row: T, column: T) => Triple | null} make
 * @returns {Triple[]}
 */
export function crossed(rows, columns, make) {
  const made = [];
  for (const row of rows) {
    for (const column of columns) {
      const triple = make(row, column);
      if (triple) made.push(triple);
    }
  }
  return made;
}

/**
 * A kernel over the channels of an image, in groups; no channels: they do not meet.
 * @param {number[][]} kernel planes, by channel of the result and place in the group @param {number} among
 * channels of the image @param {number} batch @param {number} groups
 * @param {(kernel: number, image: number) => Pick<Triple, "grad" | "other">} pair
 * @returns {{ planes: Triple[], channels: number }}
 */
export function planesOver(kernel, among, batch, groups, pair) {
  const [channels, each] = [kernel.length, kernel[0].length];
  if (among !== each * groups || channels % groups) return { planes: [], channels: 0 };
  const planes = upTo(batch).flatMap((n) =>
    kernel.flatMap((row, q) => {
      const first = n * among + Math.floor(q / (channels / groups)) * each;
      return row.map((plane, j) => ({ result: n * channels + q, ...pair(plane, first + j) }));
    }),
  );
  return { planes, channels };
}

/** @param {Result} of @param {Spec} spec @returns {Products} */
export function rightProducts(of, spec) {
  const geometry = { ...spec, output_size: outputSizes(spec) };
  const [across, width, kernel] = [geometry.output_size[1], spec.input_size[1], spec.kernel_size[1]];
  if (of === "grad_bias") return biasProducts(["N", "H", "W"], upTo(spec.batch), 1, spec);
  const [rows, columns] = bothAxes((axis) => axisTaps(geometry, axis));
  const cells = crossed(rows, columns, (down, right) => {
    if (down.i === null || right.i === null) return null; // a padding zero
    const [grad, k, i] = [down.o * across + right.o, down.k * kernel + right.k, down.i * width + right.i];
    if (of === "output") return { result: grad, grad: k, other: i };
    return of === "grad_input" ? { result: i, grad, other: k } : { result: k, grad, other: i };
  });
  const [ins, outs] = perGroup(spec);
  const planes = upTo(spec.batch).flatMap((n) =>
    upTo(spec.out_channels).flatMap((o) =>
      upTo(ins).map((c) => {
        const [input, weight] = [n * spec.in_channels + Math.floor(o / outs) * ins + c, o * ins + c];
        const grad = n * spec.out_channels + o;
        if (of === "output") return { result: grad, grad: weight, other: input };
        return of === "grad_input"
          ? { result: input, grad, other: weight }
          : { result: weight, grad, other: input };
      }),
    ),
  );
  const shape = { output: outputShape, grad_input: inputShape, grad_weight: weightShape }[of](spec);
  const bias = of === "output" ? 1 : 0;
  return { shape, size: shape[2] * shape[3], planes, cells, factor: 1, bias };
}

/**
 * @param {string[]} over of N, C, H and W @param {number[]} samples @param {number} factor @param {Spec}
 *   spec
 * @returns {Products}
 */
export function biasProducts(over, samples, factor, spec) {
  const [H, W] = outputSizes(spec);
  const sizes = { N: samples.length, C: spec.out_channels, H, W };
  const kept = (/** @type {keyof typeof sizes} */ axis) => (over.includes(axis) ? 0 : 1);
  const [channels, width] = [kept("C") ? sizes.C : 1, kept("W") ? W : 1];
  const planes = samples.flatMap((n, place) =>
    upTo(sizes.C).map((c) => ({
      result: place * kept("N") * channels + c * kept("C"),
      grad: n * sizes.C + c,
      other: -1,
    })),
  );
  const cells = eachCell(H, W, (row, column, grad) => {
    return { result: row * kept("H") * width + column * kept("W"), grad, other: -1 };
  });
  const axes = /** @type {(keyof typeof sizes)[]} */ (["N", "C", "H", "W"]);
  const shape = axes.filter(kept).map((axis) => sizes[axis]);
  return { shape, size: (kept("H") ? H : 1) * width, planes, cells, factor };
}
