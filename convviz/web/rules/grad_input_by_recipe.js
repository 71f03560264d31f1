// grad_input by a recipe, as mistakes/grad_input.py computes it.
import { crossed, planesOver } from "./products.js";
import { behind, cellApart, factorOf, linesOf, slide, turnedFrom, turnedSize } from "./recipe_steps.js";
import { bothAxes, outputSize, perGroup, sourcesOf, unfolded } from "./conv_geometry.js";
import { pointAt, upTo } from "./shapes_and_indices.js";

/**
 * @import { Line, Met } from "./recipe_steps.js"
 * @typedef {{ size: Pair, cells: Triple[] }} Plane
 */

/** @param {Recipe} chosen @param {Spec} spec @returns {Products | null} null: the recipe is impossible */
export function inputProducts(chosen, spec) {
  const { planes, channels } = isSummed(chosen) ? planesOf(chosen, spec) : overwrittenPlanes(chosen, spec);
  const plane = channels ? foldedPlane(chosen, spec) : null;
  if (!plane) return null;
  const shape = [spec.batch, channels, ...plane.size];
  return {
    shape,
    size: plane.size[0] * plane.size[1],
    planes,
    cells: plane.cells,
    factor: factorOf(chosen, spec),
  };
}

/** Else the last one stays. @param {Recipe} chosen */
const isSummed = ({ overlaps }) => overlaps === "add" || overlaps === "last channel";

/** A border of copies is folded back. @param {Recipe} chosen @param {Spec} spec @returns {Plane | null} */
function foldedPlane(chosen, spec) {
  const folds =
    spec.padding_mode !== "zeros" && spec.padding.flat().some(Boolean) && chosen.border === "folded";
  if (!folds) return isSummed(chosen) ? planeOf(chosen, spec) : overwrittenPlane(chosen, spec);
  const inner = unfolded(spec);
  const found = foldedPlane(chosen, inner);
  if (!found || String(found.size) !== String(inner.input_size)) return found;
  const [rows, columns] = bothAxes((axis) => sourcesOf(spec, axis));
  const cells = found.cells.map((triple) => {
    const { row, column } = pointAt(triple.result, inner.input_size[1]);
    // copies are no zeros
    return { ...triple, result: Number(rows[row]) * spec.input_size[1] + Number(columns[column]) };
  });
  return { size: spec.input_size, cells };
}

/** The turned kernel slides over it. @param {Recipe} chosen @param {Spec} spec @returns {Plane | null} */
function planeOf(chosen, spec) {
  const along = slidOver(chosen, spec);
  if (along.some(({ length }) => length <= 0)) return null; // cropped away
  const slid = bothAxes((axis) => slideOver(chosen, along[axis]));
  if (slid.some(({ fits }) => !fits)) return null;
  const lengths = bothAxes((axis) => {
    const [{ length }, { line }] = [slid[axis], along[axis]];
    return chosen.cut === "beyond N" ? Math.min(length, line.N) : Math.max(length - line[chosen.cut], 0);
  });
  const top = bothAxes((axis) => along[axis].line[chosen.top]);
  const size = bothAxes((axis) => {
    const { line } = along[axis];
    // In Python, p:-p is an empty slice where p is 0.
    return chosen.slice === "p:-p" && !line.p ? 0 : top[axis] + lengths[axis] + line[chosen.fill];
  });
  const [rows, columns] = bothAxes((axis) =>
    slid[axis].met.filter(({ result }) => result < lengths[axis] && size[axis]),
  );
  const from = turnedFrom(chosen.kernel, spec.kernel_size);
  const cells = crossed(rows, columns, (row, column) => {
    const [a, b] = from(row.slot, column.slot);
    return {
      result: (top[0] + row.result) * size[1] + top[1] + column.result,
      grad: row.at * along[1].cells + column.at,
      other: a * spec.kernel_size[1] + b,
    };
  });
  return { size, cells };
}

/**
 * grad_output spread and padded: pitch of its cells, place of the first, length; taps of the kernel over it.
 * @param {Recipe} chosen @param {Spec} spec
 */
export function slidOver(chosen, spec) {
  const lines = linesOf(chosen, spec);
  const kernel = turnedSize(chosen.kernel, spec.kernel_size);
  return bothAxes((axis) => {
    const [line, cells, taps] = [lines[axis], outputSize(spec, axis), kernel[axis]];
    const pitch = line[chosen.inserted] + 1;
    const spread = (cells - 1) * pitch + 1;
    const [first, after] = around(chosen, line, spread, taps);
    return { line, cells, taps, pitch, first, length: spread + first + after };
  });
}

/**
 * Returns the padding before and after; a negative number crops.
 * @param {Recipe} chosen @param {Line} line @param {number} spread @param {number} taps
 */
function around(chosen, line, spread, taps) {
  const reach = (/** @type {number} */ own) =>
    chosen.reach === "d * (K turned - 1)" ? line.d * (taps - 1) : own;
  const borders = [
    reach(line[chosen.reach]) - line[chosen.crop],
    reach(behind(line, chosen.reach)) - behind(line, chosen.crop),
  ];
  const [start, after] = borders.map((border) =>
    chosen.negative === "clamp" ? Math.max(border, 0) : border,
  );
  const before = start + line[chosen.lead];
  if (!chosen.rest.startsWith("up to ")) return [before, after + line[chosen.rest]];
  /** @type {Record<string, number>} */
  const more = { "up to N": 0, "up to N, less 1 if p = 0": line.p ? 0 : -1 };
  const wanted = line.N + (more[chosen.rest] ?? line.s - 1 - line.r);
  return [before, wanted - (spread + before - line[chosen.spacing] * (taps - 1))];
}

