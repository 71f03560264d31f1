// Heights of bars, ends of colour scales, places of planes.
import assert from "node:assert/strict";
import test from "node:test";

import { axisOf, barsOf } from "../../../convviz/features/network/bars_data.js";
import { skipsOf, waysText } from "../../../convviz/features/network/arcs.js";
import { edgesOf, outlineOf, runsOf } from "../../../convviz/features/network/outlines.js";
import { cellAt, fitted, tilingOf } from "../../../convviz/features/network/layout.js";
import { limitOf, partsOf, readPlanes, shades, valueAt } from "../../../convviz/features/network/planes.js";
import { percentText, shortName } from "../../../convviz/features/network/sentences.js";
import { randomOf } from "./network_fixtures.mjs";

const backOf = (rms, zeros = rms.map(() => 0), weights = {}) => ({
  from: { kind: "loss" },
  planes: [],
  rms,
  zeros,
  weights,
});

test("a bar is as high as the power of ten, and what has none is marked, not drawn as small", () => {
  const { bars, axis } = barsOf(backOf([1e-18, 1e-9, 1, 0, null, "nan", "inf"]), 7);
  assert.ok(axis.low <= -18 && axis.high >= 0);
  const height = (power) => (power - axis.low) / (axis.high - axis.low);
  assert.deepEqual(
    bars.slice(0, 3).map(({ share }) => share.toFixed(6)),
    [-18, -9, 0].map((power) => height(power).toFixed(6)),
  );
  assert.deepEqual(
    bars.map(({ state }) => state),
    ["number", "number", "number", "zero", "none", "nan", "inf"],
  );
  assert.ok(bars[0].share > 0, "the smallest gradient is seen");
});

test("the axis has two to six powers of ten and holds all sizes, also none and one", () => {
  const random = randomOf(1);
  for (let round = 0; round < 300; round++) {
    const span = random() * 60;
    const sizes = Array.from({ length: 1 + Math.floor(random() * 9) }, () => 10 ** (random() * span - 40));
    const { low, high, ticks } = axisOf(sizes);
    assert.ok(ticks.length >= 2 && ticks.length <= 7, String(ticks));
    assert.ok(ticks.every((at) => at >= low && at <= high));
    for (const size of sizes) assert.ok(Math.log10(size) > low && Math.log10(size) <= high + 1e-9);
  }
  assert.equal(axisOf([null, 0, "nan"]).ticks.length, 3);
});

test("bytes and numbers are read as the same planes, and only numbers are exact", () => {
  const bytes = Int8Array.from([127, -127, 0, 64, 1, -1]);
  const packed = {
    shape: [2, 1, 3],
    channels: [5, 0],
    scale: 2,
    data: Buffer.from(bytes.buffer).toString("base64"),
  };
  const planes = readPlanes(packed);
  assert.deepEqual(
    [valueAt(planes, 0, 0, 0), valueAt(planes, 0, 0, 1), valueAt(planes, 0, 0, 2)],
    [2, -2, 0],
  );
  assert.ok(Math.abs(valueAt(planes, 1, 0, 0) - 128 / 127) < 1e-6);
  assert.deepEqual([planes.exact, planes.rounding, planes.channels], [false, 2 / 254, [5, 0]]);
  assert.ok(readPlanes({ shape: [1], channels: [0], values: [3] }).exact);
});

test("colours end where nearly all numbers are, and one number far out does not bleach the others", () => {
  const random = randomOf(2);
  const values = Float32Array.from({ length: 4000 }, () => random() * 2 - 1);
  values[7] = 1e3;
  assert.ok(limitOf(values) < 2.1);
  assert.equal(limitOf(new Float32Array(9)), 1);
  assert.ok(Math.abs(limitOf(Float32Array.from([0, 0, 0, -3])) - 3) < 0.01);
});

test("zero has a colour of its own, both signs differ, and what is no number is neither", () => {
  const scale = [
    [0, "#ff8800"],
    [0.5, "#eeeeee"],
    [1, "#008877"],
  ];
  const shade = shades(scale, [1, 2, 3]);
  assert.deepEqual(partsOf(shade(0)), [0xee, 0xee, 0xee]);
  assert.deepEqual(partsOf(shade(5)), [0, 0x88, 0x77]);
  assert.deepEqual(partsOf(shade(-1)), [0xff, 0x88, 0]);
  assert.deepEqual(partsOf(shade(Number.NaN)), [1, 2, 3]);
  assert.notDeepEqual(partsOf(shade(1e-9)), partsOf(shade(0)));
});

