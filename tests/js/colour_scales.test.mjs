// How far colours reach: one scale a tensor, equal numbers in equal colours, and no number that bleaches all the others.
import assert from "node:assert/strict";
import test from "node:test";

import PICTURE from "../../convviz/facts/data/picture.json" with { type: "json" };
import { fromPage } from "../../convviz/web/numbers/compute_in_page.js";
import { equationsOf } from "../../convviz/web/picture/panels.js";
import {
  scaleEnd,
  scaleEnds,
  isBeyond,
  isGradient,
  quantityOf,
} from "../../convviz/web/picture/colour_scales.js";
import { fromLink } from "../../convviz/web/rules/settings_link.js";

/** The ends of all panels' scales in a linked picture. */
function endsIn(link) {
  const { state, notices } = fromLink(link);
  assert.deepEqual(notices, []);
  const settings = state;
  const { stages } = fromPage(settings, 0);
  return { ends: scaleEnds(equationsOf(settings, stages), stages, settings), stages };
}

const data = (...numbers) => Float64Array.from(numbers);

test("a single 1 prints the kernel and the patch in their own colours, and a tensor has one scale wherever it stands", () => {
  const { ends } = endsIn("v=2");
  assert.equal(ends["input:grad_input"], ends["forward:weight"]);
  assert.equal(ends["input:weight"], ends["forward:weight"]);
  assert.equal(ends["weight:grad_weight"], ends["forward:padded_input"]);
  assert.equal(ends["weight:padded_input"], ends["forward:padded_input"]);
  assert.deepEqual(
    [
      ends["forward:weight"],
      ends["forward:padded_input"],
      ends["forward:output"],
      ends["forward:grad_output"],
    ],
    [9, 4, 145, 1],
  );
});

test("walked elsewhere, the 1 keeps the colours of kernel and patch", () => {
  const { ends } = endsIn("v=2&grad=one_hot:0,0,2,2");
  assert.deepEqual(
    [ends["input:grad_input"], ends["weight:grad_weight"]],
    [9, 4],
    "though this patch has no 4",
  );
});

test("who asks for another scale has it", () => {
  const { ends } = endsIn("v=1&scale=equation");
  assert.equal(ends["forward:weight"], ends["forward:output"]);
  assert.notEqual(ends["forward:padded_input"], ends["weight:padded_input"]);
});

test("a typed 1e9 ends no scale, wherever it comes to", () => {
  const numbers = [0, 2, 1, 2, 0, 1, 4, 4, 1e9, 0, 4, 3, 4, 2, 2, 4, 4, 1, 0, 1, 1, 2, 0, 0, 2];
  const { ends, stages } = endsIn(`v=2&input=values:1x1x5x5:${numbers}`);
  assert.ok(
    ends["forward:padded_input"] === 4 && ends["forward:output"] <= 200 && ends["weight:grad_weight"] === 4,
    JSON.stringify(ends),
  );
  assert.ok([...stages.output.data].some((value) => isBeyond(value, ends["forward:output"])));
  assert.ok(isBeyond(-1e9, 4) && !isBeyond(4, 4) && !isBeyond(NaN, 4));
});

test("what is large together is no exception", () => {
  assert.equal(scaleEnd(data(1e9, 2e9, 3e9, 4)), 3e9);
  assert.equal(scaleEnd(data(1, 1e9)), 1e9, "neither of two is the ordinary one");
  assert.equal(scaleEnd(data(0, 0, 0, 0, 0, 7)), 7, "zeros do not count");
  assert.equal(scaleEnd(data(0.01, 0.01, 0.02, 1)), 1, "a share of 1 among small ones is no outlier");
  assert.equal(scaleEnd(data(-1, 2, 3, 19)), 19);
  assert.equal(scaleEnd(data(-1, 2, 3, -60)), 3);
  assert.equal(scaleEnd(data(1, 2, 3, 4, 5, 100, 1e9)), 5, "the lowest gap counts");
});

test("zeros, constants and numbers that are none have an end, too", () => {
  assert.equal(scaleEnd(data(0, 0)), 0);
  assert.equal(scaleEnd(data(NaN, Infinity, -3, 2)), 3);
  assert.equal(scaleEnd(data(5, 5, 5)), 5);
  const { ends } = endsIn("v=2&grad=values:1x1x3x3:0,0,0,0,0,0,0,0,0");
  assert.equal(ends["forward:grad_output"], 1);
  assert.ok(Object.values(ends).every((end) => end > 0 && Number.isFinite(end)));
});

test("every panel has a scale and a quantity", () => {
  const names = Object.values(PICTURE.equations)
    .flat()
    .flatMap(({ items }) => items)
    .filter((item) => typeof item === "string");
  for (const name of names) assert.ok(PICTURE.scales.of[name]?.length, name);
  for (const name of names) assert.ok(quantityOf(name), name);
});

test("a variable and its gradient have one hue, and the gradient is known by its name", () => {
  for (const [quantity, names] of Object.entries(PICTURE.quantities)) {
    for (const name of names) {
      const variable = name.replace(/^.*grad_|^padded_|^dilated_|^rotated_/, "").replace(/^padded_/, "");
      const of = { bias: "weight", target: "output" }[variable] ?? variable;
      assert.deepEqual([quantityOf(name), of], [quantity, quantity], name);
      assert.equal(isGradient(name), name.split("_").includes("grad"), name);
    }
  }
  assert.equal(isGradient("gradual"), false);
});
