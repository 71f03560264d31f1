// The page and a kernel that the test plays: it answers in time, late, wrongly, with a refusal or not at all; somebody
// else sets something; it goes and comes again.
import assert from "node:assert/strict";
import test from "node:test";

import { KernelClient, messageOf } from "../../convviz/web/numbers/ask_kernel.js";
import { fromPage } from "../../convviz/web/numbers/compute_in_page.js";
import { createPageModel } from "../../convviz/web/numbers/page_model.js";
import { BASE_STATE } from "../../convviz/web/rules/settings_link.js";
import { replaced } from "../../convviz/web/rules/settings_and_tensors.js";
import { LARGE, dataOf, sentOf, settled, stride, strideOf, timersByHand } from "./page_model_fixtures.mjs";

const EXACT = { id: "truth.exact", values: { device: "cpu", dtype: "float64" }, ok: true };
const START = { ...BASE_STATE, dtype: "float64" };

/** What the kernel sends of some settings: here the page's own numbers, times a factor. */
function wireOf(settings, { page = "", k = 0, factor = 1, spoil = () => {} } = {}) {
  const { stages } = fromPage(settings, k);
  const bytes = (name) =>
    new DataView(Float64Array.from(stages[name].data, (value) => factor * value).buffer);
  const wire = {
    page,
    k,
    dtype: "float64",
    loss: stages.loss,
    truth: EXACT,
    tensors: Object.fromEntries(sentOf(stages).map((name) => [name, bytes(name)])),
  };
  spoil(wire);
  return wire;
}

const traitsOf = (settings, wire) => {
  const { input, target, grad, ...state } = settings;
  return { _state: state, _sources: { input, target, grad }, _numbers: wire };
};

/** An anywidget model, and the kernel behind it, which does what the test says. */
function widgetOf(settings, held = wireOf(settings)) {
  let traits = { _facts: {}, _introduction: "", _notice: ["", false], ...traitsOf(settings, held) };
  const listeners = new Map();
  const notify = (event, ...given) =>
    [...(listeners.get(event) ?? [])].forEach((listener) => listener(...given));
  const made = {
    sent: [],
    get: (name) => traits[name],
    on: (event, listener) => listeners.set(event, [...(listeners.get(event) ?? []), listener]),
    off: (event, listener) =>
      listeners.set(
        event,
        (listeners.get(event) ?? []).filter((each) => each !== listener),
      ),
    send: (message) => made.sent.push(message),
    listening: () => [...listeners.values()].flat().length,
    asks: () => made.sent.filter(({ type }) => type === "compute"),
    /** The settings of a message, as Python reads it. */
    settingsOf: ({ settings: message }) => ({ ...BASE_STATE, ...message }),
    moveTo(next, wire) {
      traits = { ...traits, ...traitsOf(next, wire) };
      notify("change:_numbers");
    },
    answer(message = made.asks().at(-1), more = {}) {
      const next = made.settingsOf(message);
      made.moveTo(next, wireOf(next, { page: message.page, k: message.k, ...more }));
    },
    refuse: (message, sentence) =>
      notify("msg:custom", { type: "refused", page: message.page, k: message.k, sentence }, []),
    notify: (message) => notify("msg:custom", message, []),
  };
  return made;
}

/** The page of a live app: connected, at the settings of the kernel; its patience and its rest end when the test says so. */
function opened(settings = START) {
  const { later, end: rest } = timersByHand();
  let now = 0;
  const widget = widgetOf(settings);
  const model = createPageModel(dataOf(START, { ground: {} }), null, () => (now += 5000), later);
  model.connect(new KernelClient(widget), true);
  return { model, widget, rest };
}

