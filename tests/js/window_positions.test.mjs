// Stepping, by the products of the definition alone: what is added up so far, where the window stands, what is complete.
import assert from "node:assert/strict";
import test from "node:test";

import { stampedSoFar } from "../../convviz/web/numbers/stamps_so_far.js";
import { noteOf } from "../../convviz/web/picture/formulas_and_notes.js";
import { completedAt, spanOf, windowWalk } from "../../convviz/web/picture/window_positions.js";
import { geometryOf } from "../../convviz/web/rules/conv_geometry.js";
import { drawer, randomState, same, truthOf } from "./conv_by_definition.mjs";

const FIRST = { sample: 0, out_channel: 0, in_channel: 0 };
const flat = ([row, column], [, width]) => row * width + column;

/** Random geometries of a convolution, with their taps. */
function* drawn(seed, rounds) {
  const draw = drawer(seed);
  for (let round = 0; round < rounds; round++) {
    const truth = truthOf({ ...randomState(draw), transposed: false, plane: FIRST }, {});
    yield { ...truth, draw, geometry: geometryOf(truth.spec, FIRST, false) };
  }
}

test("the first cells of grad_output have sent back the products that they are in, and no others", () => {
  for (const { spec, taps, padded, windows, outs, folds, geometry, draw } of drawn(31, 150)) {
    const numbers = (count) => Array.from({ length: count }, () => draw([-3, -2, -1, 1, 2, 3]));
    const [cells, kernel] = [windows[0] * windows[1], spec.kernel_size[0] * spec.kernel_size[1]];
    const gradients = Array.from({ length: outs }, () => numbers(cells));
    const kernels = Array.from({ length: outs }, () => numbers(kernel));
    for (const count of new Set([0, 1, Math.floor(cells / 2), cells - 1, cells])) {
      const wanted = {
        plane: Array((folds ? padded : spec.input_size).reduce((a, b) => a * b)).fill(0),
        folded: Array(spec.input_size[0] * spec.input_size[1]).fill(0),
      };
      for (const { o, k, at, i } of taps.filter((tap) => tap.i && flat(tap.o, windows) < count)) {
        const [from, by] = [flat(o, windows), flat(k, spec.kernel_size)];
        const sum = gradients.reduce(
          (total, plane, channel) => total + plane[from] * kernels[channel][by],
          0,
        );
        wanted.folded[flat(i, spec.input_size)] += sum;
        wanted.plane[folds ? flat(at, padded) : flat(i, spec.input_size)] += sum;
      }
      const { plane, folded } = stampedSoFar(geometry, gradients, kernels, count);
      const about = `${JSON.stringify(spec)} after ${count}`;
      assert.deepEqual(
        [[...plane], [...folded]].flat().map((number) => number + 0),
        [wanted.plane, wanted.folded].flat(),
        about,
      );
    }
  }
});

test("the window stands on the cells that it reads", () => {
  for (const { spec, taps, padded, windows, folds, geometry } of drawn(32, 150)) {
    const parts = { forward: ["o", "at"], weight: ["k", "at"] };
    const sizes = { forward: windows, weight: spec.kernel_size, input: folds ? padded : spec.input_size };
    for (const [name, size] of Object.entries(sizes)) {
      assert.deepEqual(windowWalk(geometry, name, "window").size, size, JSON.stringify(spec));
      const [last, middle] = [size.map((each) => each - 1), size.map((each) => Math.floor(each / 2))];
      for (const cell of [[0, 0], middle, last]) {
        const { row, column, rows, columns } = spanOf(geometry, name, "window", cell);
        const found = [row, column, row + rows - 1, column + columns - 1];
        // To the input the rotated kernel slides cell by cell.
        const reach = spec.kernel_size.map((each, axis) => cell[axis] + spec.dilation[axis] * (each - 1));
        const [part, at] = parts[name] ?? [];
        const read = part ? taps.filter((tap) => same(tap[part], cell)).map((tap) => tap[at]) : [cell, reach];
        const ends = [Math.min, Math.max].flatMap((end) =>
          [0, 1].map((axis) => end(...read.map((place) => place[axis]))),
        );
        assert.deepEqual(found, ends, `${JSON.stringify(spec)} ${name} ${cell}`);
      }
    }
  }
});

test("a folded cell is complete with the last of its copies", () => {
  let folded = 0;
  for (const { spec, cells, folds, pixelAt, geometry } of drawn(33, 200)) {
    if (!folds) continue;
    const at = completedAt(geometry);
    for (let row = 0; row < spec.input_size[0]; row++)
      for (let column = 0; column < spec.input_size[1]; column++) {
        const last = cells.findLastIndex((cell) => same(pixelAt(cell), [row, column]));
        assert.equal(at(row, column), last, JSON.stringify(spec));
      }
    folded += 1;
  }
  assert.ok(folded > 20);
});

test("the loops of grad_weight meet each product of the definition at its pixel, and no other", () => {
  const draw = drawer(53);
  for (let round = 0; round < 200; round++) {
    const settings = { ...randomState(draw), transposed: false, plane: FIRST };
    const { taps, spec, windows } = truthOf(settings, {});
    const [, down, across] = /padded_input\[(?:[^\]]*, )?([^,\]]+), ([^,\]]+)\]/.exec(
      noteOf(settings, "weight", ""),
    );
    const placeOf = (words) => {
      const [, s, d] = /^(\d*)[ij] \+ (\d*)[ab]$/.exec(words);
      return (out, cell) => Number(s || 1) * out + Number(d || 1) * cell;
    };
    const [row, column] = [placeOf(down), placeOf(across)];
    for (const { o, k, at } of taps)
      assert.deepEqual(
        [row(o[0], k[0]), column(o[1], k[1])],
        at,
        `${down}, ${across} of ${JSON.stringify(spec)}`,
      );
    assert.equal(
      taps.length,
      [...windows, ...spec.kernel_size].reduce((all, count) => all * count),
    );
  }
});
