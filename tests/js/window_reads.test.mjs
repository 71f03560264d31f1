// What is framed while a cell of an output or its gradient is looked at, and what is said of it: by the taps.
import assert from "node:assert/strict";
import test from "node:test";

import { framesAround } from "../../convviz/web/board/grid/grid_marks.js";
import { weightReason } from "../../convviz/web/picture/role_in_gradients_sentences.js";
import { collectedBy, outputBehind, readsOf } from "../../convviz/web/picture/window_reads.js";
import { geometryOf } from "../../convviz/web/rules/conv_geometry.js";
import { drawer, randomState, same, truthOf } from "./conv_by_definition.mjs";

const FIRST = { sample: 0, out_channel: 0, in_channel: 0 };
const name = (row, column) => `${row},${column}`;
const each = ([rows, columns]) =>
  Array.from({ length: rows * columns }, (_, at) => [Math.floor(at / columns), at % columns]);

/** Random geometries with their taps; a transposed layer has a border of zeros alone. */
function* drawn(seed, rounds, transposed) {
  const draw = drawer(seed);
  for (let round = 0; round < rounds; ) {
    const truth = truthOf({ ...randomState(draw), plane: FIRST }, {});
    if (truth.transposed !== transposed) continue;
    round += 1;
    yield { ...truth, draw, geometry: geometryOf(truth.spec, FIRST, transposed) };
  }
}

const cellsOf = ({ rows, columns }) => rows.flatMap((row) => columns.map((column) => name(row, column)));

test("of each output the cells are framed that its taps read, whatever the geometry", () => {
  for (const { spec, taps, windows, geometry } of drawn(41, 150, false)) {
    for (const o of each(windows)) {
      const about = `${JSON.stringify(spec)} output[${o}]`;
      const [read, ...others] = readsOf(geometry, { row: o[0], column: o[1] });
      assert.deepEqual([read.panel, others], ["padded_input", []], about);
      const wanted = taps.filter((tap) => same(tap.o, o)).map(({ at }) => name(...at));
      assert.deepEqual(cellsOf(read).sort(), wanted.sort(), about);
    }
  }
});

test("of each pixel the window is framed that holds whatever its taps send back, and the weight of the 1", () => {
  for (const { spec, taps, folds, geometry } of drawn(45, 150, false)) {
    for (const i of each(spec.input_size)) {
      const about = `${JSON.stringify(spec)} pixel[${i}]`;
      const collected = (o) =>
        collectedBy(geometry, { row: i[0], column: i[1] }, { row: o[0], column: o[1] });
      const [read] = collected([0, 0]);
      assert.equal(read?.panel, folds ? undefined : "padded_grad_output", about);
      if (folds) continue;
      const found = cellsOf(read);
      assert.equal(found.length, spec.kernel_size[0] * spec.kernel_size[1], about);
      const real = each(geometry.output_size).filter((o) =>
        found.includes(
          name(...o.map((at, axis) => at * spec.stride[axis] + geometry.gradient_padding[axis])),
        ),
      );
      const own = taps.filter((tap) => tap.i && same(tap.i, i));
      const wanted = own.map(({ o }) => name(...o));
      for (const o of each(geometry.output_size)) {
        const turned = own
          .filter((tap) => same(tap.o, o))
          .map(({ k }) => name(...k.map((at, axis) => spec.kernel_size[axis] - 1 - at)));
        assert.deepEqual(collected(o).slice(1).flatMap(cellsOf), turned, `${about} the 1 at ${o}`);
      }
      assert.deepEqual(real.map((o) => name(...o)).sort(), wanted.sort(), about);
    }
  }
});

