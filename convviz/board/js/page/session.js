// @ts-check
// The page's way to a kernel: ask the server for one, hand it to Voilà's front end, follow it; when it is lost, say so and
// offer to try again. The board takes part in none of this, and goes on.
import WORDS from "../../../facts/words/served.json" with { type: "json" };
import { sentences } from "../base/words.js";
import { FrontEnd } from "./front_end.js";
import { KernelState } from "./kernel_state.js";
import { watchKernel } from "./kernel_watch.js";

const say = sentences(WORDS);
/** @type {Record<string, string>} */
const REFUSALS = { room: say("live.room"), failed: say("live.failed") };
const SENTENCES = {
  reconnecting: say("live.reconnecting"),
  silent: say("live.silent"),
  ended: say("live.ended"),
  gone: say("live.gone"),
};

const SLOW_AFTER_MS = 30_000;

/** A kernel that the server will not give; its message is for the visitor. */
class Refusal extends Error {}

/** @import { State } from "./kernel_state.js" */

/**
 * Everything between this page and its kernels.
 * @param {{ kernel: string, frame: string }} addresses where a kernel is asked for, and where the front end's frame is
 * @param {(state: State) => void} onState called with every new state of the kernel
 */
export function createSession(addresses, onState) {
  let visit = new Visit(addresses, onState);
  const startAgain = () => {
    visit.end();
    visit = new Visit(addresses, onState);
    visit.start();
  };
  window.addEventListener("pagehide", () => visit.end());
  window.addEventListener("pageshow", (event) => event.persisted && startAgain()); // from the browser's cache, without a kernel
  return { start: () => visit.start(), startAgain, prepare: () => visit.prepare(), state: () => visit.state() };
}

/** One kernel, from the wish for it to its end. */
class Visit {
  #addresses;
  #state;
  /** @type {FrontEnd | null} */
  #frontEnd = null;
  /** @type {WebSocket | null} */
  #socket = null;
  #kernelId = "";
  #over = false;

  /** @param {{ kernel: string, frame: string }} addresses @param {(state: State) => void} onState */
  constructor(addresses, onState) {
    this.#addresses = addresses;
    this.#state = new KernelState((trouble) => SENTENCES[trouble], onState);
  }

  /** What is known of the kernel. */
  state() {
    return this.#state.now;
  }

  /** Load the front end while the kernel starts. */
  prepare() {
    if (!this.#over) this.#frontEnd ??= new FrontEnd(this.#addresses.frame, say("frame"));
  }

  async start() {
    this.#state.enter("starting");
    this.#state.hide();
    const slow = setTimeout(() => this.#over || this.#state.showSentence(say("live.slow")), SLOW_AFTER_MS);
    try {
      const { kernelId, outputs } = read(await this.#ask());
      this.#kernelId = kernelId;
      this.prepare();
      const kernel = await /** @type {FrontEnd} */ (this.#frontEnd).run(kernelId, outputs);
      if (!this.#over) watchKernel(kernel, new URL(`api/kernels/${kernelId}`, location.href.split(/[?#]/)[0]), this.#state);
    } catch (error) {
      if (this.#over) return;
      this.#state.loseSaying(error instanceof Refusal ? error.message : say("live.why", { sentence: say("live.failed"), why: String(error) }));
    } finally {
      clearTimeout(slow);
    }
  }

  /** The page goes, or takes another kernel: this one is of no more use. */
  end() {
    this.#over = true;
    // The connection's end says the same; this call also comes through where a page is only put aside.
    if (this.#kernelId && this.#state.now !== "lost") navigator.sendBeacon(`voila/api/shutdown/${this.#kernelId}`);
    this.#socket?.close();
    this.#frontEnd?.remove();
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
        if (message.type === "html") html += message.html;
        else if (message.type === "done") resolve(html);
        else reject(new Refusal(REFUSALS[message.why] ?? say("live.failed")));
      };
      socket.onclose = () => reject(new Refusal(say("live.gone"))); // of no meaning once all has been sent
    });
  }
}

/** What is needed of the notebook's page, as Voilà's template makes it. @param {string} html */
function read(html) {
  const page = new DOMParser().parseFromString(html, "text/html");
  const config = JSON.parse(page.getElementById("jupyter-config-data")?.textContent ?? "{}");
  const outputs = [...page.querySelectorAll("[cell-index]")];
  const why = outputs.flatMap((cell) => [...cell.querySelectorAll('script[type$="cell-output+json"]')].map(complaintOf)).join(" ");
  if (!config.kernelId) throw new Refusal(say("live.failed"));
  if (why) throw new Refusal(say("live.why", { sentence: say("live.failed"), why }));
  return { kernelId: config.kernelId, outputs };
}

/** What a cell wrote to stderr: Voilà puts there what went wrong. @param {Element} script */
function complaintOf(script) {
  const output = JSON.parse(script.textContent ?? "{}");
  return output.name === "stderr" ? [output.text].flat().join("").trim() : "";
}
