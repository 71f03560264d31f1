// Both readings stepped through at once, by the products of the definition alone.
import assert from "node:assert/strict";
import test from "node:test";

import { productWords } from "../../convviz/web/board/steps/step_animation.js";
import { stampedSoFar } from "../../convviz/web/numbers/stamps_so_far.js";
import { Readings } from "../../convviz/web/picture/both_readings.js";
import { windowWalk } from "../../convviz/web/picture/window_positions.js";
import { geometryOf } from "../../convviz/web/rules/conv_geometry.js";
import { drawer, randomState, same, truthOf } from "./conv_by_definition.mjs";

const FIRST = { sample: 0, out_channel: 0, in_channel: 0 };
const flat = ([row, column], [, width]) => row * width + column;
const at = ({ row, column }) => [row, column];

/** Random states, and what is sent back in a group's channels: mostly zeros, as with a single 1. */
function* drawn(seed, rounds) {
  const draw = drawer(seed);
  for (let round = 0; round < rounds; round++) {
    const truth = truthOf({ ...randomState(draw), plane: FIRST }, {});
    const { spec, windows, outs, transposed, taps, folds } = truth;
    const choices = draw([[0, 0, 0, 1], [0, -2, 3], [1, 2], [0]]);
    const planes = (count, from) =>
      Array.from({ length: outs }, () => Array.from({ length: count }, () => draw(from)));
    const gradients = planes(windows[0] * windows[1], choices);
    const kernels = planes(spec.kernel_size[0] * spec.kernel_size[1], [-3, -1, 0, 2, 5]);
    const geometry = geometryOf(spec, FIRST, transposed);
    const { result } = windowWalk(geometry, "input", "both");
    const sent = (tap) => gradients.some((plane) => plane[flat(tap.o, windows)] !== 0);
    const landing = taps
      .filter((tap) => tap.i)
      .sort((one, other) => orderOf(one, truth) - orderOf(other, truth));
    const wanted = landing.some(sent) ? landing.filter(sent) : landing;
    const place = (tap) => (folds ? tap.at : tap.i);
    yield {
      ...truth,
      draw,
      geometry,
      gradients,
      kernels,
      result,
      wanted,
      place,
      about: JSON.stringify(spec),
    };
  }
}

/** Stamp by stamp, each by the kernel's cells. */
const orderOf = ({ o, k }, { spec, windows }) =>
  flat(o, windows) * spec.kernel_size[0] * spec.kernel_size[1] + flat(k, spec.kernel_size);

test("each product that lands is a step, and the window over that cell meets it", () => {
  let leftOut = 0;
  for (const { spec, geometry, gradients, result, wanted, place, pixelAt, folds, about } of drawn(51, 200)) {
    const products = new Readings(geometry, result, gradients);
    assert.equal(products.count, wanted.length, about);
    leftOut += products.zeros;
    for (const [index, tap] of wanted.entries()) {
      const { from, kernel, seen, rotated, to, folded } = products.at(index);
      assert.deepEqual([from, kernel, to].map(at), [tap.o, tap.k, place(tap)], about);
      assert.equal(to.panel, folds ? "grad_padded_input" : "grad_input", about);
      assert.deepEqual(folded && at(folded), folds ? pixelAt(tap.at) : null, about);
      // padded_grad_output has zeros between and around; the rotated kernel's window starts over `to`.
      const spread = tap.o.map((each, axis) => each * spec.stride[axis] + geometry.gradient_padding[axis]);
      const turned = tap.k.map((each, axis) => spec.kernel_size[axis] - 1 - each);
      const met = turned.map((each, axis) => at(to)[axis] + each * spec.dilation[axis]);
      assert.deepEqual([at(seen), at(rotated)], [spread, turned], about);
      assert.ok(same(met, spread), `${about}: the window over ${at(to)} meets grad_output[${tap.o}] there`);
    }
  }
  assert.ok(leftOut > 500);
});

test("after each step the products so far are added up, over all channels, and no others", () => {
  for (const { spec, padded, windows, folds, geometry, gradients, kernels, result, wanted, about } of drawn(
    52,
    60,
  )) {
    const products = new Readings(geometry, result, gradients);
    const size = folds ? padded : spec.input_size;
    const plane = Array(size[0] * size[1]).fill(0);
    const folded = Array(spec.input_size[0] * spec.input_size[1]).fill(0);
    for (const [index, { o, k, at: cell, i }] of wanted.entries()) {
      const product = gradients.reduce(
        (sum, channel, c) => sum + channel[flat(o, windows)] * kernels[c][flat(k, spec.kernel_size)],
        0,
      );
      plane[flat(folds ? cell : i, size)] += product;
      folded[flat(i, spec.input_size)] += product;
      const { stamps, cells } = products.upTo(index);
      const found = stampedSoFar(geometry, gradients, kernels, stamps, cells);
      const numbers = [found.plane, found.folded].map((values) => Array.from(values, (value) => value + 0));
      assert.deepEqual(
        numbers,
        [plane, folded].map((values) => values.map((value) => value + 0)),
        about,
      );
    }
  }
});

test("what is said of a step is what its product is, and how many stamps add 0", () => {
  for (const truth of drawn(53, 120)) {
    const { geometry, gradients, kernels, windows, spec, result, wanted, about } = truth;
    const products = new Readings(geometry, result, gradients);
    const numbers = { grad_output: [gradients[0], windows], weight: [kernels[0], spec.kernel_size] };
    const panelOf = (name) => ({
      spec: () => ({ label: name, called: name }),
      grid: { value: (row, column) => numbers[name][0][flat([row, column], numbers[name][1])] },
    });
    const zeros = gradients[0].filter((_, o) => gradients.every((plane) => plane[o] === 0)).length;
    assert.equal(products.zeros, zeros, about);
    for (const [index, { o, k }] of wanted.entries()) {
      const words = productWords({ geometry, panelOf, both: products.at(index) }, products, false);
      const [value, weight] = [gradients[0][flat(o, windows)], kernels[0][flat(k, spec.kernel_size)]];
      const plain = words.replaceAll("−", "-").replaceAll(/[()]/g, "");
      const product = `${value} · ${weight} = ${value * weight + 0}`;
      const sum = `grad_output[${o}] · weight[${k}] = ${product} lands on ${result}[`;
      assert.ok(plain.startsWith(sum), `${about}: ${words}, not ${sum}`);
      const said = / (\d+) of (\d+) stamps? adds? 0, because grad_output is 0 there\./.exec(words);
      assert.deepEqual(said?.slice(1).map(Number) ?? [0, products.stamps], [zeros, products.stamps], about);
      assert.equal(words.includes("other channels stamp too"), gradients.length > 1, about);
    }
  }
});

test("of planes that are not known, no stamp is left out", () => {
  for (const { geometry, taps, result, about } of drawn(54, 40)) {
    const products = new Readings(geometry, result, []);
    assert.deepEqual([products.count, products.zeros], [taps.filter((tap) => tap.i).length, 0], about);
  }
});
