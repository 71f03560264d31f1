// Fields through small random networks, against reading cell by cell.
import assert from "node:assert/strict";
import test from "node:test";

import { Fields } from "../../../convviz/features/network/fields.js";
import { cellsOf, countOfField, spanOf } from "../../../convviz/features/network/masks.js";
import { indices, randomNetwork, randomOf, readsOf } from "./network_fixtures.mjs";

// More networks, others: CONVVIZ_STATES=500 CONVVIZ_SEED=2.
const NETWORKS = Number(process.env.CONVVIZ_STATES ?? 8);
const SEED = Number(process.env.CONVVIZ_SEED ?? 1);

/** Which cells each cell reads at once: operation, position → cell → cells. */
function pairsOf(operations) {
  return operations.map((operation) =>
    operation.sources.map((source, position) => {
      const { shape } = operations[source];
      return new Map(
        indices(operation.shape).map((cell) => [
          String(cell),
          readsOf(operation, position, cell, shape).map(String),
        ]),
      );
    }),
  );
}

/** All that a cell reads, by walking each path. */
function walked(operations, pairs, start, cell) {
  const found = operations.map(() => new Set());
  found[start].add(String(cell));
  for (let at = start; at >= 0; at--)
    operations[at].sources.forEach((source, position) => {
      for (const each of found[at]) for (const read of pairs[at][position].get(each)) found[source].add(read);
    });
  return found;
}

/** All that reads a cell, or reads what reads it. */
function reached(operations, pairs, start, cell) {
  const found = operations.map(() => new Set());
  found[start].add(String(cell));
  for (let at = start + 1; at < operations.length; at++)
    operations[at].sources.forEach((source, position) => {
      for (const [each, reads] of pairs[at][position])
        if (reads.some((read) => found[source].has(read))) found[at].add(each);
    });
  return found;
}

const sorted = (cells) => [...cells].map(String).sort();

test("fields are what walking each path finds, back and forth", () => {
  for (let seed = SEED; seed < SEED + NETWORKS; seed++) {
    const operations = randomNetwork(seed);
    const [fields, pairs, random] = [new Fields(operations), pairsOf(operations), randomOf(seed)];
    const cellIn = ({ shape }) => shape.map((size) => Math.floor(random() * size));
    const ends = [
      operations.length - 1,
      operations.length - 2,
      operations.length - 3,
      Math.floor(random() * 8),
    ];
    for (const end of ends) {
      const cell = cellIn(operations[end]);
      const { masks, unknown } = fields.receptive(end, cell);
      assert.equal(unknown.size, 0);
      const truth = walked(operations, pairs, end, cell);
      operations.forEach(({ shape, kind }, at) => {
        const about = `seed ${seed}, ${kind} ${at} read by ${end} [${cell}]`;
        assert.deepEqual(sorted(cellsOf(masks.get(at) ?? null, shape)), sorted(truth[at]), about);
        assert.equal(countOfField(masks.get(at)), truth[at].size, about);
      });
    }
    const start = Math.floor(random() * 6);
    const cell = cellIn(operations[start]);
    const { masks } = fields.projective(start, cell);
    const truth = reached(operations, pairs, start, cell);
    operations.forEach(({ shape, kind }, at) => {
      const about = `seed ${seed}, ${kind} ${at} reached from ${start} [${cell}]`;
      assert.deepEqual(sorted(cellsOf(masks.get(at) ?? null, shape)), sorted(truth[at]), about);
    });
  }
});

test("channels that are read alike share one mask, and a span counts holes", () => {
  const window = {
    how: "window",
    kernel_size: [3, 3],
    stride: [1, 1],
    padding: [
      [0, 0],
      [0, 0],
    ],
    dilation: [2, 2],
    groups: 1,
    per_channel: false,
    transposed: false,
    mode: "zeros",
  };
  const operations = [
    { index: 0, kind: "input", sources: [], shape: [64, 9, 9], reads: { how: "same" } },
    { index: 1, kind: "conv2d", sources: [0], shape: [32, 5, 5], reads: window },
  ];
  const masks = new Fields(operations).receptive(1, [7, 2, 1]).masks.get(0);
  assert.equal(new Set(masks).size, 1);
  assert.deepEqual(spanOf(masks, 9), { rows: 5, columns: 5, count: 9 });
});

test("a window over a size that stays is not taken for a cell", () => {
  const reads = {
    how: "window",
    kernel_size: [3, 3],
    stride: [1, 1],
    padding: [
      [1, 1],
      [1, 1],
    ],
    dilation: [1, 1],
    per_channel: true,
    mode: "zeros",
  };
  const operations = [
    { index: 0, kind: "input", sources: [], shape: [2, 5, 5], reads: { how: "same" } },
    { index: 1, kind: "max_pool2d", sources: [0], shape: [2, 5, 5], reads },
  ];
  assert.equal(countOfField(new Fields(operations).receptive(1, [1, 2, 2]).masks.get(0)), 9);
});

test("where nobody knows how an operation reads, the field ends and says so", () => {
  const operations = [
    { index: 0, kind: "input", sources: [], shape: [4], reads: { how: "same" } },
    { index: 1, kind: "fft", sources: [0], shape: [4], reads: { how: "unknown" } },
    { index: 2, kind: "relu", sources: [1], shape: [4], reads: { how: "same" } },
  ];
  const { masks, unknown } = new Fields(operations).receptive(2, [1]);
  assert.deepEqual([[...masks.keys()].sort(), [...unknown]], [[1, 2], [1]]);
});
