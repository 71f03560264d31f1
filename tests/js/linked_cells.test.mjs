// Linked cells: what lights up is what moves when one number changes, by the definition of a convolution alone.
import assert from "node:assert/strict";
import test from "node:test";

import { Links } from "../../convviz/web/picture/find_linked_cells.js";
import { geometryOf } from "../../convviz/web/rules/conv_geometry.js";
import { drawer, randomState, same, truthOf } from "./conv_by_definition.mjs";

// Numbers that can be changed, and their copies: all that moves with them lights up; of a result what it is made of.
const COPIES =
  /^(padded_input|weight|rotated_weight|bias|grad_output|dilated_grad_output|padded_grad_output|input) /;
const AXES = [0, 1];
const ONE = { in_channels: 1, out_channels: 1, groups: 1, batch: 1 };
const name = (panel, [row, column]) => `${panel} ${row},${column}`;
const each = ([rows, columns]) =>
  Array.from({ length: rows * columns }, (_, at) => [Math.floor(at / columns), at % columns]);
const both = (make) => AXES.map(make);

function sizesOf({ spec, padded, windows, folds, transposed }) {
  const base = folds ? padded : spec.input_size;
  return {
    padded_input: padded,
    weight: spec.kernel_size,
    rotated_weight: spec.kernel_size,
    bias: [1, 1],
    output: windows,
    grad_output: windows,
    dilated_grad_output: both((axis) => (windows[axis] - 1) * spec.stride[axis] + 1),
    padded_grad_output: both((axis) => base[axis] + spec.dilation[axis] * (spec.kernel_size[axis] - 1)),
    grad_input: spec.input_size,
    grad_weight: spec.kernel_size,
    grad_bias: [1, 1],
    ...(folds && { grad_padded_input: padded }),
    ...(transposed && { input: spec.input_size }),
  };
}

/** For every number of input, weight, grad_output and bias the cells that move with it. */
function movesOf({ spec, taps, cells, windows, folds, transposed, pixelAt }, sizes, geometry) {
  const of = (part, place) => taps.filter((tap) => same(tap[part], place));
  const pixels = each(spec.input_size).map((i) => {
    const copies = cells.filter((cell) => same(pixelAt(cell), i)).map((cell) => name("padded_input", cell));
    const results = of("i", i).flatMap(({ o, k }) => [name("output", o), name("grad_weight", k)]);
    return [...copies, ...results, ...(transposed ? [name("input", i), "grad_bias 0,0"] : [])];
  });
  const weights = each(spec.kernel_size).map((k) => {
    const rotated = both((axis) => spec.kernel_size[axis] - 1 - k[axis]);
    const results = of("k", k).flatMap(({ o, i, at }) => [
      ...(i ? [name("output", o), name("grad_input", i)] : []),
      ...(folds ? [name("grad_padded_input", at)] : []),
    ]);
    return [name("weight", k), name("rotated_weight", rotated), ...results];
  });
  const gradients = each(windows).map((o) => {
    const dilated = both((axis) => o[axis] * spec.stride[axis]);
    const padded = both((axis) => dilated[axis] + geometry.gradient_padding[axis]);
    const size = sizes.padded_grad_output;
    const inside = AXES.every((axis) => padded[axis] >= 0 && padded[axis] < size[axis]); // a crop leaves some out
    const results = of("o", o).flatMap(({ k, i, at }) => [
      ...(i ? [name("grad_input", i), name("grad_weight", k)] : []),
      ...(folds ? [name("grad_padded_input", at)] : []),
    ]);
    return [
      name("grad_output", o),
      name("dilated_grad_output", dilated),
      ...(inside ? [name("padded_grad_output", padded)] : []),
      ...results,
      ...(transposed ? [] : ["grad_bias 0,0"]),
    ];
  });
  const biased = transposed ? "grad_input" : "output";
  const bias = ["bias 0,0", ...each(sizes[biased]).map((at) => name(biased, at))];
  return { pixels, weights, gradients, bias };
}

/** Of each cell, [must, may]: a border may show a copy or not, where the cell itself is lit. */
function expectedOf(truth, sizes, geometry) {
  const { spec, folds, transposed } = truth;
  const expected = new Map();
  const add = (one, others, needed = () => true) => {
    if (!expected.has(one)) expected.set(one, [new Set(), new Set()]);
    const [must, may] = expected.get(one);
    for (const other of others.filter((cell) => cell !== one)) {
      may.add(other);
      if (needed(other)) must.add(other);
    }
  };
  const inner = (i) =>
    name(
      "padded_input",
      both((axis) => i[axis] + spec.padding[axis][0]),
    );
  const own = new Set(each(spec.input_size).map(inner));
  const isNeeded = (cell) => !cell.startsWith("padded_input") || own.has(cell);
  const copies = (cells) => cells.filter((cell) => COPIES.test(cell));
  const { pixels, weights, gradients, bias } = movesOf(truth, sizes, geometry);
  for (const cells of [...pixels, ...weights, ...gradients, bias]) {
    for (const copy of copies(cells)) add(copy, cells);
    for (const result of cells.filter((cell) => !COPIES.test(cell))) add(result, copies(cells), isNeeded);
  }
  // The fold: a border's gradient goes into the gradient of the cell that it copies.
  const pairs = each(spec.input_size).flatMap((i, index) =>
    pixels[index]
      .filter((cell) => cell.startsWith("padded_input"))
      .map((copy) => [name("grad_input", i), copy.replace("padded_input", "grad_padded_input")]),
  );
  for (const [folded, border] of folds ? pairs : []) {
    add(folded, [border]);
    add(border, [folded]);
  }
  // An output, its target and what comes back for it stand side by side.
  const [result, backs] = transposed ? ["grad_input", pixels] : ["output", gradients];
  for (const [index, at] of each(sizes[result]).entries()) {
    const back = copies(backs[index]);
    add(name(result, at), [...back, name("target", at)]);
    for (const one of back) add(one, [name(result, at), name("target", at)]);
  }
  return expected;
}

test("lit cells are those that move, in a convolution and in a transposed one", () => {
  const draw = drawer(21);
  for (let round = 0; round < 70; round++) {
    const drawn = randomState(draw);
    const truth = truthOf({ ...drawn, spec: { ...drawn.spec, ...ONE } }, {});
    const geometry = geometryOf(truth.spec, { sample: 0, out_channel: 0, in_channel: 0 }, truth.transposed);
    const [sizes, links] = [sizesOf(truth), new Links(geometry)];
    const expected = expectedOf(truth, sizes, geometry);
    for (const [panel, size] of Object.entries(sizes))
      for (const [row, column] of each(size)) {
        const found = links.of({ panel, row, column }).filter(({ real }) => real);
        const lit = found.map((link) => name(link.panel, [link.row, link.column]));
        const [must, may] = expected.get(name(panel, [row, column])) ?? [new Set(), new Set()];
        const about = `${JSON.stringify(truth.spec)} ${truth.transposed} ${panel} ${row},${column}`;
        assert.deepEqual(
          lit.filter((cell) => !may.has(cell)),
          [],
          `${about} lights too much`,
        );
        assert.deepEqual(
          [...must].filter((cell) => !lit.includes(cell)),
          [],
          `${about} lights too little`,
        );
      }
  }
});
