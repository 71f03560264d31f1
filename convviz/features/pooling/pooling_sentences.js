// What a cell of pooling comes to, in words and with its numbers.
import { formatLong } from "../../web/base/format.js";
import { gradInput, windowsWith } from "./pool_plane.js";
import { say } from "./sentences.js";

/**
 * @import { Pooled, Tap, Window } from "./pool_plane.js"
 * @typedef {"padded_input" | "output" | "grad_output" | "mask" | "grad_input"} PlaneName
 * @typedef {{ plane: PlaneName, index: number }} Cell row by row
 * @typedef {{ pooled: Pooled, window: number, overwritten: boolean }} View window: whose mask is shown;
 *   overwritten: = for +=
 */

const MOST_TERMS = 6;

/** @param {Pooled} pooled @param {PlaneName} plane @returns {Pair} */
export const sizeOf = ({ spec, output_size, padded_size }, plane) =>
  ({
    padded_input: padded_size,
    output: output_size,
    grad_output: output_size,
    mask: spec.kernel_size,
    grad_input: spec.input_size,
  })[plane];

/** @param {number} index @param {number} width */
const placeIn = (index, width) => `[${Math.floor(index / width)}, ${index % width}]`;

/** Writes a cell as Python indexes it, such as output[0, 1]. @param {Pooled} pooled @param {Cell} cell */
export const nameOf = (pooled, { plane, index }) => plane + placeIn(index, sizeOf(pooled, plane)[1]);

/** @param {number[]} terms */
export function sumText(terms) {
  const total = formatLong(terms.reduce((sum, term) => sum + term, 0));
  if (terms.length < 2) return total;
  const shown = terms.length > MOST_TERMS ? terms.slice(0, MOST_TERMS - 1) : terms;
  const signed = (/** @type {number} */ term) => `${term < 0 ? "\u2212" : "+"} ${formatLong(Math.abs(term))}`;
  const text = [formatLong(shown[0]), ...shown.slice(1).map(signed)].join(" ");
  return `${text}${terms.length > MOST_TERMS ? " + \u2026" : ""} = ${total}`;
}

/** @param {View} view @param {Cell} cell @returns {string} */
export function cellWords(view, cell) {
  const { pooled } = view;
  const max = pooled.pooling.kind === "max_pool2d";
  const name = nameOf(pooled, cell);
  if (cell.plane === "grad_input") return gradInputWords(view, cell.index, name, max);
  if (cell.plane === "padded_input") return pixelWords(pooled, cell.index, name, max);
  const window = pooled.windows[cell.plane === "mask" ? view.window : cell.index];
  if (cell.plane === "mask") {
    const of = nameOf(pooled, { plane: "output", index: view.window });
    return (max ? maxMaskWords : avgMaskWords)(pooled, window, window.taps[cell.index], of);
  }
  const value = pooled[cell.plane][cell.index];
  if (cell.plane === "output")
    return max ? maxOutputWords(pooled, window, name) : avgOutputWords(window, name, value);
  return max
    ? maxGradOutputWords(pooled, window, name, value)
    : say("avg.grad_output", {
        ...{ cell: name, value: formatLong(value), divisor: window.divisor },
        part: formatLong(value / window.divisor),
      });
}

/** @param {Pooled} pooled @param {Tap} tap */
const fromOf = (pooled, { at }) => nameOf(pooled, { plane: "padded_input", index: at });

/** @param {Pooled} pooled @param {Tap} tap */
const cornerOf = ({ spec }, { k }) => placeIn(k, spec.kernel_size[1]);

/** @param {Pooled} pooled @param {Window} window @param {string} cell */
function maxOutputWords(pooled, { winner, equals }, cell) {
  if (!winner) return say("max.output.padding", { cell });
  const values = { cell, value: formatLong(winner.value), from: fromOf(pooled, winner) };
  return equals > 1 ? say("max.output.tie", { ...values, count: equals }) : say("max.output", values);
}

/** @param {Window} window @param {string} cell @param {number} value */
function avgOutputWords({ taps, divisor }, cell, value) {
  const sum = formatLong(taps.reduce((total, tap) => total + tap.value, 0));
  const values = { cell, sum, count: divisor, value: formatLong(value) };
  const border = taps.filter(({ i }) => i === null);
  if (!border.length) return say("avg.output", values);
  return border.some(({ share }) => share)
    ? say("avg.output.padding", values)
    : say("avg.output.inside", values);
}

