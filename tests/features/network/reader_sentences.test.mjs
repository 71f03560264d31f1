// What is said of a cell is so: against max pooling and ReLU by their definition, exact and recorded in bytes.
import assert from "node:assert/strict";
import test from "node:test";

import { Fields } from "../../../convviz/features/network/fields.js";
import { cellSentence } from "../../../convviz/features/network/cell_sentences.js";
import { readerSentence } from "../../../convviz/features/network/reader_sentences.js";
import { openedAt } from "../../../convviz/features/network/rule_data.js";
import { count, indices, operation, randomOf, readsOf } from "./network_fixtures.mjs";

const NETWORKS = Number(process.env.CONVVIZ_STATES ?? 60);
const SEED = Number(process.env.CONVVIZ_SEED ?? 1);

const exact = (shape, values) => ({ shape, channels: [...Array(shape[0]).keys()], values });

/** In bytes, as page_data.py packs them. */
function recorded(shape, values) {
  const scale = Math.max(...values.map(Math.abs)) || 1;
  const bytes = Int8Array.from(values, (value) => Math.round((value / scale) * 127));
  const data = Buffer.from(bytes.buffer).toString("base64");
  return { shape, channels: [...Array(shape[0]).keys()], scale, data };
}

/** Input → one operation, with the values of both and the gradients of both. */
function networkOf(second, [values, outputs], [grads, gradients], pack) {
  const first = operation(0, "input", [], second.from, { how: "same" });
  const operations = [first, operation(1, second.kind, [0], second.shape, second.reads)];
  const back = { from: { kind: "loss" }, planes: [pack(second.from, grads), pack(second.shape, gradients)] };
  const network = { operations, planes: [pack(second.from, values), pack(second.shape, outputs)] };
  return { network, back, fields: new Fields(operations) };
}

/** Max pooling: the first largest cell of each window gets its gradient. */
function pooled(reads, from, shape, values, gradients) {
  const flat = (at, of) => at.reduce((place, each, axis) => place * of[axis] + each, 0);
  const [outputs, grads, winners] = [[], Array(count(from)).fill(0), []];
  const opened = operation(1, "max_pool2d", [0], shape, reads);
  for (const cell of indices(shape)) {
    const window = readsOf(opened, 0, cell, from);
    const winner = window.reduce((best, at) =>
      values[flat(at, from)] > values[flat(best, from)] ? at : best,
    );
    grads[flat(winner, from)] += gradients[flat(cell, shape)];
    outputs.push(values[flat(winner, from)]);
    winners.push({ window, winner, gradient: gradients[flat(cell, shape)] });
  }
  return { outputs, grads, winners };
}

/** Whether a sentence about a cell of the input holds. */
function holds(text, cell, winners, valueOf, isExact) {
  const mine = winners.filter(({ window }) => window.some((at) => String(at) === String(cell)));
  const silent = mine.length > 0 && mine.every(({ gradient }) => gradient === 0);
  if (/gradient of its window|gradient of all its/.test(text)) return silent;
  return !(silent && isExact) && holdsOfWinners(text, cell, mine, valueOf);
}

function holdsOfWinners(text, cell, mine, valueOf) {
  const won = mine.filter(({ winner }) => String(winner) === String(cell)).length;
  if (/^No cell of/.test(text)) return mine.length === 0;
  if (/cannot be told/.test(text)) return mine.length > 0;
  const several = text.match(/^It is in (\d+) windows .* the largest of (\d+|none)/);
  if (several) return Number(several[1]) === mine.length && (Number(several[2]) || 0) === won;
  if (/^It is the largest/.test(text)) return mine.length === 1 && won === 1;
  if (/chose another/.test(text)) return mine.length === 1 && won === 0;
  if (!/^0 comes back/.test(text) || mine.length !== 1 || won) return false;
  const isTied = valueOf(mine[0].winner) === valueOf(cell);
  return /came first/.test(text) ? isTied : /was larger/.test(text) && !isTied;
}

