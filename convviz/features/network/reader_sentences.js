// What the operation that reads a cell does with it, and with the gradient on its way back.
import { formatNumber } from "../../web/base/format.js";
import { cellsOf, countOfField } from "./masks.js";
import { mayEqual, numberAt, numberText, readText, signOf } from "./cell_numbers.js";
import { cellText, nameOf, say } from "./sentences.js";

const MAX_WINDOWS = 64;

/**
 * @import { Fields } from "./fields.js"
 * @import { Read } from "./cell_numbers.js"
 * @typedef {{ network: NetworkData, back: NetworkBack, fields: Fields }} Seen
 * @typedef {{ seen: Seen, reader: NetworkOperation, position: number, cell: number[], there: number[][], count: number, windows: number,
 *   kernels: number, value: Read | null, gradient: Read | null, alone: boolean }} Reading there: the cells of the reader
 *   that read it, the first of them; count: of all; alone: nothing else reads it
 */

/** @type {Record<string, (reading: Reading) => string>} */
const BY_KIND = {
  relu: throughRelu,
  max_pool2d: throughMaxPool,
  avg_pool2d: throughMean,
  adaptive_avg_pool2d: throughMean,
  mean: throughMean,
  conv2d: throughConvolution,
  conv_transpose2d: throughConvolution,
  linear: ({ reader, count }) => say("reader.linear", { name: nameOf(reader), count }),
  add: unchanged,
  batch_norm: throughBatchNorm,
  sigmoid: (reading) => throughSlope(reading, "reader.sigmoid", (y) => y * (1 - y)),
  tanh: (reading) => throughSlope(reading, "reader.tanh", (y) => 1 - y * y),
};
const MOVES = ["reshape", "permute", "concat", "slice"];

/**
 * @param {Seen} seen @param {number} operation @param {number[]} cell
 * @returns {string} empty: nothing reads it
 */
export function readerSentence(seen, operation, cell) {
  const { network, back, fields } = seen;
  const readers = fields.readersOf(operation);
  const { shape } = network.operations[operation];
  const value = numberAt(network.planes[operation], shape, cell);
  const gradient = numberAt(back.planes[operation], shape, cell);
  const names = readers.map((index) => nameOf(network.operations[index])).join(", ");
  // As after the start of the way back.
  if (readers.length && !readers.some((index) => back.planes[index]))
    return say("reader.no_gradient", { count: readers.length, names });
  const alone =
    readers.length === 1 &&
    network.operations[readers[0]].sources.filter((each) => each === operation).length === 1;
  if (!alone && readers.length) return say("reader.several", { count: readers.length, names });
  const sentences = readers.map((index) => {
    const reader = network.operations[index];
    const position = reader.sources.indexOf(operation);
    const masks = fields.reading(index, position, cell);
    if (!fields.relation(index, position)) return say("reader.unknown", { name: nameOf(reader) });
    const there = cellsOf(masks, reader.shape, MAX_WINDOWS);
    const count = countOfField(masks ?? []);
    if (!there.length) return say("reader.none", { name: nameOf(reader) });
    const kernels = (masks ?? []).filter(Boolean).length;
    const windows = count / kernels;
    const reading = { seen, reader, position, cell, there, count, windows, kernels, value, gradient, alone };
    return (BY_KIND[reader.kind] ?? (MOVES.includes(reader.reads.how) ? moved : plain))(reading);
  });
  return sentences.join(" ");
}

/** @param {Reading} reading */
function plain({ reader }) {
  return say("reader.plain", { name: nameOf(reader) });
}

/** The gradient at a cell of the reader. @param {Reading} reading @param {number[]} cell */
const behind = ({ seen, reader }, cell) => numberAt(seen.back.planes[reader.index], reader.shape, cell);

/** @param {Reading} reading */
function throughRelu(reading) {
  const { reader, there, value, gradient } = reading;
  const sign = signOf(value);
  const name = nameOf(reader);
  if (Number.isNaN(value?.value ?? NaN)) return plain(reading);
  if (sign <= 0) return say("reader.relu.stops", { name });
  if (sign > 0)
    return mayEqual(behind(reading, there[0]), gradient)
      ? say("reader.relu.passes", { name, gradient: readText(gradient) })
      : say("reader.relu.above", { name });
  return say("reader.relu.near", { name });
}

/**
 * Finds the largest cell of a window, or returns null where rounding or missing numbers leave it open.
 * @param {Reading} reading @param {number[]} out
 */
function winnerOf({ seen, reader, position }, out) {
  const source = reader.sources[position];
  const { shape } = seen.network.operations[source];
  const cells = cellsOf(seen.fields.readBy(reader.index, position, out), shape);
  const reads = cells.map((cell) => numberAt(seen.network.planes[source], shape, cell));
  let best = 0;
  for (const [at, read] of reads.entries()) {
    if (!read || Number.isNaN(read.value)) return null;
    if (read.value > (reads[best]?.value ?? 0)) best = at;
  }
  const tied = reads.some((read, at) => at !== best && read?.rounding && mayEqual(read, reads[best]));
  return tied ? null : { cell: cells[best], read: reads[best] };
}

