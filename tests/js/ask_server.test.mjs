// The page and a server that the test plays: it answers, refuses, is silent, goes, and comes back as another version.
import assert from "node:assert/strict";
import test from "node:test";

import { fromPage } from "../../convviz/web/numbers/compute_in_page.js";
import { Server } from "../../convviz/web/numbers/ask_server.js";
import { createPageModel } from "../../convviz/web/numbers/page_model.js";
import { packFrame, unpackFrame } from "../../convviz/web/numbers/binary_frames.js";
import { setAxis } from "../../convviz/web/rules/change_settings.js";
import { BASE_STATE } from "../../convviz/web/rules/settings_link.js";
import { dataOf, sentOf, settled } from "./page_model_fixtures.mjs";

const FACTS = { type: "facts", version: "1", devices: ["cpu", "cuda"], device: "cuda", makes_pages: true };
const START = { ...BASE_STATE, dtype: "float64" };
const EXACT = { id: "truth.exact", values: { device: "cpu", dtype: "float64" }, ok: true };

/** The server's end of a websocket. */
class Socket {
  sent = [];
  closed = false;

  send(frame) {
    this.sent.push(
      typeof frame === "string"
        ? JSON.parse(frame)
        : { ...unpackFrame(frame).message, buffers: unpackFrame(frame).buffers },
    );
  }
  close() {
    this.closed = true;
  }
  lose(code = 1006) {
    this.onclose({ code });
  }
  receive(message, buffers = []) {
    this.onopen();
    this.onmessage({ data: packFrame(message, buffers) });
  }
  answer(message) {
    const settings = { ...BASE_STATE, ...message.settings };
    const { stages } = fromPage(settings, 0);
    const tensors = sentOf(stages);
    this.receive(
      { type: "numbers", id: message.id, dtype: "float64", loss: stages.loss, truth: EXACT, tensors },
      tensors.map((name) => Float64Array.from(stages[name].data).buffer),
    );
  }
}

/** A place with sockets, a server's plain answer and timers that run when the test says so. */
function around(context) {
  const sockets = [];
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const made = {
    status: 0,
    sockets,
    reached: {
      host: "there.example",
      connect: () => sockets[sockets.push(new Socket()) - 1],
      status: async () => {
        if (!made.status) throw new TypeError("nobody");
        return made.status;
      },
    },
    last: () => sockets.at(-1),
    later: (ms) => context.mock.timers.tick(ms),
  };
  return made;
}

/** The served page's model at such a server. */
function opened(place) {
  const states = [];
  const model = createPageModel(
    dataOf(START, { ground: {}, live: true }),
    fromPage,
    () => 0,
    () => () => {},
  );
  const server = new Server(place.reached, { language: "zh-Hans", version: "1" }, (state, reason) => {
    states.push([state, reason]);
    if (state === "ok") model.connect(server);
    else model.disconnect("away");
  });
  server.open();
  return {
    model,
    server,
    states,
    stride: (value) => model.change((settings) => setAxis(settings, "stride", 0, value)),
  };
}

test("a frame is packed so that numbers begin where they may, and unpacked as it was", () => {
  for (const text of ["", "a", "é漢", "abcdefgh"]) {
    const frame = packFrame({ text }, [
      new Uint8Array([1, 2, 3]).buffer,
      Float64Array.of(0.1).buffer,
      new ArrayBuffer(0),
    ]);
    const { message, buffers } = unpackFrame(frame);
    assert.deepEqual(message, { text });
    assert.deepEqual(
      buffers.map(({ byteOffset }) => byteOffset % 8),
      [0, 0, 0],
      text,
    );
    assert.deepEqual(
      buffers.map(({ byteLength }) => byteLength),
      [3, 8, 0],
    );
    assert.equal(buffers[1].getFloat64(0, true), 0.1);
  }
});

test("the first settings go out once the server has said what it is, and its numbers replace the page's", async (context) => {
  const place = around(context);
  const { model, states } = opened(place);
  const socket = place.last();
  assert.deepEqual([socket.sent, model.get("kernel"), model.get("values").from], [[], "", "page"]);
  socket.receive(FACTS);
  assert.deepEqual([states, model.get("kernel")], [[["ok", ""]], "ok"]);
  assert.deepEqual(socket.sent, [
    { type: "compute", settings: { dtype: "float64", device: "cuda" }, id: 1, language: "zh-Hans" },
  ]);
  assert.deepEqual([model.kernel().facts.makes_pages, model.settings().device], [true, "cuda"]);
  socket.answer(socket.sent[0]);
  await settled();
  assert.deepEqual([model.get("values").from, model.settled()], ["torch", true]);
});