test("what is said of max pooling is so, with ties, overlaps and holes, exact or in bytes", () => {
  const ids = new Set();
  for (let seed = SEED; seed < SEED + NETWORKS; seed++) {
    const random = randomOf(seed);
    const pick = (from) => from[Math.floor(random() * from.length)];
    const [kernel, stride, dilation, side] = [pick([2, 3]), pick([1, 2, 3]), pick([1, 2]), 6];
    const padding = pick([0, 1]);
    const out = Math.floor((side + 2 * padding - dilation * (kernel - 1) - 1) / stride) + 1;
    const twice = (value) => [value, value];
    const reads = {
      how: "window",
      kernel_size: twice(kernel),
      stride: twice(stride),
      padding: twice(twice(padding)),
      dilation: twice(dilation),
      groups: 1,
      per_channel: true,
      transposed: false,
      mode: "zeros",
    };
    const [from, shape] = [
      [2, side, side],
      [2, out, out],
    ];
    const values = indices(from).map(() => (seed % 2 ? Math.floor(random() * 4) : random() * 2 - 1));
    const gradients = indices(shape).map(() => (random() < 0.3 ? 0 : random() * 2 - 1));
    const { outputs, grads, winners } = pooled(reads, from, shape, values, gradients);
    const valueOf = ([c, r, q]) => values[(c * side + r) * side + q];
    for (const pack of [exact, recorded]) {
      const seen = networkOf(
        { kind: "max_pool2d", reads, from, shape },
        [values, outputs],
        [grads, gradients],
        pack,
      );
      for (const cell of indices(from)) {
        const text = readerSentence(seen, 0, cell);
        assert.ok(holds(text, cell, winners, valueOf, pack === exact), `seed ${seed} [${cell}]: ${text}`);
        if (pack === exact) assert.doesNotMatch(text, /cannot be told|chose another/);
        ids.add(text.replace(/[\d.[\],]+/g, "#"));
      }
      indices(shape).forEach((cell, at) => {
        const [text] = openedAt(seen, 1, cell).sentences;
        const named = text.match(/(?:at|from) \[(\d+), (\d+)\]/);
        if (named) assert.equal(String(winners[at].winner.slice(1)), `${named[1]},${named[2]}`, text);
        else assert.match(text, /cannot be told/);
        if (pack === exact)
          assert.equal(/gradient of this window is 0/.test(text), gradients[at] === 0, text);
      });
    }
  }
  assert.ok(ids.size >= 6, [...ids].join("\n"));
});

test("an opened linear layer shows the weights of its output, and what each gets from there", () => {
  const random = randomOf(SEED);
  for (const [into, batchOf] of [
    [7, []],
    [70, [3]],
  ]) {
    const [from, shape] = [
      [...batchOf, into],
      [...batchOf, 4],
    ];
    const [values, outputs, gradients] = [from, shape, shape].map((each) =>
      indices(each).map(() => random() - 0.5),
    );
    const weights = indices([4, into]).map(() => random() - 0.5);
    const reads = batchOf.length ? { how: "all", axes: [1] } : { how: "all" };
    const seen = networkOf(
      { kind: "linear", reads, from, shape },
      [values, outputs],
      [values, gradients],
      exact,
    );
    seen.network.operations[1].weight = { shape: [4, into], norm: 1, trained: true };
    const cell = [...batchOf.map(() => 1), 2];
    assert.equal(openedAt(seen, 1, cell).sources.length, 1, "they were not recorded");
    seen.network.weights = { 1: { shape: [4, into], channels: [0], values: weights } };
    const { sources, sentences } = openedAt(seen, 1, cell);
    const [row] = sources[1].rows;
    assert.equal(row.length + sources[1].left, into);
    assert.match(sources[1].weight, /\.weight\[2\]$/);
    assert.match(sentences[1], /Each weight gets its number/);
    row.forEach(({ value, gradient }, at) => {
      assert.equal(value.value, Math.fround(weights[2 * into + at]));
      const start = batchOf.length ? 1 : 0;
      const product = Math.fround(values[start * into + at]) * Math.fround(gradients[start * 4 + 2]);
      assert.equal(gradient.value, product);
    });
  }
});