const KINDS = [
  [28, 28],
  [1, 1],
  [7, 3],
  [112, 112],
].flatMap((size) => [1, 3, 6, 8, 16, 120].map((count) => ({ size, count, scores: false })));

test("each plane is found again at its middle, inside its column", () => {
  for (const planes of [...KINDS, { size: [1, 1], count: 10, scores: true }]) {
    const tiling = tilingOf(planes, 170, 100);
    for (let plane = 0; plane < planes.count; plane++) {
      const [x, y] = tiling.at(plane);
      const found = cellAt(tiling, planes.size, x + tiling.tile[0] / 2, y + tiling.tile[1] / 2);
      assert.equal(found?.plane, plane, JSON.stringify(planes));
      assert.ok(y + tiling.tile[1] <= tiling.height + 1e-6 && x + tiling.tile[0] <= tiling.width + 1e-6);
    }
  }
});

test("columns use the width that there is, and no more where they can", () => {
  const wanted = [1, 6, 6, 16, 16].map((count, index) => ({ index, count, size: [28, 28], scores: false }));
  const widths = [...fitted(wanted, 200, 1300, false).values()].map(({ width }) => Math.max(100, width));
  const sum = widths.reduce((a, b) => a + b, 0) + 16 * 4;
  assert.ok(sum <= 1300 && sum > 600, String(widths));
});

test("an outline is drawn around holes, too", () => {
  const ring = Uint8Array.from([1, 1, 1, 1, 0, 1, 1, 1, 1]);
  const length = edgesOf(ring, 3, 3).reduce(
    (sum, [x1, y1, x2, y2]) => sum + Math.abs(x2 - x1) + Math.abs(y2 - y1),
    0,
  );
  assert.equal(length, 12 + 4);
  assert.deepEqual(runsOf(ring, 3, 3), [
    [0, 0, 3],
    [1, 0, 1],
    [1, 2, 3],
    [2, 0, 3],
  ]);
});

test("an outline is a box where the mask is one, and only there", () => {
  const masks = {
    box: [0, 0, 0, 0, 1, 1, 0, 1, 1],
    steps: [1, 0, 0, 1, 1, 0, 0, 1, 1],
    ring: [1, 1, 1, 1, 0, 1, 1, 1, 1],
    cross: [0, 1, 0, 1, 1, 1, 0, 1, 0],
  };
  const found = Object.values(masks).map((cells) => outlineOf(Uint8Array.from(cells), [3, 3]));
  assert.deepEqual(found[0], { areas: [[1, 1, 2, 2]], edges: null });
  for (const [at, { areas, edges }] of found.entries()) {
    const cells = Array(9).fill(0);
    for (const [left, top, wide, tall] of areas)
      for (let row = top; row < top + tall; row++)
        for (let column = left; column < left + wide; column++) cells[row * 3 + column]++;
    assert.deepEqual(cells, Object.values(masks)[at]);
    assert.equal(edges === null, at === 0);
  }
});

test("a skip is where an operation reads another than the one before it", () => {
  const operations = [[], [0], [1], [2, 0], [3], [3], [5, 4, 4]].map((sources, index) => ({
    index,
    sources,
    kind: `k${index}`,
  }));
  assert.deepEqual(skipsOf(operations), [
    [0, 3],
    [3, 5],
    [4, 6],
  ]);
  assert.equal(waysText(operations, 2), "");
  assert.equal(waysText(operations, 0), "2 operations read it (k1, k3), and what they send back adds up.");
  assert.equal(waysText(operations, 6), "It reads k5, k4.");
});

test("a share is none or all only where it is so", () => {
  const texts = [0, 0.001, 0.5, 0.999, 1].map(percentText);
  assert.deepEqual(texts, ["0 %", "< 1 %", "50 %", "> 99 %", "100 %"]);
});

test("a long name is shortened to its end, and never made longer", () => {
  const short = (name, kind = "conv2d") => shortName({ name, kind, label: "" }).join(" ").trim();
  assert.equal(short("4", "adaptive_avg_pool2d"), "\u2026avg_pool2d 4");
  assert.equal(short("layer1.0.residual.conv1"), "\u2026residual.conv1");
  assert.equal(short("averylongnameofone"), "averylongnameofone");
  assert.equal(short("relu1"), "relu1");
});
