// @ts-check
// A server as a maker of numbers: one websocket for as long as the page lives. Its workers keep nothing of a page, so
// what has no answer yet is sent again over the next connection, to whoever is there.
import WORDS from "../../../facts/words/served.json" with { type: "json" };
import { createPauses } from "../base/pauses.js";
import { sentences } from "../base/words.js";
import { differenceWords } from "./compare.js";
import { messageOf, numbersOf } from "./from_kernel.js";
import { pack, unpack } from "./packed.js";

/**
 * @import { Kernel, Listener, Reply } from "./from_kernel.js"
 * @typedef {{ binaryType: string, onopen: ((event: any) => void) | null,
 *   onmessage: ((event: any) => void) | null, onclose: ((event: any) => void) | null,
 *   send: (frame: string | ArrayBuffer) => void, close: () => void }} Socket of a WebSocket what is used here
 * @typedef {{ connect: () => Socket, status: () => Promise<number>, host: string }} Place where torch is asked; status: of
 *   the answer to who asks there without a websocket; rejects where there is none
 * @typedef {{ frame: string | ArrayBuffer, type: string, sent: boolean, resolve: (reply: Reply) => void,
 *   reject: (error: Error) => void }} Asked
 */

const say = sentences(WORDS);
const PATIENCE_MS = 15_000; // who is in line hears so every few seconds, then has an answer or a refusal within ten
const LOADS_MS = 120_000; // once open: a server's first start on a machine reads torch from a cold disk
const NO_WORKER = 1013; // why the server closes

/** Why there is no connection, as the server tells it to who asks without one. @param {Place} place @param {boolean} came whether there was one */
async function reason({ status, host }, came) {
  try {
    const found = await status();
    if (found === 400) return say(came ? "live.reconnecting" : "live.swallowed"); // it was asked, and saw no wish for a websocket
    return found === 403 ? say("live.foreign", { host }) : say("live.refused", { status: found });
  } catch {
    return say("live.gone");
  }
}

/**
 * Talk to the server that this page came from, from `open` on.
 * @param {Place} place @param {{ language: string, version: string }} page
 * @param {(state: "ok" | "away", reason: string) => void} listener hears whether torch can be asked; reason: why not
 * @returns {Kernel & { open: () => void, shut: () => void }} open: also at once what else is tried again later; shut: until then
 */
export function createServer(place, { language, version }, listener) {
  const pauses = createPauses();
  /** @type {Map<number, Asked>} in the order in which they were asked */
  const asked = new Map();
  /** @type {Socket | null} */
  let socket = null;
  /** @type {any} of the server that answers now */
  let facts = null;
  /** @type {Listener | null} */
  let heard = null;
  let lastId = 0;
  let ends = 0; // connections that are over
  let timer = 0; // until it is tried again
  let patience = 0;
  let opened = false;

  /** Wait for the next frame, though not for ever: after a sleep a connection looks alive, and leads nowhere. */
  function expect() {
    clearTimeout(patience);
    const waits = !facts || [...asked.values()].some(({ sent }) => sent);
    if (socket && waits) patience = setTimeout(() => lose(""), opened && !facts ? LOADS_MS : PATIENCE_MS);
  }

  /** Send what is not under way: of a type one at a time, because the server would drop the older one, or refuse the newer. */
  function flush() {
    for (const each of asked.values()) {
      const waits = [...asked.values()].some(({ type, sent }) => type === each.type && sent);
      if (!facts || each.sent || waits) continue;
      socket?.send(each.frame);
      each.sent = true;
    }
    expect();
  }

  /** @param {Reply} reply */
  function hear({ message, buffers }) {
    const each = asked.get(message.id);
    if (message.type === "facts") meet(message);
    else if (each) {
      asked.delete(message.id);
      if (message.type === "refused") each.reject(new Error(message.sentence));
      else each.resolve({ message, buffers });
    } else if (typeof message.id !== "number") heard?.replied(message, buffers);
    flush();
  }

  /** @param {any} told what the server says first */
  function meet(told) {
    if (told.version !== version) return lose(say("live.version", { page: version, server: told.version }));
    facts = told;
    pauses.reset();
    listener("ok", "");
  }

  function open() {
    if (socket) return;
    clearTimeout(timer);
    const made = place.connect();
    made.binaryType = "arraybuffer";
    made.onmessage = ({ data }) => void (socket === made && hear(unpack(data)));
    made.onopen = () => {
      opened = true;
      if (socket === made) expect();
    };
    made.onclose = ({ code }) => void (socket === made && lose(code === NO_WORKER ? say("live.failed") : ""));
    [socket, opened] = [made, false];
    expect();
  }

  /** No connection any more. @param {string} why where that is known */
  function lose(why) {
    const came = opened;
    if (came || why) listener("away", why || say("live.reconnecting"));
    const end = shut();
    timer = setTimeout(open, pauses.next());
    if (!why) reason(place, came).then((found) => !facts && end === ends && listener("away", found));
  }

  function shut() {
    clearTimeout(timer);
    clearTimeout(patience);
    const old = socket;
    [socket, facts] = [null, null];
    old?.close();
    for (const each of asked.values()) each.sent = false;
    return ++ends;
  }

  /** @param {any} message @param {ArrayBuffer[]} [buffers] @returns {Promise<Reply>} */
  function request(message, buffers = []) {
    const id = ++lastId;
    const whole = { ...message, id, language };
    const frame = buffers.length ? pack(whole, buffers) : JSON.stringify(whole);
    return new Promise((resolve, reject) => {
      asked.set(id, { frame, type: message.type, sent: false, resolve, reject });
      flush();
    });
  }

  return {
    open,
    shut: () => void shut(),
    request,
    async ask(settings, k) {
      for (const [id, { type }] of asked) if (type === "compute") asked.delete(id); // nobody waits for it any more
      const { message, buffers } = await request({ type: "compute", settings: messageOf(settings) });
      const tensors = Object.fromEntries(
        message.tensors.map((/** @type {string} */ name, /** @type {number} */ i) => [name, buffers[i]]),
      );
      return numbersOf(settings, { ...message, page: "", k, tensors });
    },
    send: (message, buffers = []) =>
      void (
        facts &&
        socket?.send(buffers.length ? pack(message, buffers) : JSON.stringify({ ...message, language }))
      ),
    follow: (next) => void (heard = next),
    get facts() {
      return facts ?? {};
    },
    now: () => null,
    differs: differenceWords,
    widgetManager: undefined,
    introduction: () => "",
    notice: () => ["", false],
    close: () => void shut(),
  };
}