/** What the board shows is of these settings, whole. */
function assertShows(model, settings, from, factor = 1) {
  const [structure, values] = [model.get("structure"), model.get("values")];
  assert.equal(structure.version, values.version, "structure and values of one step");
  assert.equal(values.from, from);
  const { stages } = fromPage(settings, 0);
  const { output } = model.shown().numbers.stages;
  assert.deepEqual(output.shape, stages.output.shape);
  stages.output.data.forEach((value, index) =>
    assert.ok(Math.abs(output.data[index] - factor * value) < 1e-9),
  );
  assert.deepEqual(model.shown().settings, settings);
}

test("a message has what differs from the first picture, and is small", () => {
  assert.deepEqual(messageOf(BASE_STATE), {});
  assert.deepEqual(messageOf({ ...BASE_STATE, digit: 5, dtype: "float64" }), { digit: 5, dtype: "float64" });
  const { model, widget } = opened();
  const values = [0.123456789012345, 1, -1, -2, 0, 2, -1, 0, 1];
  model.change((settings) => [
    replaced(settings, { weight: { kind: "values", values, shape: [1, 1, 3, 3] } }),
    [],
  ]);
  stride(model, 3);
  for (const message of widget.sent) {
    assert.deepEqual(Object.keys(message), ["type", "page", "k", "settings"]);
    assert.ok(JSON.stringify(message).length <= 1000, JSON.stringify(message));
  }
});

test("what the kernel has when a page opens is shown, and nothing is asked for", () => {
  const { model, widget } = opened({ ...START, digit: 7 });
  assert.equal(model.get("kernel"), "ok");
  assertShows(model, { ...START, digit: 7 }, "torch");
  assert.equal(model.get("values").truth_ok, true);
  assert.deepEqual([widget.sent, model.settled()], [[], true]);
});

test("a page that was there before brings its settings to the kernel, and shows its own numbers until torch's come", async () => {
  const widget = widgetOf({ ...START, digit: 7 });
  const model = createPageModel(dataOf({ ...START, digit: 4 }));
  stride(model, 1);
  model.connect(new KernelClient(widget));
  const wanted = model.settings();
  assert.deepEqual([wanted.digit, strideOf(wanted), model.settled()], [4, 1, false]);
  assertShows(model, wanted, "page");
  assert.deepEqual(widget.settingsOf(widget.asks()[0]), wanted);
  widget.answer();
  await settled();
  assertShows(model, wanted, "torch");
  assert.equal(model.canUndo(), true, "the steps from before are still there");
});

test("the page's numbers are there at once, torch's take their place, and the line of truth says which", async () => {
  const { model, widget } = opened();
  const truths = [model.get("values").truth];
  stride(model, 1);
  assertShows(model, model.settings(), "page");
  truths.push(model.get("values").truth);
  assert.equal(model.get("values").truth_ok, null, "nothing was compared yet");
  widget.answer();
  await settled();
  assertShows(model, model.settings(), "torch");
  assert.equal(new Set([...truths, model.get("values").truth]).size, 2);
});

test("where only the view changes torch's numbers stay", async () => {
  const { model, widget } = opened();
  const { stages } = model.shown().numbers;
  model.change((settings) => [replaced(settings, { scale: "panel" }), []]);
  assert.equal(model.shown().numbers.stages, stages);
  assert.equal(model.get("values").from, "torch");
  widget.answer();
  await settled();
  assertShows(model, model.settings(), "torch");
});

test("what is too much for the page waits for torch, and the page says so", async () => {
  const { model } = opened();
  const before = model.shown();
  model.change((settings) => [replaced(settings, { spec: LARGE }), []]);
  assert.deepEqual([model.settled(), model.get("failed")], [false, false]);
  assert.equal(model.shown(), before, "the old board stays");
  assert.equal(model.get("values").truth_ok, null);
  assert.notEqual(model.get("values").truth, "");
});