test("a page whose connection goes computes by itself, and its last move goes out over the next connection", async (context) => {
  const place = around(context);
  const { model, states, stride } = opened(place);
  place.last().receive(FACTS);
  place.last().answer(place.last().sent[0]);
  await settled();
  place.last().lose();
  assert.equal(states.at(-1)[0], "away", "at once");
  assert.match(states.at(-1)[1], /is lost/);
  await settled();
  assert.match(states.at(-1)[1], /server does not answer/);
  assert.deepEqual([model.get("kernel"), model.kernel(), model.get("values").from], ["away", null, "page"]);
  stride(1);
  stride(3);
  assert.deepEqual([model.settled(), model.get("values").from, place.sockets.length], [true, "page", 1]);
  place.later(1500);
  assert.equal(place.sockets.length, 2);
  place.last().receive({ ...FACTS, device: "cpu" });
  assert.deepEqual(
    place.last().sent.map(({ settings }) => [settings.spec.stride[0], settings.device]),
    [[3, "cuda"]],
  );
  place.last().answer(place.last().sent[0]);
  await settled();
  assert.deepEqual([model.get("values").from, states.at(-1)], ["torch", ["ok", ""]]);
});

test("why no connection comes about is said, and tried again in growing pauses or at once when asked", async (context) => {
  const place = around(context);
  const { states, server, model } = opened(place);
  for (const [status, words] of [
    [0, /does not answer/],
    [400, /proxy_set_header/],
    [403, /--allow-host there\.example/],
    [502, /answers 502/],
  ]) {
    place.status = status;
    place.last().lose();
    await settled();
    assert.match(states.at(-1)[1], words);
    assert.equal(model.get("kernel"), "away");
    server.open();
  }
  place.status = 400;
  place.last().onopen();
  place.last().lose(1013);
  await settled();
  assert.match(states.at(-1)[1], /cannot start a worker/);
  server.open();
  place.last().onopen();
  place.last().lose();
  await settled();
  assert.match(states.at(-1)[1], /is lost/, "what was there once is not swallowed");
  server.open();
  const tries = place.sockets.length;
  place.last().lose();
  place.later(14_900);
  assert.equal(place.sockets.length, tries, "the seventh pause is 15 to 45 seconds");
  place.later(30_100);
  assert.equal(place.sockets.length, tries + 1);
});

test("a page of another version says so, asks nothing, and tries again", (context) => {
  const place = around(context);
  const { states, model } = opened(place);
  place.last().receive({ ...FACTS, version: "2" });
  assert.match(states.at(-1)[1], /reload the page/);
  assert.deepEqual([place.last().sent, place.last().closed, model.get("kernel")], [[], true, "away"]);
  place.later(1500);
  place.last().receive(FACTS);
  assert.deepEqual(states.at(-1), ["ok", ""]);
});

test("a connection that leads nowhere is given up, a silent one with nothing asked is not", async (context) => {
  const place = around(context);
  const { states } = opened(place);
  place.later(15_000);
  assert.equal(place.last().closed, true, "it never opened");
  place.later(1500);
  place.last().onopen();
  place.later(60_000);
  assert.equal(place.last().closed, false, "torch may take its time");
  place.later(60_000);
  assert.equal(place.last().closed, true);
  await settled();
  place.later(3000);
  place.last().receive(FACTS);
  const socket = place.last();
  place.later(15_000);
  assert.deepEqual([socket.closed, states.at(-1)[0]], [true, "away"]);
  await settled();
  place.later(1500);
  place.last().receive(FACTS);
  place.last().answer(place.last().sent[0]);
  place.later(60_000);
  assert.deepEqual([place.last().closed, states.at(-1)[0]], [false, "ok"]);
});

