// @ts-check
// The scripts of the tabs, each asked for when its tab is first opened: of the kernel, or
// as a file beside the page.
import WORDS from "../../facts/words/pane.json" with { type: "json" };
import { importText, unpack } from "../base/imported.js";
import { sentences } from "../base/words.js";
import { fetchFile } from "./fetched.js";

const say = sentences(WORDS);
// The kernel answers once a second, all pages at once: one that came too late asks again.
const AGAIN_MS = 2_000;
const PATIENCE_MS = 10_000; // a kernel that computes something long answers after it

/**
 * @import { Model } from "../numbers/model.js"
 * @import { TabScript, TabScripts } from "../tabs/opening.js"
 * @typedef {{ message: any, buffers: DataView<ArrayBuffer>[] }} Reply
 */

/**
 * Make what brings the scripts of one app's tabs; each comes once, for all of its views.
 * @param {Model} model @param {Record<string, string>} [addresses] tab → its file, where the page has files
 * @returns {TabScripts}
 */
export function createTabScripts(model, addresses) {
  /** @type {Map<string, TabScript>} */
  const loaded = new Map();
  const ask = addresses
    ? (/** @type {string} */ name, /** @type {(text: Promise<string>) => void} */ take) =>
        fetchScript(addresses[name], take)
    : (/** @type {string} */ name, /** @type {(text: Promise<string>) => void} */ take) =>
        askKernel(
          model,
          { type: "script", tab: name },
          (coming) => take(coming.then(({ buffers }) => unpack(buffers[0]))),
          {
            lost: say("script.lost"),
            late: say("script.late"),
          },
        );
  return {
    now: (name) => loaded.get(name),
    ask(name, { there, failed }) {
      let waits = true;
      const stop = ask(name, async (text) => {
        try {
          const script = loaded.get(name) ?? (await importText(await text));
          loaded.set(name, script);
          if (waits) there(script);
        } catch (error) {
          if (waits) failed(/** @type {Error} */ (error).message);
        }
      });
      return () => {
        waits = false;
        stop();
      };
    },
  };
}

/**
 * @param {string} address @param {(text: Promise<string>) => void} take @returns {() => void} stop waiting
 */
function fetchScript(address, take) {
  take(fetchFile(address, "text", (why) => say("script.failed", { why })));
  return () => {};
}

/**
 * Ask the kernel, and again when another one is there: what comes late is taken all the same.
 * @param {Model} model @param {Record<string, string>} question its answer repeats it
 * @param {(coming: Promise<Reply>) => void} take
 * @param {{ lost: string, late: string }} told what is said where there is no kernel, and where it takes long
 * @returns {() => void} stop waiting
 */
export function askKernel(model, question, take, told) {
  /** @type {number[]} */
  let timers = [];
  const fail = (/** @type {string} */ sentence) => take(Promise.reject(new Error(sentence)));

  /** @param {any} message @param {DataView<ArrayBuffer>[]} buffers */
  function receive(message, buffers) {
    if (Object.entries(question).some(([key, value]) => message[key] !== value)) return;
    stop();
    take(Promise.resolve({ message, buffers }));
  }

  function ask() {
    timers.forEach(clearTimeout);
    const kernel = model.kernel();
    if (!kernel) return fail(told.lost);
    const send = () => kernel.send(question);
    timers = [window.setInterval(send, AGAIN_MS), window.setTimeout(() => fail(told.late), PATIENCE_MS)];
    send();
  }

  function stop() {
    timers.forEach(clearTimeout);
    model.off("msg:custom", receive);
    model.off("change:kernel", ask);
  }

  model.on("msg:custom", receive);
  model.on("change:kernel", ask);
  ask();
  return stop;
}