/** @param {Pooled} pooled @param {Window} window @param {string} cell @param {number} number */
function maxGradOutputWords(pooled, { winner, equals }, cell, number) {
  const value = formatLong(number);
  if (!winner) return say("max.grad_output.padding", { cell, value });
  const to = nameOf(pooled, { plane: "grad_input", index: Number(winner.i) });
  return equals > 1
    ? say("max.grad_output.tie", { cell, value, to, count: equals })
    : say("max.grad_output", { cell, value, to });
}

/** @param {Pooled} pooled @param {Window} window @param {Tap} tap @param {string} cell */
function maxMaskWords(pooled, { winner, equals }, tap, cell) {
  const place = cornerOf(pooled, tap);
  if (tap.i === null || !winner) return say("max.mask.padding", { place, cell });
  const values = { place, cell, from: fromOf(pooled, tap), value: formatLong(tap.value) };
  if (tap === winner)
    return equals > 1 ? say("max.mask.first", { ...values, count: equals }) : say("max.mask.one", values);
  const other = { ...values, winner: cornerOf(pooled, winner), largest: formatLong(winner.value) };
  return say(tap.value === winner.value ? "max.mask.later" : "max.mask.smaller", other);
}

/** @param {Pooled} pooled @param {Window} window @param {Tap} tap @param {string} cell */
function avgMaskWords(pooled, { divisor }, tap, cell) {
  const place = cornerOf(pooled, tap);
  return tap.share ? say("avg.mask", { place, cell, divisor }) : say("avg.mask.uncounted", { place, cell });
}

/** @param {Pooled} pooled @param {number} at @param {string} cell @param {boolean} max */
function pixelWords(pooled, at, cell, max) {
  const found = windowsWith(pooled, "at", at);
  const { pooling } = pooled;
  const inside = inputIndex(pooled, at);
  if (inside === null) {
    if (max) return say("max.padding", { cell });
    const isCounted = found.length ? found.some(({ tap }) => tap.share) : pooling.count_include_pad;
    return say(isCounted ? "avg.padding" : "avg.padding.uncounted", { cell });
  }
  const value = formatLong(pooled.input[inside]);
  if (!found.length) return say("unread", { cell, value });
  const count = found.length;
  const taken = found.filter(({ tap }) => tap.share).length;
  return max ? say("max.pixel", { cell, value, count, taken }) : say("avg.pixel", { cell, value, count });
}

/** Returns the index in the input, or null for padding. @param {Pooled} pooled @param {number} at of padded_input */
export function inputIndex({ spec, padded_size }, at) {
  const row = Math.floor(at / padded_size[1]) - spec.padding[0][0];
  const column = (at % padded_size[1]) - spec.padding[1][0];
  const [height, width] = spec.input_size;
  return row >= 0 && row < height && column >= 0 && column < width ? row * width + column : null;
}

/** @param {View} view @param {number} i @param {string} cell @param {boolean} max */
function gradInputWords({ pooled, overwritten }, i, cell, max) {
  const found = windowsWith(pooled, "i", i);
  if (!found.length) return say("grad_input.unread", { cell });
  if (overwritten) return assignedWords(pooled, found, i, cell);
  const taken = found.filter(({ tap }) => tap.share);
  const sum = sumText(taken.map(({ o, tap }) => pooled.grad_output[o] * tap.share));
  const count = taken.length;
  if (!max) return say("avg.grad_input", { cell, sum, count });
  if (!count) return lostWords(pooled, found, cell);
  const isTie = taken.some(({ o }) => pooled.windows[o].equals > 1);
  return say(isTie ? "max.grad_input.first" : "max.grad_input.taken", { cell, sum, count });
}

/** @param {Pooled} pooled @param {{ o: number, tap: Tap }[]} found @param {string} cell */
function lostWords(pooled, found, cell) {
  const [{ o, tap }] = found;
  const winner = /** @type {Tap} */ (pooled.windows[o].winner);
  const values = { cell, count: found.length, winner: cornerOf(pooled, winner) };
  return say(tap.value === winner.value ? "max.grad_input.later" : "max.grad_input.larger", values);
}

/** @param {Pooled} pooled @param {{ o: number }[]} found @param {number} i @param {string} cell */
function assignedWords(pooled, found, i, cell) {
  const right = formatLong(pooled.grad_input[i]);
  const wrong = formatLong(gradInput(pooled, true)[i]);
  if (wrong === right) return say("assigned.alike", { cell, right });
  const last = nameOf(pooled, { plane: "output", index: found[found.length - 1].o });
  return say("assigned", { cell, wrong, right, last });
}