test("a refusal after a shown preview goes back to the numbers that hold", async () => {
  const { model, widget } = opened();
  const held = model.settings();
  stride(model, 1);
  assertShows(model, model.settings(), "page");
  let refreshed = 0;
  model.on("settings", () => (refreshed += 1));
  widget.refuse(widget.asks()[0], "There is no memory left for that.");
  await settled();
  assertShows(model, held, "torch");
  assert.deepEqual([model.settings(), model.get("state").spec], [held, held.spec]);
  assert.deepEqual([model.get("notice"), model.get("failed")], ["There is no memory left for that.", true]);
  assert.deepEqual([model.canUndo(), model.settled(), refreshed > 0], [false, true, true]);
  stride(model, 3);
  widget.answer();
  await settled();
  assertShows(model, model.settings(), "torch");
  assert.deepEqual([strideOf(model.settings()), model.get("notice")], [3, ""]);
});

test("what others set while nothing is asked for is shown, and is a step of undo", () => {
  const { model, widget } = opened();
  const there = { ...START, digit: 9 };
  widget.moveTo(there, wireOf(there, { page: "another", k: 3 }));
  assertShows(model, there, "torch");
  assert.deepEqual([model.settings(), model.canUndo(), widget.sent], [there, true, []]);
  const same = opened();
  same.widget.moveTo(START, wireOf(START, { page: "another", k: 3 }));
  assert.deepEqual([same.model.canUndo(), same.widget.sent], [false, []], "the same settings are no step");
  model.send({ type: "undo" });
  assert.equal(model.settings().digit, START.digit);
  assert.equal(widget.asks().length, 1);
});

test("what others set while something is asked for is overtaken by it; a refusal leads there", async () => {
  const there = { ...START, digit: 9 };
  for (const refuse of [false, true]) {
    const { model, widget } = opened();
    stride(model, 1);
    const mine = model.settings();
    widget.moveTo(there, wireOf(there, { page: "another", k: 3 }));
    assert.deepEqual(model.settings(), mine, "what was done here is not torn away");
    if (refuse) widget.refuse(widget.asks()[0], "not possible on this device");
    else widget.answer();
    await settled();
    assertShows(model, refuse ? there : mine, "torch");
    assert.deepEqual(model.settings(), refuse ? there : mine);
    assert.equal(model.get("failed"), refuse);
  }
});

test("a refusal that comes after the numbers is shown, and leads back to what the kernel then sends", async () => {
  const { model, widget } = opened();
  stride(model, 1);
  const [question] = widget.asks();
  widget.answer(question);
  await settled();
  assert.equal(strideOf(model.settings()), 1);
  widget.moveTo(START, wireOf(START)); // somebody who watches in Python could not follow
  widget.refuse(question, "the watcher failed");
  await settled();
  assert.equal(strideOf(model.settings()), 2);
  assert.deepEqual([model.get("notice"), model.get("failed")], ["the watcher failed", true]);
});

test("what the kernel has and the page cannot read is a sentence, and the page goes on", async () => {
  const { model, widget } = opened();
  const next = replaced(START, { digit: 5 });
  const before = model.get("values");
  widget.moveTo(next, wireOf(next, { spoil: (wire) => delete wire.tensors.output }));
  assert.match(model.get("notice"), /different versions/);
  assert.equal(model.get("values"), before);
  const old = widgetOf(START, wireOf(START, { spoil: (wire) => delete wire.tensors.output }));
  model.connect(new KernelClient(old));
  old.answer();
  await settled();
  assert.equal(model.get("values").from, "torch");
});

test("a sentence of the kernel's is said, and what is no answer reaches the panes", async () => {
  const { model, widget } = opened();
  const heard = [];
  model.on("msg:custom", (message) => heard.push(message));
  widget.notify({ type: "notice", sentence: "this picture file is damaged", failed: true });
  assert.deepEqual([model.get("notice"), model.get("failed")], ["this picture file is damaged", true]);
  widget.notify({ type: "tab", tab: "code", data: { step: 1 } });
  stride(model, 1);
  const { k } = widget.asks()[0];
  model.say("this picture file is damaged", true);
  widget.notify({ type: "refused", page: "another", k, sentence: "not mine" });
  assert.deepEqual(heard, [{ type: "tab", tab: "code", data: { step: 1 } }]);
  await settled();
  assert.equal(
    model.get("notice"),
    "this picture file is damaged",
    "a refusal to another page is none of ours",
  );
  assert.equal(model.settled(), false);
});

