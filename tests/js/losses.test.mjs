// The losses of the page: the entries are the facts', and cross-entropy is finite wherever its numbers are.
import assert from "node:assert/strict";
import test from "node:test";

import SETTINGS from "../../convviz/facts/data/settings.json" with { type: "json" };
import { LOSSES } from "../../convviz/web/numbers/losses.js";
import { kindsTaken, lossWith, offeredKinds, withKindsOfLoss } from "../../convviz/web/rules/loss_inputs.js";
import { BASE_STATE } from "../../convviz/web/rules/settings_link.js";

/** Two samples of 2 x 2 cells, with the target at one cell of each. */
const tensor = (...numbers) => ({ shape: [2, 1, 2, 2], data: Float64Array.from(numbers) });
const target = tensor(0, 1, 0, 0, 0, 1, 0, 0);

test("there is an entry for every loss that the facts name", () => {
  assert.deepEqual(Object.keys(LOSSES), SETTINGS.fields.loss.words);
});

test("cross-entropy is the mean over the samples, and its gradient adds up to 0 in each", () => {
  const output = tensor(1, 2, 3, 4, 0, 0, 0, 0);
  const shares = [1, 2, 3, 4].map(
    (value) => Math.exp(value) / [1, 2, 3, 4].reduce((total, each) => total + Math.exp(each), 0),
  );
  const expected = (-Math.log(shares[1]) + Math.log(4)) / 2;
  assert.ok(Math.abs(LOSSES.cross_entropy.value(output, target) - expected) < 1e-14);
  const { data } = LOSSES.cross_entropy.gradient(output, target);
  shares.forEach((share, cell) => assert.ok(Math.abs(data[cell] - (share - target.data[cell]) / 2) < 1e-15));
  assert.deepEqual([...data.slice(4)], [0.125, -0.375, 0.125, 0.125]);
  assert.ok(Math.abs(data.reduce((total, value) => total + value, 0)) < 1e-15);
});

test("cells of any size make no inf and no nan", () => {
  for (const size of [1e4, 1e30, 1e300]) {
    const output = tensor(size, -size, 0, size / 2, -size, size, 0, 1);
    const { data } = LOSSES.cross_entropy.gradient(output, target);
    assert.deepEqual([...data], [0.5, -0.5, 0, 0, 0, 0, 0, 0]);
    assert.equal(LOSSES.cross_entropy.value(output, target), size);
  }
});

test("one cell alone has the whole share, and a loss of 0", () => {
  const one = { shape: [1, 1, 1, 1], data: Float64Array.of(7) };
  const aim = { shape: [1, 1, 1, 1], data: Float64Array.of(1) };
  assert.ok(Object.is(LOSSES.cross_entropy.value(one, aim), 0) || LOSSES.cross_entropy.value(one, aim) === 0);
  assert.deepEqual([...LOSSES.cross_entropy.gradient(one, aim).data], [0]);
});

test("a menu offers what the loss takes, and what it does not take gives way", () => {
  assert.deepEqual(offeredKinds({ ...BASE_STATE, loss: "cross_entropy" }, "target"), ["one_hot"]);
  assert.deepEqual(offeredKinds(BASE_STATE, "target"), ["zeros", "ones", "one_hot", "random"]);
  assert.deepEqual(kindsTaken("sum", "target"), []);
  assert.deepEqual([lossWith("target"), lossWith("grad")], ["half_squared_error", "weighted_sum"]);
  assert.deepEqual(withKindsOfLoss({ ...BASE_STATE, loss: "cross_entropy" }).target, { kind: "one_hot" });
  assert.deepEqual(withKindsOfLoss(BASE_STATE), BASE_STATE);
});
