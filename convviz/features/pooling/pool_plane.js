// Max and average pooling of one plane, forward and backward, by the taps: a mask stands in the weight's
// place.
import { bothAxes, effectiveKernel, outputSize } from "../../web/rules/conv_geometry.js";
import { axisTaps } from "../../web/rules/taps.js";
import { countOf } from "../../web/rules/shapes_and_indices.js";

/**
 * k: the window's cell; at: of padded_input; i: of the input, null on padding; share: the mask there; each
 * cell counted row by row
 * @typedef {{ k: number, at: number, i: number | null, value: number, share: number }} Tap
 * @typedef {{ taps: Tap[], winner: Tap | null, equals: number, divisor: number }} Window winner: of max
 *   pooling, null where all is padding; equals: how many are as large; divisor: of average pooling, else 1
 * @typedef {{ kind: "max_pool2d" | "avg_pool2d", ceil_mode: boolean, count_include_pad: boolean }} Pooling
 * @typedef {[ReturnType<typeof axisTaps>, ReturnType<typeof axisTaps>]} AxisTaps
 * @typedef {{ spec: Spec, pooling: Pooling, output_size: Pair, padded_size: Pair, axes: AxisTaps, windows: Window[], input:
 *   ArrayLike<number>, grad_output: ArrayLike<number>, output: number[], grad_input: number[] }} Pooled
 */

/**
 * As torch has it: with ceil_mode the last window begins inside or before.
 * @param {Spec} spec @param {Pooling} pooling
 */
export const pooledSize = (spec, { ceil_mode }) =>
  bothAxes((axis) => {
    const floor = outputSize(spec, axis);
    const [before, size] = [spec.padding[axis][0], spec.input_size[axis]];
    const covered = (floor - 1) * spec.stride[axis] + effectiveKernel(spec, axis);
    const isMore = ceil_mode && covered < size + 2 * before && floor * spec.stride[axis] < size + before;
    return floor + Number(isMore);
  });

/** Of padded_input, with what ceil_mode adds. @param {Spec} spec @param {Pair} output_size */
const reachedSize = (spec, output_size) =>
  bothAxes((axis) => {
    const last = (output_size[axis] - 1) * spec.stride[axis] + effectiveKernel(spec, axis);
    return Math.max(spec.input_size[axis] + 2 * spec.padding[axis][0], last);
  });

/**
 * @param {Spec} spec that torch pools with @param {Pooling} pooling @param {ArrayLike<number>} input
 * @param {ArrayLike<number>} grad_output row by row, of the pooled size @returns {Pooled}
 */
export function poolPlane(spec, pooling, input, grad_output) {
  const output_size = pooledSize(spec, pooling);
  const padded_size = reachedSize(spec, output_size);
  const border = pooling.kind === "max_pool2d" ? -Infinity : 0;
  const axes = bothAxes((axis) => axisTaps({ ...spec, output_size }, axis));
  const sizes = { axes, output_size, padded_size };
  const windows = windowsOf(spec, sizes, (i) => (i === null ? border : input[i]));
  for (const window of windows) {
    if (pooling.kind === "max_pool2d") choose(window);
    else spread(window, (tap) => isCounted(spec, pooling, padded_size[1], tap));
  }
  const pooled = { spec, pooling, ...sizes, windows, input, grad_output };
  const output = windows.map(({ taps, winner, divisor }) =>
    pooling.kind === "max_pool2d"
      ? (winner?.value ?? -Infinity)
      : taps.reduce((sum, { value }) => sum + value, 0) / divisor,
  );
  return { ...pooled, output, grad_input: gradInput(pooled, false) };
}

/**
 * @param {Spec} spec @param {Pick<Pooled, "axes" | "output_size" | "padded_size">} sizes
 * @param {(i: number | null) => number} valueAt @returns {Window[]}
 */
function windowsOf(spec, { axes, output_size, padded_size }, valueAt) {
  const [rows, columns] = axes;
  /** @type {Window[]} */
  const windows = Array.from({ length: countOf(output_size) }, () => ({
    ...{ taps: [], winner: null, equals: 0, divisor: 1 },
  }));
  for (const row of rows) {
    for (const column of columns) {
      const i = row.i === null || column.i === null ? null : row.i * spec.input_size[1] + column.i;
      const k = row.k * spec.kernel_size[1] + column.k;
      const at = row.at * padded_size[1] + column.at;
      windows[row.o * output_size[1] + column.o].taps.push({ k, at, i, value: valueAt(i), share: 0 });
    }
  }
  return windows;
}

/** The first of the largest, as torch does. @param {Window} window */
function choose(window) {
  for (const tap of window.taps) {
    if (tap.i === null) continue;
    if (!window.winner || tap.value > window.winner.value) [window.winner, window.equals] = [tap, 0];
    if (tap.value === window.winner.value) window.equals += 1;
  }
  if (window.winner) window.winner.share = 1;
}

/** @param {Window} window @param {(tap: Tap) => boolean} counts */
function spread(window, counts) {
  const counted = window.taps.filter(counts);
  window.divisor = counted.length;
  for (const tap of counted) tap.share = 1 / counted.length;
}

/**
 * What ceil_mode adds never counts.
 * @param {Spec} spec @param {Pooling} pooling @param {number} width of padded_input @param {Tap} tap
 */
function isCounted(spec, { count_include_pad }, width, { i, at }) {
  const inBorder = [Math.floor(at / width), at % width].every(
    (place, axis) => place < spec.input_size[axis] + 2 * spec.padding[axis][0],
  );
  return i !== null || (count_include_pad && inBorder);
}

/**
 * grad_input[window] += grad_output[o] · mask, or = where `overwritten`: the last window of a pixel counts.
 * @param {Pick<Pooled, "windows" | "grad_output" | "input">} pooled @param {boolean} overwritten
 */
export function gradInput({ windows, grad_output, input }, overwritten) {
  const gradient = Array(input.length).fill(0);
  windows.forEach(({ taps }, o) => {
    for (const { i, share } of taps)
      if (i !== null) gradient[i] = (overwritten ? 0 : gradient[i]) + grad_output[o] * share;
  });
  return gradient;
}

/**
 * In the order in which they write to it.
 * @param {Pooled} pooled @param {"at" | "i"} plane of padded_input, or of the input @param {number} cell
 * @returns {{ o: number, tap: Tap }[]}
 */
export function windowsWith({ spec, axes, windows, output_size, padded_size }, plane, cell) {
  const width = plane === "at" ? padded_size[1] : spec.input_size[1];
  const place = [Math.floor(cell / width), cell % width];
  const [rows, columns] = axes.map((taps, axis) => taps.filter((tap) => tap[plane] === place[axis]));
  return rows.flatMap((row) =>
    columns.map((column) => {
      const o = row.o * output_size[1] + column.o;
      return { o, tap: windows[o].taps[row.k * spec.kernel_size[1] + column.k] };
    }),
  );
}