/** @param {Reading} reading */
function throughMaxPool(reading) {
  const { reader, there, count, cell, gradient } = reading;
  const name = nameOf(reader);
  if (there.every((out) => signOf(behind(reading, out)) === 0))
    return say("reader.max.zero", { name, count });
  if (count === 1) return throughWindow(reading, there[0]);
  const winners = count > MAX_WINDOWS ? [] : there.map((out) => winnerOf(reading, out));
  if (count > MAX_WINDOWS || winners.some((winner) => !winner))
    return say("reader.max.near", { name, count });
  const won = winners.filter((winner) => String(winner?.cell) === String(cell)).length;
  return say(won ? "reader.max.several" : "reader.max.none", {
    name,
    count,
    won,
    gradient: readText(gradient),
  });
}

/**
 * Explains the gradient of a cell that lies in exactly one window of a max pooling.
 * @param {Reading} reading @param {number[]} out
 */
function throughWindow(reading, out) {
  const { reader, cell, value, gradient } = reading;
  const name = nameOf(reader);
  const [winner, got] = [winnerOf(reading, out), behind(reading, out)];
  const isWinner = winner ? String(winner.cell) === String(cell) : Boolean(signOf(gradient));
  if (isWinner && mayEqual(gradient, got))
    return say("reader.max.won", { name, gradient: readText(gradient) });
  if (isWinner && winner) return say("reader.max.largest", { name }); // that plane of the gradient was not recorded
  // A gradient that went to another cell says as much as the values.
  if (!winner)
    return say(signOf(got) && !mayEqual(gradient, got) ? "reader.max.chosen" : "reader.max.near", {
      name,
      count: 1,
    });
  const place = placeInWindow(reading, out, winner.cell);
  const tied = value?.value === winner.read?.value;
  return say(tied ? "reader.max.tied" : "reader.max.lost", { name, place, value: readText(winner.read) });
}

/** Row and column within a window. @param {Reading} reading @param {number[]} out @param {number[]} cell */
function placeInWindow({ reader }, out, cell) {
  const {
    stride = [1, 1],
    padding = [
      [0, 0],
      [0, 0],
    ],
    dilation = [1, 1],
  } = reader.reads;
  const place = [0, 1].map(
    (axis) => (cell[axis + 1] - out[axis + 1] * stride[axis] + padding[axis][0]) / dilation[axis],
  );
  return `[${place.join(", ")}]`;
}

/** @param {Reading} reading */
function throughMean(reading) {
  const { seen, reader, position, there, count } = reading;
  const name = nameOf(reader);
  if (count > 1) return say("reader.mean.several", { name, count });
  const { shape } = seen.network.operations[reader.sources[position]];
  const cells = cellsOf(seen.fields.readBy(reader.index, position, there[0]), shape).length;
  return say("reader.mean", { name, cells, gradient: readText(behind(reading, there[0])) });
}

/** @param {Reading} reading */
function throughConvolution({ reader, windows, kernels }) {
  return say(windows === 1 ? "reader.conv.one" : "reader.conv", { name: nameOf(reader), windows, kernels });
}

/** @param {Reading} reading */
function unchanged(reading) {
  const { reader, there, gradient } = reading;
  const read = there.length === 1 ? behind(reading, there[0]) : null;
  return mayEqual(read, gradient)
    ? say("reader.unchanged", { name: nameOf(reader), gradient: readText(read) })
    : plain(reading);
}

/** @param {Reading} reading */
function moved(reading) {
  const { seen, reader, there } = reading;
  if (there.length !== 1 || !seen.back.planes[reader.index]) return plain(reading);
  const gradient = numberText(seen.back.planes[reader.index], reader.shape, there[0]);
  return say("reader.moved", { name: nameOf(reader), cell: cellText(reader, there[0]), gradient });
}

/** @param {Reading} reading */
function throughBatchNorm(reading) {
  const { reader, cell } = reading;
  const { mean, var: variance, weight, eps = 0, training } = reader.rule ?? {};
  const [channel] = cell;
  if (!variance || cell.length === 2) return plain(reading);
  const deviation = Math.sqrt(variance[channel] + eps);
  const name = nameOf(reader);
  if (training)
    return say("reader.norm.training", {
      name,
      mean: formatNumber(mean[channel]),
      deviation: formatNumber(deviation),
    });
  return say("reader.norm", { name, factor: formatNumber((weight?.[channel] ?? 1) / deviation) });
}

/** @param {Reading} reading @param {"reader.sigmoid" | "reader.tanh"} id @param {(y: number) => number} slope */
function throughSlope({ seen, reader, there }, id, slope) {
  const output = numberAt(seen.network.planes[reader.index], reader.shape, there[0]);
  if (!output) return say("reader.plain", { name: nameOf(reader) });
  return say(id, {
    name: nameOf(reader),
    slope: readText({ value: slope(output.value), rounding: output.rounding }),
  });
}
