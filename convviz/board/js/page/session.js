// @ts-check
// The page's way to a kernel: ask the server for one, stand in line, hand it to Voilà's front end, follow it; when it is
// gone, say so and get another one. The board takes part in none of this, and goes on.
import WORDS from "../../../facts/words/served.json" with { type: "json" };
import { sentences } from "../base/words.js";
import { FrontEnd } from "./front_end.js";
import { KernelState } from "./kernel_state.js";
import { watchKernel } from "./kernel_watch.js";
import { createFailures, createPauses } from "./pauses.js";

/** @import { State } from "./kernel_state.js" */

const say = sentences(WORDS);
const SENTENCES = {
  reconnecting: say("live.reconnecting"),
  silent: say("live.silent"),
  ended: say("live.ended"),
  missing: say("live.ended"),
  hung: say("live.hung"),
  failed: say("live.failed"),
  gone: say("live.gone"),
};

const SLOW_AFTER_MS = 30_000;
const TELLS_EVERY_MS = 1000; // a line that moves fast is not read aloud step by step

const FAILURES = new Set(["ended", "hung", "failed"]);

/**
 * Why there is no kernel: it rests, ended, hung, could not be started, the server knows none, or there is no server.
 * @typedef {"idle" | "ended" | "hung" | "failed" | "missing" | "gone"} Trouble
 * @typedef {{ kernel: string, frame: string }} Addresses where a kernel is asked for, and where the front end's frame is
 */

/** A kernel that does not come; its message is what the server says of it. */
class Refusal extends Error {
  /** @param {Trouble} trouble @param {string} [why] */
  constructor(trouble, why = "") {
    super(why);
    this.trouble = trouble;
  }
}

/**
 * Everything between this page and its kernels.
 * @param {Addresses} addresses @param {() => Promise<void>} rests waits until the visitor's hand does
 * @param {(state: State) => void} onState called with every new state of the kernel
 */
export function createSession(addresses, rests, onState) {
  const pauses = createPauses();
  const failures = createFailures();
  let timer = 0;
  let mayLoad = false;

  /** @param {State} state */
  const hear = (state) => {
    if (state === "ok") pauses.reset();
    onState(state);
  };

  /** There is no kernel: try again, if that may help. @param {Trouble} trouble @param {string} why @param {number} worked */
  function over(trouble, why, worked) {
    if (trouble === "idle") return visit.leave("resting", say("live.rests"), true);
    const sentence = why ? say("live.why", { sentence: SENTENCES[trouble], why }) : SENTENCES[trouble];
    if (FAILURES.has(trouble) && failures.add(worked)) return visit.leave("lost", say("live.enough", { sentence }), false);
    timer = window.setTimeout(renew, pauses.next());
    visit.leave("again", trouble === "gone" ? sentence : say("live.again", { sentence }), true);
  }

  let visit = new Visit(addresses, rests, hear, over);

  function renew() {
    clearTimeout(timer);
    visit.end();
    visit = new Visit(addresses, rests, hear, over);
    if (mayLoad) visit.prepare();
    visit.start();
  }

  /** Somebody wants a kernel; who stands in line for one keeps his place. */
  function startAgain() {
    if (visit.isUnderWay()) return;
    failures.reset();
    pauses.reset();
    visit.end();
    document.getElementById("convviz-lost")?.toggleAttribute("hidden", true);
    renew();
  }

  const tryNow = () => visit.state() === "again" && document.visibilityState === "visible" && renew();
  window.addEventListener("online", tryNow);
  document.addEventListener("visibilitychange", tryNow); // of a laptop that wakes up
  window.addEventListener("pagehide", () => {
    clearTimeout(timer);
    visit.end();
  });
  window.addEventListener("pageshow", (event) => event.persisted && startAgain()); // from the browser's cache, without a kernel
  return {
    start: () => visit.start(),
    startAgain,
    prepare() {
      mayLoad = true;
      visit.prepare();
    },
    state: () => visit.state(),
    answered: () => visit.answered(),
  };
}

/** One kernel, from the wish for it to its end. */
class Visit {
  #addresses;
  #rests;
  #state;
  #over;
  /** @type {FrontEnd | null} */
  #frontEnd = null;
  /** @type {WebSocket | null} */
  #socket = null;
  #kernelId = "";
  #ended = false;
  #answeredAt = 0;
  #place = 0;
  #slow = 0;
  #tells = 0;
  #mayLoad = false;
  #isTurn = false;

  /**
   * @param {Addresses} addresses @param {() => Promise<void>} rests @param {(state: State) => void} onState
   * @param {(trouble: Trouble, why: string, worked: number) => void} over decides what follows, when this has ended; worked:
   *   milliseconds since the kernel's first answer, 0 if it gave none
   */
  constructor(addresses, rests, onState, over) {
    this.#addresses = addresses;
    this.#rests = rests;
    this.#over = over;
    this.#state = new KernelState((trouble) => SENTENCES[trouble], { onState, onLose: (trouble) => this.#lose(trouble), calm: true });
  }

