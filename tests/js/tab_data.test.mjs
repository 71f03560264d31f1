// The data of a tab and what was chosen in it, with a kernel that the test plays.
import assert from "node:assert/strict";
import test from "node:test";

import { KernelClient, messageOf } from "../../convviz/web/numbers/ask_kernel.js";
import { createPageModel } from "../../convviz/web/numbers/page_model.js";
import { TabData, isSlow } from "../../convviz/web/page/tab_data.js";
import { BASE_STATE } from "../../convviz/web/rules/settings_link.js";
import { dataOf, settled, timersByHand } from "./page_model_fixtures.mjs";

const { tab, ...FIRST } = BASE_STATE;
const at = (digit) => ({ ...FIRST, digit });

/** A tab, what its pane was given last, and the questions that its kernel got, which the test answers. */
function opened(name, { settings = FIRST, chosen = {}, slow = false } = {}) {
  const { later, end: rest } = timersByHand();
  const pane = {};
  const made = { questions: [], said: [], pane, rest, now: settings, settled: true };
  const kernel = {
    request: (message) =>
      new Promise((resolve, reject) => {
        made.questions.push(message);
        made.answer = (data = {}) => {
          resolve({ message: { data }, buffers: [] });
          return settled();
        };
        made.refuse = (sentence) => {
          reject(new Error(sentence));
          return settled();
        };
      }),
  };
  const model = {
    kernel: () => kernel,
    settings: () => ({ tab: name, ...made.now }),
    settled: () => made.settled,
    say: (...reported) => made.said.push(reported),
    chosen: () => chosen,
    choose: (_, choices) => (made.kept = choices),
  };
  made.tab = new TabData(model, name, (changes) => Object.assign(pane, changes), slow, later);
  made.move = (next) => {
    made.now = next;
    made.tab.follow();
  };
  made.asked = () =>
    made.questions.map(({ settings, choices }) => [settings.digit ?? BASE_STATE.digit, choices]);
  made.tab.hurry();
  return made;
}

test("a question has the settings and what was chosen, and its answer is shown as the next step", async () => {
  const made = opened("code", { settings: at(7) });
  assert.deepEqual(made.questions, [
    { type: "tab", tab: "code", settings: { ...messageOf(at(7)), tab: "code" }, choices: {} },
  ]);
  assert.equal(made.pane.busy, true);
  await made.answer({ ways: 1 });
  assert.deepEqual([made.pane.data, made.pane.busy], [{ ways: 1, step: 1 }, false]);
  made.tab.hurry(); // opened again
  made.move({ ...at(7), theme: "dark", tab: "code" });
  assert.equal(made.questions.length, 1, "what is there is not asked for again");
});

test("one question is under way, and the newest settings and choices wait", async () => {
  const made = opened("code");
  for (const digit of [4, 5, 6]) made.move(at(digit));
  made.tab.choose({ numbers: true });
  assert.equal(made.questions.length, 1);
  await made.answer({ of: 3 });
  assert.deepEqual([made.pane.data.of, made.pane.busy], [3, true]);
  assert.deepEqual(made.asked(), [
    [3, {}],
    [6, { numbers: true }],
  ]);
  await made.answer({ of: 6 });
  assert.deepEqual([made.pane.data.of, made.pane.busy, made.questions.length], [6, false, 2]);
});

test("nothing is asked before torch has the settings' numbers, nor where they are back where they were", async () => {
  const made = opened("code");
  await made.answer();
  made.settled = false;
  made.move(at(5));
  assert.deepEqual([made.questions.length, made.pane.busy], [1, true]);
  made.move(at(3)); // refused
  made.settled = true;
  made.tab.follow();
  assert.deepEqual([made.questions.length, made.pane.busy], [1, false]);
});

test("what takes long waits until the sliders rest, but not where it is opened or chosen in", async () => {
  const made = opened("double", { slow: true });
  await made.answer();
  for (const digit of [4, 5, 6]) made.move(at(digit));
  assert.deepEqual([made.questions.length, made.pane.busy], [1, true]);
  made.tab.follow(); // as the board points at more
  made.rest();
  assert.deepEqual(made.asked().at(-1), [6, {}]);
  made.move(at(7));
  await made.answer();
  assert.equal(made.questions.length, 2, "the move has yet to rest");
  made.tab.choose({ of: "grad_weight" });
  assert.deepEqual(made.asked().at(-1), [7, { of: "grad_weight" }]);
  await made.answer();
  made.rest();
  assert.equal(made.questions.length, 3);
});

test("a tab that was closed asks no more, whatever is under way or waits", async () => {
  for (const under_way of [true, false]) {
    const made = opened("double", { slow: true });
    if (!under_way) await made.answer();
    made.move(at(5));
    made.move({ ...at(6), tab: "" });
    if (under_way) await made.answer();
    made.rest();
    assert.equal(made.questions.length, 1);
    made.now = at(6);
    made.tab.hurry();
    assert.equal(made.questions.length, 2, "opened again it does");
  }
});