/** @param {Recipe} chosen @param {ReturnType<typeof slidOver>[0]} along */
function slideOver(chosen, { line, cells, taps, length: size, ...apart }) {
  const [step, spacing] = [line[chosen.step], line[chosen.spacing]];
  const room = size - spacing * (taps - 1) - 1;
  const length = Math.floor(room / step) + 1;
  const met = slide({ step, spacing, cells: taps, length }, (at) => cellApart(apart, at, cells));
  return { fits: room >= 0, length, met };
}

/** @param {Recipe} chosen @param {Spec} spec */
function planesOf(chosen, spec) {
  const groups = chosen.groups === "ignored" ? 1 : spec.groups;
  const kernel = kernelPlanes(chosen, spec, groups);
  const { out_channels, batch } = spec;
  const met = planesOver(kernel, out_channels, batch, groups, (other, grad) => ({ grad, other }));
  if (chosen.overlaps !== "last channel") return met;
  const each = kernel[0].length;
  return { ...met, planes: met.planes.filter(({ grad }) => grad % each === each - 1) };
}

// Channel axes reversed within a group: output, input.
/** @type {Record<string, [boolean, boolean]>} */
const REVERSED = {
  "channels of each group": [true, true],
  "input channels": [false, true],
  "output channels": [true, false],
};

/**
 * Arranges the planes of weight as [C_in, C_out / groups], unless the recipe keeps their order.
 * @param {Recipe} chosen @param {Spec} spec @param {number} groups
 */
function kernelPlanes(chosen, spec, groups) {
  const [outs, ins] = [spec.out_channels, spec.in_channels / spec.groups];
  const per = outs / groups;
  const all = chosen.reversed === "all channels";
  const [outputs, inputs] = REVERSED[chosen.reversed] ?? [false, false];
  const plane = (/** @type {number} */ g, /** @type {number} */ j, /** @type {number} */ c) => {
    const at = (g * per + (outputs ? per - 1 - j : j)) * ins + (inputs ? ins - 1 - c : c);
    return all ? outs * ins - 1 - at : at;
  };
  const blocks = upTo(groups).map((g) =>
    chosen.channels === "kept"
      ? upTo(per).map((j) => upTo(ins).map((c) => plane(g, j, c)))
      : upTo(ins).map((c) => upTo(per).map((j) => plane(g, j, c))),
  );
  return (chosen.groups === "reversed" ? blocks.reverse() : blocks).flat();
}

/** Loops with = for +=: the last product stays. @param {Recipe} chosen @param {Spec} spec @returns {Plane} */
function overwrittenPlane(chosen, spec) {
  const [height, width] = spec.kernel_size;
  const from = turnedFrom(chosen.kernel, spec.kernel_size);
  const cropped = chosen.crop !== "0";
  const size = (cropped ? spec : unfolded(spec)).input_size;
  const across = outputSize(spec, 1);
  const [rows, columns] = bothAxes((axis) =>
    lastOnes(chosen, spec, axis, cropped ? spec.padding[axis][0] : 0, size[axis]),
  );
  const cells = crossed(rows, columns, (row, column) => {
    const [a, b] = from(height - 1 - row.slot, width - 1 - column.slot); // scattering rotates nothing
    return {
      result: row.result * size[1] + column.result,
      grad: row.at * across + column.at,
      other: a * width + b,
    };
  });
  return { size, cells };
}

/**
 * @param {Recipe} chosen @param {Spec} spec @param {number} axis @param {number} cut rows before the first
 * @param {number} size @returns {Met[]}
 */
function lastOnes(chosen, spec, axis, cut, size) {
  const byTap = chosen.overlaps.startsWith("last tap");
  /** @type {Map<number, Met>} */
  const last = new Map();
  for (let o = 0; o < outputSize(spec, axis); o++) {
    for (let slot = 0; slot < spec.kernel_size[axis]; slot++) {
      const result = o * spec.stride[axis] + slot * spec.dilation[axis] - cut;
      const known = last.get(result);
      if (result >= 0 && result < size && (!known || !byTap || slot > known.slot))
        last.set(result, { result, slot, at: o });
    }
  }
  return [...last.values()];
}

/** @param {Recipe} chosen @param {Spec} spec */
function overwrittenPlanes(chosen, spec) {
  const [ins, outs] = perGroup(spec);
  const first = chosen.overlaps.endsWith("last channel") ? outs - 1 : 0;
  const planes = upTo(spec.batch).flatMap((n) =>
    upTo(spec.in_channels).flatMap((c) =>
      upTo(outs - first).map((j) => {
        const o = Math.floor(c / ins) * outs + first + j;
        return {
          result: n * spec.in_channels + c,
          grad: n * spec.out_channels + o,
          other: o * ins + (c % ins),
        };
      }),
    ),
  );
  return { planes, channels: spec.in_channels };
}