test("a request gets its own answer or refusal, tabs go one at a time, and what has no answer is sent again", async (context) => {
  const place = around(context);
  const { server } = opened(place);
  const wait = Promise.all(["code", "graph"].map((tab) => server.request({ type: "tab", tab })));
  const refused = assert.rejects(server.request({ type: "python", settings: {} }), { message: "not so" });
  const picture = server.request({ type: "picture" }, [new Uint8Array([7, 8]).buffer]);
  const first = place.last();
  first.receive(FACTS);
  assert.deepEqual(
    first.sent.map(({ type, tab }) => tab ?? type),
    ["code", "python", "picture", "compute"],
  );
  assert.deepEqual(
    [...new Uint8Array(first.sent[2].buffers[0].buffer, first.sent[2].buffers[0].byteOffset, 2)],
    [7, 8],
  );
  first.receive({ type: "refused", id: first.sent[1].id, sentence: "not so" });
  await refused;
  first.lose();
  place.later(1500);
  const second = place.last();
  second.receive(FACTS);
  assert.deepEqual(
    second.sent.map(({ type, tab }) => tab ?? type),
    ["code", "picture", "compute"],
  );
  for (const { id, tab } of second.sent.slice(0, 2))
    second.receive({ type: tab ? "tab" : "picture", id, tab, data: 1 });
  assert.equal(second.sent.at(-1).tab, "graph");
  second.receive({ type: "tab", id: second.sent.at(-1).id, tab: "graph", data: 2 });
  assert.deepEqual(
    (await wait).map(({ message }) => message.data),
    [1, 2],
  );
  assert.equal((await picture).message.type, "picture");
});

test("who asks twice gets both answers: the server would refuse the second while the first is in line", async (context) => {
  const place = around(context);
  const { server } = opened(place);
  place.last().receive(FACTS);
  const [first, second] = [1, 2].map((digit) => server.request({ type: "page", settings: { digit } }));
  const asked = () => place.last().sent.filter(({ type }) => type === "page");
  assert.deepEqual(
    asked().map(({ settings }) => settings.digit),
    [1],
  );
  place.last().receive({ type: "page", id: asked()[0].id, name: "1" });
  assert.deepEqual(
    asked().map(({ settings }) => settings.digit),
    [1, 2],
  );
  place.last().receive({ type: "page", id: asked()[1].id, name: "2" });
  assert.deepEqual(
    (await Promise.all([first, second])).map(({ message }) => message.name),
    ["1", "2"],
  );
});

test("who hears that it is in line waits on", (context) => {
  const place = around(context);
  opened(place);
  place.last().receive(FACTS);
  for (let seconds = 0; seconds < 60; seconds += 10) {
    place.later(10_000);
    place.last().receive({ type: "waits" });
  }
  assert.equal(place.last().closed, false);
});

test("what a tab with a state is refused reaches the panes, though no request waits for it", (context) => {
  const place = around(context);
  const { model } = opened(place);
  place.last().receive(FACTS);
  const heard = [];
  model.on("msg:custom", (message) => heard.push(message));
  place.last().receive({ type: "refused", id: null, sentence: "two races run already" });
  assert.deepEqual(heard, [{ type: "refused", id: null, sentence: "two races run already" }]);
});

test("what the server pushes reaches the panes, and what a pane does reaches a server that is there", (context) => {
  const place = around(context);
  const { model, server } = opened(place);
  server.send({ type: "act", tab: "race", message: { type: "start" } });
  place.last().receive(FACTS);
  const heard = [];
  model.on("msg:custom", (message) => heard.push(message));
  place.last().receive({ type: "tab", tab: "race", data: { step: 1 } });
  assert.deepEqual(heard, [{ type: "tab", tab: "race", data: { step: 1 } }]);
  server.send({ type: "act", tab: "race", message: { type: "stop" } });
  assert.deepEqual(
    place
      .last()
      .sent.filter(({ type }) => type === "act")
      .map(({ message }) => message.type),
    ["stop"],
  );
});

test("a page that is put aside closes its connection, and does not come back by itself", (context) => {
  const place = around(context);
  const { server } = opened(place);
  place.last().receive(FACTS);
  server.shut();
  assert.equal(place.last().closed, true);
  place.later(120_000);
  assert.equal(place.sockets.length, 1);
  server.open();
  assert.equal(place.sockets.length, 2);
});