  /** What is known of the kernel. */
  state() {
    return this.#state.now;
  }

  /** Whether a kernel is on its way. */
  isUnderWay() {
    return !this.#ended && ["queued", "starting"].includes(this.#state.now);
  }

  /** The kernel gave an answer. */
  answered() {
    this.#answeredAt ||= performance.now();
  }

  /** The page has drawn what it has: from now on the front end is not in its way. */
  prepare() {
    this.#mayLoad = true;
    this.#load();
  }

  async start() {
    this.#state.enter("starting");
    this.#awaitStart();
    try {
      const { kernelId, outputs } = read(await this.#ask());
      this.#kernelId = kernelId;
      if (!this.#mayLoad) await this.#rests();
      this.prepare();
      const kernel = await /** @type {FrontEnd} */ (this.#frontEnd).run(kernelId, outputs);
      if (!this.#ended) watchKernel(kernel, new URL(`api/kernels/${kernelId}`, location.href.split(/[?#]/)[0]), this.#state);
    } catch (error) {
      if (error instanceof Refusal) this.#lose(error.trouble, error.message);
      else this.#lose("failed", String(error));
    } finally {
      clearTimeout(this.#slow);
    }
  }

  /** The page goes, or takes another kernel: this one is of no more use. */
  end() {
    if (this.#ended) return;
    // The connection's end says the same; this call also comes through where a page is only put aside.
    if (this.#kernelId) navigator.sendBeacon(`voila/api/shutdown/${this.#kernelId}`);
    this.#close();
  }

  /** Say what follows. @param {"resting" | "again" | "lost"} last @param {string} sentence @param {boolean} calm */
  leave(last, sentence, calm) {
    this.#state.end(last, sentence, calm);
  }

  /** @param {Trouble} trouble @param {string} [why] */
  #lose(trouble, why = "") {
    if (this.#ended) return;
    this.#close();
    this.#over(trouble, why, this.#answeredAt && performance.now() - this.#answeredAt);
  }

  #close() {
    this.#ended = true;
    clearTimeout(this.#slow);
    clearTimeout(this.#tells);
    this.#socket?.close();
    this.#frontEnd?.remove();
  }

  #awaitStart() {
    clearTimeout(this.#slow);
    this.#slow = window.setTimeout(() => this.#ended || this.#state.showSentence(say("live.slow"), true), SLOW_AFTER_MS);
  }

  /** What the server sends of the notebook, once its kernel runs. @returns {Promise<string>} */
  #ask() {
    const address = new URL(this.#addresses.kernel + location.search, location.href.replace(/^http/, "ws"));
    const socket = new WebSocket(address);
    this.#socket = socket;
    let html = "";
    return new Promise((resolve, reject) => {
      socket.onmessage = ({ data }) => {
        const message = JSON.parse(data);
        if (message.type === "queue") message.place ? this.#stand(message.place) : this.#turn();
        else if (message.type === "lost") this.#lose(message.why);
        else if (message.type === "done") resolve(html);
        else if (message.type === "refused") reject(new Refusal("failed"));
        else html += message.html;
      };
      socket.onclose = () => reject(new Refusal("gone")); // of no meaning once all has been sent
    });
  }

  /** Others come first. @param {number} place in line */
  #stand(place) {
    this.#place = place;
    clearTimeout(this.#slow);
    if (this.#state.now !== "queued") this.#state.enter("queued");
    this.#tells ||= window.setTimeout(() => {
      this.#tells = 0;
      if (this.#state.now === "queued") this.#state.showSentence(say("live.queue", { place: this.#place }), true);
    }, TELLS_EVERY_MS);
  }

  /** It is this page's turn. */
  #turn() {
    if (this.#state.now === "queued") this.#state.enter("starting");
    this.#state.hide();
    this.#awaitStart();
    this.#isTurn = true;
    this.#load();
  }

  /** Load the front end beside the kernel's start; before, its hundred files would be in the way of others' pages. */
  #load() {
    if (this.#mayLoad && this.#isTurn && !this.#ended) this.#frontEnd ??= new FrontEnd(this.#addresses.frame, say("frame"));
  }
}

/** What is needed of the notebook's page, as Voilà's template makes it. @param {string} html */
function read(html) {
  const page = new DOMParser().parseFromString(html, "text/html");
  const config = JSON.parse(page.getElementById("jupyter-config-data")?.textContent ?? "{}");
  const outputs = [...page.querySelectorAll("[cell-index]")];
  const why = outputs.flatMap((cell) => [...cell.querySelectorAll('script[type$="cell-output+json"]')].map(complaintOf)).join(" ");
  if (!config.kernelId || why) throw new Refusal("failed", why);
  return { kernelId: config.kernelId, outputs };
}

/** What a cell wrote to stderr: Voilà puts there what went wrong. @param {Element} script */
function complaintOf(script) {
  const output = JSON.parse(script.textContent ?? "{}");
  return output.name === "stderr" ? [output.text].flat().join("").trim() : "";
}
