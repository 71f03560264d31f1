// A server as a maker: one websocket a page. Workers keep no state, so unanswered requests are sent again.
import { createPauses } from "../base/retry_pauses.js";
import { comparisonWords } from "./compare_with_torch.js";
import { messageOf, numbersOf } from "./ask_kernel.js";
import { unpackFrame } from "./binary_frames.js";
import { Requests, framed } from "./unanswered_requests.js";
import { say } from "../base/server_sentences.js";

/**
 * @import { Listener } from "./ask_kernel.js"
 * @typedef {{ binaryType: string, onopen: ((event: any) => void) | null, onmessage: ((event: any) => void) |
 *   null, onclose: ((event: any) => void) | null, send: (frame: string | ArrayBuffer) => void, close: () =>
 *   void }} Socket what is used of a WebSocket
 * @typedef {{ connect: () => Socket, status: () => Promise<number>, host: string }} Place status: of a plain
 *   request there; rejects: nobody
 */

// Whoever is in line hears every few seconds.
const PATIENCE_MS = 15_000;
const LOADS_MS = 120_000; // once open: a first start reads torch from disk
const NO_WORKER = 1013; // the close code TRY_LATER of serve/numbers_socket.py

/** As the server answers a plain request. @param {Place} place @param {boolean} came */
async function reason({ status, host }, came) {
  try {
    const found = await status();
    // no websocket arrived there
    if (found === 400) return say(came ? "live.reconnecting" : "live.swallowed");
    return found === 403 ? say("live.foreign", { host }) : say("live.refused", { status: found });
  } catch {
    return say("live.gone");
  }
}

/** @param {Settings} settings @param {number} k @param {Reply} reply */
function computed(settings, k, { message, buffers }) {
  /** @type {string[]} */
  const names = message.tensors;
  const tensors = Object.fromEntries(names.map((name, i) => [name, buffers[i]]));
  return numbersOf(settings, { ...message, page: "", k, tensors });
}

/** A server's torch, as the page's kernel: connects with `open`, ends with `shut`. @implements {Kernel} */
export class Server {
  differs = comparisonWords;
  widgetManager = undefined;
  #place;
  #page;
  #listener;
  #pauses = createPauses();
  #asked = new Requests();
  /** @type {Socket | null} */
  #socket = null;
  /** @type {any} */
  #facts = null;
  /** @type {Listener | null} */
  #heard = null;
  #ends = 0; // connections that ended
  #timer = 0; // the timer until the next retry
  #patience = 0;
  #opened = false;

  /**
   * @param {Place} place @param {{ language: string, version: string }} page
   * @param {(state: "ok" | "away", reason: string) => void} listener reason: why not
   */
  constructor(place, page, listener) {
    this.#place = place;
    this.#page = page;
    this.#listener = listener;
  }

  /** Not forever: after sleep a dead connection looks alive. */
  #expect() {
    clearTimeout(this.#patience);
    if (!this.#socket || (this.#facts && !this.#asked.isSent())) return;
    const most = this.#opened && !this.#facts ? LOADS_MS : PATIENCE_MS;
    this.#patience = setTimeout(() => this.#lose(""), most);
  }

  #flush() {
    if (this.#facts) this.#asked.flush((frame) => this.#socket?.send(frame));
    this.#expect();
  }

  /** @param {Reply} reply */
  #hear(reply) {
    const { message, buffers } = reply;
    if (message.type === "facts") this.#meet(message);
    else if (!this.#asked.take(reply) && typeof message.id !== "number")
      this.#heard?.replied(message, buffers);
    this.#flush();
  }

  /** @param {any} serverFacts */
  #meet(serverFacts) {
    const { version } = this.#page;
    if (serverFacts.version !== version)
      return this.#lose(say("live.version", { page: version, server: serverFacts.version }));
    this.#facts = serverFacts;
    this.#pauses.reset();
    this.#listener("ok", "");
  }

  /** At once, also before a retry. */
  open = () => {
    if (this.#socket) return;
    clearTimeout(this.#timer);
    const made = this.#place.connect();
    const isNow = () => this.#socket === made;
    made.binaryType = "arraybuffer";
    made.onmessage = ({ data }) => void (isNow() && this.#hear(unpackFrame(data)));
    made.onopen = () => {
      this.#opened = true;
      if (isNow()) this.#expect();
    };
    made.onclose = ({ code }) => void (isNow() && this.#lose(code === NO_WORKER ? say("live.failed") : ""));
    [this.#socket, this.#opened] = [made, false];
    this.#expect();
  };

  /** @param {string} why */
  #lose(why) {
    const came = this.#opened;
    if (came || why) this.#listener("away", why || say("live.reconnecting"));
    this.shut();
    const end = this.#ends;
    this.#timer = setTimeout(this.open, this.#pauses.next());
    if (why) return;
    reason(this.#place, came).then(
      (found) => !this.#facts && end === this.#ends && this.#listener("away", found),
    );
  }

  /** Closes the connection until it is opened again. */
  shut = () => {
    clearTimeout(this.#timer);
    clearTimeout(this.#patience);
    const old = this.#socket;
    [this.#socket, this.#facts] = [null, null];
    old?.close();
    this.#asked.unsend();
    this.#ends += 1;
  };

  /** @type {Kernel["request"]} */
  request = (message, buffers) => {
    const reply = this.#asked.add({ ...message, language: this.#page.language }, buffers);
    this.#flush();
    return reply;
  };

  /** @type {Kernel["ask"]} */
  ask = async (settings, k) => {
    this.#asked.drop("compute");
    return computed(settings, k, await this.request({ type: "compute", settings: messageOf(settings) }));
  };

  /** @type {Kernel["send"]} */
  send = (message, buffers = []) => {
    const whole = buffers.length ? message : { ...message, language: this.#page.language };
    if (this.#facts) this.#socket?.send(framed(whole, buffers));
  };

  /** @param {Listener} next */
  follow(next) {
    this.#heard = next;
  }

  get facts() {
    return this.#facts ?? {};
  }

  close() {
    this.shut();
  }
}