test("what is said of ReLU is so, also of numbers that bytes cannot tell from 0", () => {
  for (let seed = SEED; seed < SEED + NETWORKS; seed++) {
    const random = randomOf(seed);
    const shape = [1, 4, 5];
    const values = indices(shape).map(() => [0, -0.5, 0.5, 1e-4, -1e-4][Math.floor(random() * 5)] * random());
    const gradients = values.map(() => random() - 0.5);
    const outputs = values.map((value) => Math.max(0, value));
    const grads = gradients.map((gradient, at) => (values[at] > 0 ? gradient : 0));
    for (const pack of [exact, recorded]) {
      const relu = { kind: "relu", reads: { how: "same" }, from: shape, shape };
      const seen = networkOf(relu, [values, outputs], [grads, gradients], pack);
      indices(shape).forEach((cell, at) => {
        const text = readerSentence(seen, 0, cell);
        if (/^It is above 0/.test(text)) assert.ok(values[at] > 0, text);
        else if (/^It is not above 0/.test(text)) assert.ok(values[at] <= 0, text);
        else assert.ok(pack === recorded && /too close to tell/.test(text), text);
      });
    }
  }
});

test("an operation after the start sends nothing back, and nothing is doubted", () => {
  const shape = [1, 2, 2];
  const reads = {
    how: "window",
    kernel_size: [2, 2],
    stride: [2, 2],
    padding: [
      [0, 0],
      [0, 0],
    ],
    dilation: [1, 1],
    groups: 1,
    per_channel: true,
    transposed: false,
    mode: "zeros",
  };
  const values = [0.094, 2, -1, 0.5];
  const sent = [0, 1, 0, 0];
  for (const second of [
    { kind: "relu", reads: { how: "same" }, from: shape, shape },
    { kind: "max_pool2d", reads, from: shape, shape: [1, 1, 1] },
    { kind: "conv2d", reads, from: shape, shape: [1, 1, 1] },
    { kind: "tanh", reads: { how: "same" }, from: shape, shape },
  ])
    for (const pack of [exact, recorded]) {
      const outputs = indices(second.shape).map(() => 0.5);
      const seen = networkOf(second, [values, outputs], [sent, outputs], pack);
      seen.back = {
        from: { kind: "cell", operation: 0, cell: [0, 0, 1] },
        planes: [seen.back.planes[0], null],
      };
      for (const cell of indices(shape)) {
        const text = readerSentence(seen, 0, cell);
        assert.match(text, /^Nothing comes back from .*, because no gradient came there\.$/, second.kind);
      }
      const [text] = openedAt(seen, 1, indices(second.shape)[0]).sentences;
      assert.match(text, /^What went on is .*\. No gradient came back to it\.$/, second.kind);
    }
});

test("a plane of the gradient that was not recorded makes no number doubtful", () => {
  const shape = [2, 1, 2];
  const values = [0.094, -1, 2, 3];
  const gradients = [0.5, 0, 0.25, 0.25];
  const relu = { kind: "relu", reads: { how: "same" }, from: shape, shape };
  const seen = networkOf(relu, [values, values], [gradients, gradients], recorded);
  seen.back.planes[1] = { ...recorded([1, 1, 2], [0.25, 0.25]), channels: [1] };
  assert.match(readerSentence(seen, 0, [0, 0, 0]), /^It is above 0, so .* passes it on\.$/);
  assert.match(readerSentence(seen, 0, [1, 0, 0]), /sends the gradient behind it/);
});

test("a receptive field is said as a box, as all of it, or with its holes", () => {
  const window = (dilation) => ({
    how: "window",
    kernel_size: [3, 3],
    stride: [1, 1],
    padding: [
      [0, 0],
      [0, 0],
    ],
    dilation: [dilation, dilation],
    groups: 1,
    per_channel: false,
    transposed: false,
    mode: "zeros",
  });
  const sentences = (reads, size, out) => {
    const operations = [operation(0, "input", [], [1, size, size], { how: "same" })];
    operations.push(operation(1, "conv2d", [0], [1, out, out], reads));
    const network = { operations, planes: [null, null] };
    const fields = new Fields(operations);
    const back = { from: { kind: "loss" }, planes: [null, null] };
    return cellSentence({ network, back, fields }, 1, [0, 0, 0], fields.receptive(1, [0, 0, 0]));
  };
  assert.match(sentences(window(1), 5, 3), /receptive field is 3 × 3 pixels of input/);
  assert.match(sentences(window(1), 3, 1), /receptive field is all 3 × 3 pixels/);
  assert.match(sentences(window(2), 7, 3), /spans 5 × 5 pixels of input, of which it reads 9\./);
});