test("a kernel that answers wrong shapes, nan or nothing is refused, and the board stays", async () => {
  const wrong = {
    shape: (wire) => (wire.tensors.output = new DataView(new Float64Array(3).buffer)),
    missing: (wire) => delete wire.tensors.input,
    "half a number": (wire) => (wire.tensors.output = new DataView(new ArrayBuffer(13))),
    "no tensors": (wire) => delete wire.tensors,
    dtype: (wire) => (wire.dtype = "float8"),
    truth: (wire) => (wire.truth = { id: "truth.unknown", values: {}, ok: true }),
  };
  for (const [name, spoil] of Object.entries(wrong)) {
    const { model, widget } = opened();
    stride(model, 1);
    widget.answer(undefined, { spoil });
    await settled();
    assertShows(model, START, "torch");
    assert.deepEqual([model.settings(), model.get("failed"), model.canUndo()], [START, true, false], name);
    assert.ok(model.get("notice").length > 10, name);
    stride(model, 3);
    widget.answer();
    await settled();
    assertShows(model, model.settings(), "torch");
  }
});

test("a kernel that is gone leaves a page that computes; one that comes again gets its settings", async () => {
  const { model, widget } = opened();
  stride(model, 1);
  const underWay = widget.asks()[0];
  model.disconnect();
  assert.deepEqual(
    [model.get("kernel"), model.kernel(), model.settled(), widget.listening()],
    ["lost", null, true, 0],
  );
  assertShows(model, model.settings(), "page");
  widget.answer(underWay, { factor: 2 });
  await settled();
  assertShows(model, model.settings(), "page");
  stride(model, 3);
  assertShows(model, model.settings(), "page");
  const again = widgetOf(START);
  model.connect(new KernelClient(again));
  assert.deepEqual([model.get("kernel"), again.asks().length], ["ok", 1]);
  assert.equal(strideOf(again.settingsOf(again.asks()[0])), 3);
  again.answer();
  await settled();
  assertShows(model, model.settings(), "torch");
  model.send({ type: "undo" });
  assert.equal(strideOf(model.settings()), 1, "the way back is the page's own");
});

test("a kernel that comes again computes on the device that was chosen, if it can; the first one where it was set to", () => {
  const reported = { ...START, device: "cuda" };
  for (const [devices, device] of [
    [["cpu", "cuda"], "cpu"],
    [["cuda"], "cuda"],
  ]) {
    const model = createPageModel(dataOf(START, { ground: {}, live: true }));
    model.connect(
      Object.assign(new KernelClient(widgetOf(reported)), { facts: { devices: ["cpu", "cuda"] } }),
    );
    assert.equal(model.settings().device, "cuda");
    model.change((settings) => [replaced(settings, { device: "cpu" }), []]);
    model.disconnect("away");
    model.connect(Object.assign(new KernelClient(widgetOf(reported)), { facts: { devices } }));
    assert.equal(model.settings().device, device);
  }
});

test("torch's numbers are held against the page's own when nothing moves any more", async () => {
  const { model, widget, rest } = opened();
  stride(model, 1);
  widget.answer();
  await settled();
  rest();
  assert.equal(model.get("values").truth_ok, true);
  stride(model, 3);
  widget.answer(undefined, { spoil: (wire) => wire.tensors.grad_weight.setFloat64(0, 77.5, true) });
  await settled();
  rest();
  assert.equal(model.get("values").truth_ok, false);
  assert.match(model.get("values").truth, /grad_weight/);
});
