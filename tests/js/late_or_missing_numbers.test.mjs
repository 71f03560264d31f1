// The seam between settings and numbers: a maker may answer at once, promise, answer too late, wrongly or never.
import assert from "node:assert/strict";
import test from "node:test";

import { fromPage } from "../../convviz/web/numbers/compute_in_page.js";
import { createPageModel } from "../../convviz/web/numbers/page_model.js";
import { BASE_STATE, toLink } from "../../convviz/web/rules/settings_link.js";
import { replaced } from "../../convviz/web/rules/settings_and_tensors.js";
import { LARGE, dataOf, settled, stride, strideOf, timersByHand } from "./page_model_fixtures.mjs";

const data = dataOf(BASE_STATE);
const LATE = "These settings' numbers have not arrived yet: the board shows the previous ones.";

/** A model whose numbers come when the test says so, and whose patience ends when it says so. */
function byHand({ first = true } = {}) {
  const asked = [];
  const promise = (settings, k) =>
    new Promise((resolve, reject) =>
      asked.push({ settings, k, reject, resolve, answer: () => resolve(fromPage(settings, k)) }),
    );
  const { waiting: timers, later, end: loseThePatience } = timersByHand();
  let now = 0;
  const model = createPageModel(data, promise, () => (now += 5000), later);
  const heard = [];
  for (const name of ["structure", "values"]) model.on(`change:${name}`, () => heard.push(whole(model)));
  const made = { model, asked, heard, timers, loseThePatience };
  if (first) asked[0].answer();
  return settled().then(() => {
    heard.length = 0;
    return made;
  });
}

/** What the board shows: is it the one of these settings, whole? */
function whole(model) {
  const [structure, values] = [model.get("structure"), model.get("values")];
  assert.equal(structure.version, values.version, "structure and values of one step");
  return values.step;
}

function assertShows(model, settings) {
  whole(model);
  const wanted = createPageModel(dataOf(settings), fromPage);
  const { version, step, ...numbers } = model.get("values");
  const { version: _, step: __, ...expected } = wanted.get("values");
  assert.deepEqual(numbers, expected);
  assert.deepEqual({ ...model.get("structure"), version: 0 }, { ...wanted.get("structure"), version: 0 });
}

test("the page's own numbers are there as soon as the settings are", () => {
  const model = createPageModel(
    data,
    fromPage,
    () => 0,
    () => assert.fail("nothing is waited for"),
  );
  for (const value of [1, 3, 2]) {
    stride(model, value);
    assertShows(model, model.settings());
    assert.equal(strideOf(model.settings()), value);
  }
});

test("promised numbers are drawn when they come, whole; the controls do not wait for them", async () => {
  const { model, asked, heard } = await byHand();
  stride(model, 1);
  assert.equal(strideOf(model.settings()), 1);
  assert.equal(strideOf(model.get("state")), 1, "what a reload would keep");
  assertShows(model, BASE_STATE);
  asked[1].answer();
  await settled();
  assertShows(model, model.settings());
  assert.deepEqual(heard, [2, 2], "notified after both are there");
});

test("one request is under way, the newest waits, and what is gone is dropped", async () => {
  const { model, asked, heard } = await byHand();
  for (const value of [1, 3, 4]) stride(model, value);
  assert.equal(asked.length, 2);
  asked[1].answer();
  await settled();
  assert.deepEqual(heard, [], "those of stride 1 are gone");
  assert.deepEqual(
    asked.map(({ settings, k }) => [strideOf(settings), k]),
    [
      [2, 1],
      [1, 2],
      [4, 4],
    ],
  );
  asked[2].answer();
  await settled();
  assertShows(model, model.settings());
  assert.equal(strideOf(model.settings()), 4);
});

test("a refusal brings back settings, history, Reset and controls, and says its sentence", async () => {
  const { model, asked } = await byHand();
  stride(model, 1);
  asked[1].answer();
  await settled();
  const held = model.settings();
  stride(model, 3);
  model.send({ type: "open", link: toLink(replaced(BASE_STATE, { link_axes: false })) });
  assert.equal(model.canUndo(), false, "a link is a new start");
  asked[2].answer(); // of stride 3: gone
  await settled();
  let refreshed = 0;
  model.on("settings", () => (refreshed += 1));
  asked[3].reject(new Error("no memory left"));
  await settled();
  assert.deepEqual(model.settings(), held);
  assert.equal(model.get("state").spec, held.spec);
  assert.deepEqual(
    [model.get("notice"), model.get("failed")],
    ["The link was not opened: no memory left.", true],
  );
  assert.equal(refreshed, 1);
  assertShows(model, held);
  model.send({ type: "undo" });
  asked[4].answer();
  await settled();
  assert.deepEqual([strideOf(model.settings()), model.canUndo(), model.canRedo()], [2, false, true]);
  model.send({ type: "redo" });
  asked[5].answer();
  await settled();
  assert.deepEqual(model.settings(), held);
  model.send({ type: "reset" });
  assert.equal(strideOf(model.settings()), 2, "the start is the one before the link");
});

test("a refusal of settings that are gone says nothing", async () => {
  const { model, asked } = await byHand();
  stride(model, 1);
  stride(model, 3);
  asked[1].reject(new Error("too many"));
  await settled();
  assert.deepEqual([strideOf(model.settings()), model.get("notice"), asked.length], [3, "", 3]);
  asked[2].answer();
  await settled();
  assertShows(model, model.settings());
});