test("a transposed layer frames what collects its pixel, and what its pixel multiplies to the weight", () => {
  for (const { spec, taps, geometry } of drawn(42, 120, true)) {
    for (const i of each(spec.input_size)) {
      const about = `${JSON.stringify(spec)} pixel[${i}]`;
      const [collects, multiplied] = readsOf(geometry, { row: i[0], column: i[1] });
      assert.deepEqual(
        [collects.panel, multiplied.panel],
        ["padded_grad_output", "dilated_grad_output"],
        about,
      );
      const those = taps.filter((tap) => tap.i && same(tap.i, i));
      const placed = (offset) =>
        those.map(({ o }) => name(...o.map((at, axis) => at * spec.stride[axis] + offset[axis])));
      for (const [read, offset] of [
        [collects, geometry.gradient_padding],
        [multiplied, [0, 0]],
      ]) {
        const found = cellsOf(read);
        for (const cell of placed(offset)) assert.ok(found.includes(cell), `${about} leaves out ${cell}`);
        // All else that is framed is a zero of the construction.
        const real = found.filter((cell) => {
          const at = cell.split(",").map((part, axis) => (Number(part) - offset[axis]) / spec.stride[axis]);
          return at.every(
            (part, axis) => Number.isInteger(part) && part >= 0 && part < geometry.output_size[axis],
          );
        });
        assert.deepEqual(real.sort(), placed(offset).sort(), about);
      }
      // Added "in backward order" of reading, by numbers that differ.
      const numberAt = ([row, column]) => 1 + row * 31 + column;
      const inOrder = (lines) => [...lines].sort((a, b) => a - b);
      const [rows, columns] = [inOrder(multiplied.rows), inOrder(multiplied.columns)];
      const dilated = cellsOf({ rows, columns }).map((cell) => {
        const o = cell.split(",").map((part, axis) => Number(part) / spec.stride[axis]);
        return o.every(Number.isInteger) ? numberAt(o) : 0;
      });
      const added = each(spec.kernel_size).map((k) =>
        those.filter((tap) => same(tap.k, k)).reduce((sum, { o }) => sum + numberAt(o), 0),
      );
      assert.deepEqual(added.filter(Boolean), dilated.filter(Boolean).reverse(), about);
    }
  }
});

/** Panels of a layer's output, one that copies its gradient, and that one's size. */
const sidesOf = ({ spec, windows, padded, transposed }) =>
  transposed
    ? { own: ["grad_input", "target", "input"], size: spec.input_size, copy: "padded_input", places: padded }
    : {
        own: ["output", "target", "grad_output"],
        size: windows,
        copy: "dilated_grad_output",
        places: windows.map((count, axis) => (count - 1) * spec.stride[axis] + 1),
      };

test("what is no output has no window, and copies have that of their output", () => {
  for (const truth of [...drawn(43, 80, false), ...drawn(43, 80, true)]) {
    const { own, size, copy, places } = sidesOf(truth);
    const behind = (panel, row, column) => outputBehind(truth.geometry, { panel, row, column });
    const about = `${JSON.stringify(truth.spec)} ${truth.transposed}`;
    const all = each(size).map(([row, column]) => ({ row, column }));
    const found = (panel, size) =>
      each(size)
        .map((at) => behind(panel, ...at))
        .filter(Boolean);
    for (const panel of ["weight", "rotated_weight", "grad_weight", "bias", "grad_bias"])
      assert.equal(behind(panel, 0, 0), null, `${about} ${panel}`);
    for (const panel of own) assert.deepEqual(found(panel, size), all, `${about} ${panel}`);
    assert.deepEqual(found(copy, places), all, `${about}: each once, in order`);
  }
});

test("what is said of grad_weight is what the taps add to it", () => {
  for (const { spec, taps, windows, pixelAt, draw } of drawn(44, 150, false)) {
    const x = new Map(each(spec.input_size).map((at) => [name(...at), draw([-3, -1, 0, 2, 5])]));
    const valueAt = (at) => x.get(name(...(pixelAt(at) ?? [NaN, NaN]))) ?? 0;
    const gradient = new Map(each(windows).map((at) => [name(...at), draw([-2, 0, 1, 3])]));
    const o = draw(each(windows));
    const isOnly = draw([true, false]);
    if (isOnly) for (const key of gradient.keys()) gradient.set(key, Number(key === name(...o)));
    const value = gradient.get(name(...o));
    const words = weightReason(false, `grad_output[${o}]`, value, isOnly);
    const weights = (only) =>
      each(spec.kernel_size).map((k) =>
        taps
          .filter((tap) => same(tap.k, k) && (!only || same(tap.o, o)))
          .reduce((sum, tap) => sum + (only ? 1 : gradient.get(name(...tap.o))) * valueAt(tap.at), 0),
      );
    const window = weights(true);
    const about = `${JSON.stringify(spec)} ${words}`;
    if (words.startsWith("grad_weight is what")) assert.deepEqual(weights(false), window, about);
    else {
      assert.ok(
        words.startsWith(`grad_output[${o}] is ${String(value).replace("-", "−")}, so it adds`),
        about,
      );
      gradient.set(name(...o), 0);
      const without = weights(false);
      gradient.set(name(...o), value);
      assert.deepEqual(
        weights(false).map((sum, at) => sum - without[at] + 0),
        window.map((read) => value * read + 0),
        about,
      );
    }
  }
});

test("neighbours have one frame, and cells apart have one each", () => {
  const frames = (rows, columns) => (framesAround(rows, columns).match(/M/g) ?? []).length;
  assert.equal(frames([2, 3, 4], [0, 1]), 1);
  assert.equal(frames([0, 2, 4], [1, 3]), 6);
  assert.equal(frames([4, 2, 0], [5, 4, 3]), 3, "in any order");
  assert.equal(frames([], [1]), 0);
});
