// The arrival, worked out without a page: what it says of a step is what the numbers of the page are with the 1 there.
import assert from "node:assert/strict";
import test from "node:test";

import { fromPage } from "../../convviz/web/numbers/compute_in_page.js";
import { introOf, firstPicture, isFirstPicture } from "../../convviz/web/picture/intro_steps.js";
import { oneHot, setTransposed } from "../../convviz/web/rules/change_settings.js";
import { FIRST_STATE, fromLink } from "../../convviz/web/rules/settings_link.js";
import { replaced } from "../../convviz/web/rules/settings_and_tensors.js";

/** Settings of a link. */
function at(link) {
  const { state, notices } = fromLink(link);
  assert.deepEqual(notices, [], link);
  return replaced(state, {});
}

test("each step shows what the page computes with the 1 at that place", () => {
  const links = [
    "v=2",
    "v=2&padding=0&weight=random&seed=3",
    "v=2&size=3&kernel=2",
    "v=2&size=3x5&kernel=2x3&weight=random",
    "v=2&size=1x5&kernel=1x3",
    "v=2&bias=0.5&weight=sobel_x",
  ];
  for (const link of links) {
    const settings = at(link);
    const arrival = introOf(settings);
    assert.ok(arrival, `${link}: it can be played`);
    const { steps, pixel, weight, rows, columns } = arrival;
    assert.deepEqual([rows, columns], settings.spec.kernel_size, link);
    for (const { at: place, corner, sent, landed, received } of steps) {
      const about = `${link}, the 1 at ${place.row},${place.column}`;
      const { stages } = fromPage(oneHot(settings, place.row, place.column)[0], 0);
      assert.deepEqual(sent, [...stages.grad_output.data], about);
      assert.deepEqual(landed, [...stages.grad_input.data], about);
      assert.deepEqual(corner, place, `${about}: where its window begins`);
      assert.equal(received, landed[pixel.row * settings.spec.input_size[1] + pixel.column], about);
    }
    const tray = steps.map(({ received }) => received);
    const { stages } = fromPage(settings, 0);
    assert.deepEqual(tray, [...stages.rotated_weight.data], `${link}: the tray is rotated_weight`);
    assert.deepEqual(tray, weight.toReversed(), `${link}: the kernel, backwards`);
  }
});

test("it is not played where the tray would be no rotated kernel, or where nobody could see that", () => {
  const links = {
    "stride=2": "windows stand apart",
    "padding=1": "more windows than weights",
    "size=6": "more windows than weights",
    "size=7&kernel=4": "too long to be watched",
    "size=9&dilation=2": "some windows do not read the pixel",
    "in_channels=2": "more than one plane",
    "out_channels=2": "more than one plane",
    "batch=2": "more than one plane",
    "grad=ones": "no single 1",
    "loss=half_squared_error": "no single 1",
    "weight=box": "it looks the same rotated",
    "weight=laplacian": "it looks the same rotated",
    "size=1&kernel=1": "it looks the same rotated",
    "mode=reflect&padding=1": "a border is folded",
    "broken=I01": "what it would become is a puzzle",
  };
  for (const [link, why] of Object.entries(links))
    assert.equal(introOf(at(`v=2&${link}`)), null, `${link}: ${why}`);
  assert.equal(introOf(setTransposed(at("v=2"), true)[0]), null, "a transposed layer");
});

test("the first picture is itself in any colours and on any device, and nothing else is", () => {
  const first = at("v=3");
  for (const other of [{ theme: "dark" }, { dtype: "float64" }, { device: "cuda:0" }])
    assert.ok(isFirstPicture(replaced(first, other)), JSON.stringify(other));
  for (const link of [
    "weight=random",
    "stride=2",
    "grad=one_hot:0,0,0,0",
    "grad=one_hot:0,0,1,1",
    "view=window",
    "seed=4",
  ])
    assert.ok(!isFirstPicture(at(`v=3&${link}`)), link);
  assert.ok(!isFirstPicture(replaced(first, { tab: "code" })), "a tab is open");
  for (const older of ["v=1", "v=2"])
    assert.ok(!isFirstPicture(at(older)), `${older}: the first picture of older links`);
  const there = { theme: "dark", device: "cuda:0", dtype: "bfloat16" };
  const made = firstPicture(replaced(at("v=3&size=8&stride=2&weight=sobel_x&view=stamps"), there));
  assert.deepEqual(made, replaced(FIRST_STATE, there), "as it was computed and coloured before");
  assert.ok(introOf(made), "and it can be played");
});