test("what takes long from some size on waits where it is as large", () => {
  const large = { ...BASE_STATE, spec: { ...BASE_STATE.spec, input_size: [32, 32] } };
  assert.deepEqual(
    [BASE_STATE, large].map((settings) => isSlow(1000, settings)),
    [false, true],
  );
  assert.deepEqual(
    [undefined, false, true].map((slow) => isSlow(slow, large)),
    [false, false, true],
  );
});

test("a choice that is refused goes back to what is shown, and the sentence is said", async () => {
  const made = opened("linear");
  made.tab.choose({ batch: 2 });
  await made.answer();
  await made.answer({ batch: 2 });
  made.tab.choose({ batch: 99 });
  assert.deepEqual(made.pane.choices, { batch: 99 });
  await made.refuse("batch is 1 to 4");
  assert.deepEqual(
    [made.pane.choices, made.pane.data.batch, made.pane.data.error],
    [{ batch: 2 }, 2, undefined],
  );
  assert.deepEqual(
    [made.said, made.pane.busy, made.questions.length],
    [[["batch is 1 to 4", true]], false, 3],
  );
  made.tab.choose({ loss: "sum" });
  assert.deepEqual(made.asked().at(-1)[1], { batch: 2, loss: "sum" });
});

test("what was chosen is kept for whoever goes on from there, in another language or when the tab is opened again", async () => {
  const made = opened("linear", { chosen: { batch: 3 } });
  assert.deepEqual(made.asked(), [[3, { batch: 3 }]]);
  made.tab.choose({ loss: "sum" });
  assert.deepEqual(made.kept, { batch: 3, loss: "sum" });
  const [model, next] = [1, 2].map(() => createPageModel(dataOf(BASE_STATE)));
  model.choose("linear", made.kept);
  next.goOnFrom(JSON.parse(JSON.stringify(model.kept())));
  assert.deepEqual([next.chosen("linear"), next.chosen("code")], [made.kept, {}]);
});

test("settings that cannot be shown are a sentence in the pane, which keeps its picture and goes on", async () => {
  const made = opened("check");
  await made.answer({ cases: 5 });
  made.move(at(5));
  made.rest();
  await made.refuse("no memory");
  assert.deepEqual(
    [made.pane.data, made.said, made.pane.busy],
    [{ cases: 5, step: 2, error: "no memory" }, [], false],
  );
  made.move(at(6));
  made.rest();
  await made.answer({ cases: 6 });
  assert.deepEqual(made.pane.data, { cases: 6, step: 3 });
});

test("who comes after torch was away is asked anew, with what was chosen meanwhile; a late answer is dropped", async () => {
  const made = opened("code");
  const { answer } = made;
  made.tab.leave();
  assert.equal(made.pane.busy, false);
  made.tab.choose({ numbers: true });
  assert.deepEqual(made.asked().at(-1), [3, { numbers: true }]);
  await answer({ of: "before" });
  assert.equal(made.pane.data, undefined);
  await made.answer({ of: "now" });
  assert.equal(made.pane.data.of, "now");
  made.tab.leave();
  made.tab.hurry();
  assert.equal(made.questions.length, 3, "also where nothing has changed: who comes may compute elsewhere");
});

test("a question about what is shown is asked of the settings that it was made from", async () => {
  const made = opened("graph");
  await made.answer();
  made.move(at(5));
  made.tab.ask({ type: "node", id: "n1" });
  assert.deepEqual(made.questions.at(-1), {
    type: "tab",
    tab: "graph",
    settings: { tab: "graph" },
    choices: {},
    ask: { type: "node", id: "n1" },
  });
});

test("an answer finds its request by page and number; what is another page's is nobody's here", async () => {
  const listeners = {};
  const sent = [];
  const widget = {
    get: () => ({}),
    on: (event, listener) => (listeners[event] = listener),
    off() {},
    send: (...all) => sent.push(all),
  };
  const kernel = new KernelClient(widget);
  const hear = (message, buffers = []) => listeners["msg:custom"](message, buffers);
  const bytes = new ArrayBuffer(3);
  const [first, second, third] = [
    kernel.request({ type: "python" }),
    kernel.request({ type: "picture" }, [bytes]),
    kernel.request({ type: "page" }),
  ];
  const [{ page }] = sent[0];
  assert.deepEqual(sent[1], [{ type: "picture", page, id: 2 }, undefined, [bytes]]);
  hear({ type: "refused", id: 2, page: "another", sentence: "not mine" });
  const view = new DataView(bytes);
  hear({ type: "picture", id: 2, page, source: 7 }, [view]);
  assert.deepEqual(await second, { message: { type: "picture", id: 2, page, source: 7 }, buffers: [view] });
  hear({ type: "refused", id: 1, page, sentence: "too many numbers" });
  await assert.rejects(first, /^Error: too many numbers$/);
  kernel.close();
  await assert.rejects(third, /kernel ended/);
});