test("undo of a pending step needs no numbers; redo asks for them again", async () => {
  const { model, asked, heard } = await byHand();
  stride(model, 1);
  model.send({ type: "undo" });
  assert.deepEqual([strideOf(model.settings()), model.canUndo(), model.canRedo()], [2, false, true]);
  asked[1].answer();
  await settled();
  assert.deepEqual([heard, asked.length], [[], 2], "the answer is of settings that are gone");
  model.send({ type: "redo" });
  asked[2].answer();
  await settled();
  assert.deepEqual([strideOf(model.settings()), model.canUndo()], [1, true]);
  assertShows(model, model.settings());
});

test("numbers that never come are said, and the next step does not wait behind them", async () => {
  const { model, asked, timers, loseThePatience } = await byHand();
  assert.equal(timers.size, 0, "nobody waits for what is there");
  stride(model, 1);
  stride(model, 3);
  loseThePatience();
  assert.deepEqual([model.get("notice"), model.get("failed")], [LATE, true]);
  assert.deepEqual([asked.length, strideOf(asked[2].settings)], [3, 3]);
  stride(model, 4);
  asked[1].answer(); // too late
  await settled();
  assert.equal(asked.length, 3, "the turn is not its own any more");
  assertShows(model, BASE_STATE);
  model.send({ type: "undo" });
  loseThePatience();
  assert.deepEqual([asked.length, strideOf(asked[3].settings)], [4, 3]);
  loseThePatience();
  asked[3].answer(); // late, and still wanted
  await settled();
  assertShows(model, model.settings());
  assert.equal(model.get("notice"), "");
  stride(model, 4);
  asked[4].answer();
  await settled();
  assertShows(model, model.settings());
});

test("nan, infinity, numbers of another step and half a step are refused", async () => {
  const { model, asked } = await byHand();
  const spoil = {
    "got nan in grad_weight": (numbers) => numbers.stages.grad_weight.data.fill(NaN),
    "finite in float32: got inf in loss": (numbers) =>
      (Object.assign(numbers, { dtype: "float32" }).stages.loss = Infinity),
    "those of step 77 came instead": (numbers) => (numbers.k = 77),
    undefined: (numbers) => delete numbers.stages.output,
    "undefined ": (numbers) => delete numbers.stages.dilated_grad_output, // found out while the picture is laid out
  };
  for (const [sentence, change] of Object.entries(spoil)) {
    stride(model, 1);
    const { settings, k, resolve } = asked.at(-1);
    const numbers = fromPage(settings, k);
    change(numbers);
    resolve(numbers);
    await settled();
    assert.ok(model.get("notice").includes(sentence.trim()), model.get("notice"));
    assert.deepEqual([model.settings(), model.get("failed"), model.canUndo()], [BASE_STATE, true, false]);
    assertShows(model, BASE_STATE);
  }
  stride(model, 3);
  asked.at(-1).answer();
  await settled();
  assertShows(model, model.settings());
});

test("before the first numbers nothing is shown, and everything can be asked for", async () => {
  const { model, asked } = await byHand({ first: false });
  assert.deepEqual([model.get("structure"), model.get("values"), model.shown()], [{}, {}, null]);
  model.send({ type: "edit", panel: "weight", row: 0, column: 0, value: 1 });
  assert.match(model.get("notice"), /which shows 0 × 0 cells/);
  model.change((settings) => [replaced(settings, { theme: "dark" }), []]);
  assert.equal(model.get("theme"), "dark", "it waits for no numbers");
  asked[0].reject(new Error("nobody is there"));
  asked[0].answer();
  await settled();
  asked[1].answer();
  await settled();
  assertShows(model, model.settings());
});

test("a typed number goes to the cell that is shown, whatever is pending", async () => {
  const { model, asked } = await byHand();
  stride(model, 1);
  const shape = model.shown().numbers.stages.output.shape;
  model.send({ type: "edit", panel: "output", row: 0, column: 0, value: 1 });
  assert.match(model.get("notice"), /follows from other panels/);
  model.send({ type: "edit", panel: "grad_output", row: shape[2], column: 0, value: 5 });
  assert.match(model.get("notice"), /only a visible cell/);
  model.send({ type: "edit", panel: "grad_output", row: 1, column: 2, value: 5 });
  asked[1].answer();
  await settled();
  asked[2].answer();
  await settled();
  const { grad_output } = model.shown().numbers.stages;
  assert.deepEqual([strideOf(model.settings()), grad_output.data[grad_output.shape[3] + 2]], [1, 5]);
  assertShows(model, model.settings());
});

test("what is too much for the page is refused by its maker, at once and in any step", () => {
  const model = createPageModel(data, fromPage);
  const held = model.settings();
  model.change((settings) => [replaced(settings, { spec: LARGE }), []]);
  assert.match(model.get("notice"), /^one step of the page may take up to 5 million products/);
  assert.deepEqual([model.settings(), model.canUndo(), model.get("failed")], [held, false, true]);
  assertShows(model, held);
  const first = dataOf({ ...BASE_STATE, spec: LARGE });
  assert.throws(() => createPageModel(first, fromPage), /5 million products/);
});

test("a failed undo leaves the steps as they were", () => {
  let broken = false;
  const maker = (settings, k) => {
    if (broken) throw new Error("not now");
    return fromPage(settings, k);
  };
  const model = createPageModel(data, maker, () => 0);
  stride(model, 1);
  broken = true;
  model.send({ type: "undo" });
  assert.deepEqual(
    [strideOf(model.settings()), model.canUndo(), model.canRedo(), model.get("notice")],
    [1, true, false, "not now"],
  );
  broken = false;
  model.send({ type: "undo" });
  assert.deepEqual([strideOf(model.settings()), model.canUndo(), model.canRedo()], [2, false, true]);
});
