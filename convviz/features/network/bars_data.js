// What the row of bars shows: sizes of gradients on a scale of powers of ten.

const LEAST_DECADES = 2;
const MAX_TICKS = 6;

/**
 * @typedef {"number" | "zero" | "none" | "after" | "nan" | "inf"} State after: the gradient starts before it
 * @typedef {{ index: number, size: NetworkSize, state: State, zeros: number | null, ratio: NetworkSize, gradWeight: NetworkSize, share:
 *   number }} Bar share: how high, from 0 to 1
 * @typedef {{ low: number, high: number, ticks: number[] }} Axis powers of ten
 */

/** @param {NetworkSize} size @returns {State} */
export function stateOf(size) {
  if (size === null || size === undefined) return "none";
  const number = sizeOf(size);
  if (Number.isNaN(number)) return "nan";
  if (!Number.isFinite(number)) return "inf";
  return number === 0 ? "zero" : "number";
}

/** @param {NetworkSize} size */
export function sizeOf(size) {
  if (size === "inf" || size === "-inf") return size === "inf" ? Infinity : -Infinity;
  return typeof size === "number" ? size : NaN;
}

/** @param {NetworkBack} back @param {number} count of operations @returns {{ bars: Bar[], axis: Axis }} */
export function barsOf(back, count) {
  const all = Array.from({ length: count }, (_, index) => ({
    index,
    size: back.rms[index] ?? null,
    zeros: back.zeros[index] ?? null,
    ratio: back.weights[index]?.ratio ?? null,
    gradWeight: back.weights[index]?.norm ?? null,
  }));
  const axis = axisOf(all.map(({ size }) => size));
  const bars = all.map((bar) => {
    const state = isAfter(back, bar.index) ? "after" : stateOf(bar.size);
    const share = state === "number" ? shareOf(axis, sizeOf(bar.size)) : state === "inf" ? 1 : 0;
    return { ...bar, state, share };
  });
  return { bars, axis };
}

/** Whether the gradient starts before an operation. @param {NetworkBack} back @param {number} index */
export const isAfter = ({ from }, index) => from.kind === "cell" && index > (from.operation ?? 0);

/** The whole powers of ten around all sizes. @param {NetworkSize[]} sizes @returns {Axis} */
export function axisOf(sizes) {
  const powers = sizes.filter((size) => stateOf(size) === "number").map((size) => Math.log10(sizeOf(size)));
  if (!powers.length) return { low: -LEAST_DECADES, high: 0, ticks: [0, -1, -LEAST_DECADES] };
  const high = Math.ceil(Math.max(...powers) + 1e-9);
  const low = Math.min(Math.ceil(Math.min(...powers) - 1e-9) - 1, high - LEAST_DECADES);
  const step = stepOf(high - low);
  const ticks = [];
  for (let at = Math.floor(high / step) * step; at >= low; at -= step) ticks.push(at);
  return { low, high, ticks };
}

/** @param {number} decades */
function stepOf(decades) {
  return [1, 2, 5, 10, 20].find((step) => decades / step < MAX_TICKS) ?? Math.ceil(decades / MAX_TICKS);
}

/** @param {Axis} axis @param {number} size */
const shareOf = ({ low, high }, size) => Math.min(1, Math.max(0, (Math.log10(size) - low) / (high - low)));
