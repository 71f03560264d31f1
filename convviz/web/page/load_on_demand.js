// What a page brings when it is wanted: a file beside it, or what the kernel sends.
import { importText, unpack } from "../base/import_script_text.js";
import { say } from "../lesson/sentences.js";
import { sayPane } from "../tabs/pane_sentences.js";

// The kernel answers once a second, all pages at once: one that came too late asks again.
const AGAIN_MS = 2_000;
const PATIENCE_MS = 10_000; // the kernel may be busy with a long computation

/**
 * @import { LessonBundle } from "../lesson/available_lessons.js"
 * @import { TabScript, TabScripts } from "../tabs/tab_placeholder.js"
 */

/**
 * Loads a file that lies beside the page.
 * @template {"arrayBuffer" | "json" | "text"} Kind @param {string} address @param {Kind} kind
 * @param {(why: string) => string} [sentence] @returns {Promise<Awaited<ReturnType<Response[Kind]>>>}
 */
export async function loadFile(address, kind, sentence = (why) => why) {
  try {
    const answer = await fetch(address);
    if (!answer.ok) throw new Error(`${answer.status} ${answer.statusText}`);
    return await answer[kind]();
  } catch (error) {
    throw new Error(sentence(/** @type {Error} */ (error).message));
  }
}

/**
 * Once for all views of an app.
 * @param {Model} model @param {Record<string, string>} [addresses] by tab; else the kernel sends them
 * @returns {TabScripts}
 */
export function createTabScripts(model, addresses) {
  /** @type {Map<string, TabScript>} */
  const loaded = new Map();
  const words = { lost: sayPane("script.lost"), late: sayPane("script.late") };
  return {
    now: (name) => loaded.get(name),
    ask(name, { there, failed }) {
      let waits = true;
      /** @param {Promise<string>} coming */
      const take = async (coming) => {
        try {
          const script = loaded.get(name) ?? (await importText(await coming));
          loaded.set(name, script);
          if (waits) there(script);
        } catch (error) {
          if (waits) failed(/** @type {Error} */ (error).message);
        }
      };
      const unpacked = (/** @type {Promise<Reply>} */ coming) =>
        take(coming.then(({ buffers }) => unpack(buffers[0])));
      let stop = () => {};
      if (addresses) take(loadFile(addresses[name], "text", (why) => sayPane("script.failed", { why })));
      else stop = askKernel(model, { type: "script", tab: name }, unpacked, words);
      return () => {
        waits = false;
        stop();
      };
    },
  };
}

/** @param {Model} model @param {string} name @returns {Promise<LessonBundle>} */
export const lessonFromKernel = (model, name) =>
  new Promise((resolve, reject) => {
    const take = (/** @type {Promise<Reply>} */ coming) =>
      coming.then(({ message }) => resolve(message.bundle), reject);
    const words = { lost: say("brought.lost"), late: say("brought.late") };
    askKernel(model, { type: "lesson", lesson: name }, take, words);
  });

/**
 * Again when another kernel comes; a late answer counts.
 * @param {Model} model @param {Record<string, string>} question repeated by its answer
 * @param {(coming: Promise<Reply>) => void} take @param {{ lost: string, late: string }} words
 * @returns {() => void} stop
 */
function askKernel(model, question, take, { lost, late }) {
  /** @type {number[]} */
  let timers = [];
  const fail = (/** @type {string} */ sentence) => take(Promise.reject(new Error(sentence)));

  /** @param {any} message @param {Buffers} buffers */
  function receive(message, buffers) {
    if (Object.entries(question).some(([key, value]) => message[key] !== value)) return;
    stop();
    take(Promise.resolve({ message, buffers }));
  }

  function ask() {
    timers.forEach(clearTimeout);
    const kernel = model.kernel();
    if (!kernel) return fail(lost);
    const send = () => kernel.send(question);
    timers = [window.setInterval(send, AGAIN_MS), window.setTimeout(() => fail(late), PATIENCE_MS)];
    send();
  }

  function stop() {
    timers.forEach(clearTimeout);
    for (const end of ends) end();
  }

  const ends = [model.on("msg:custom", receive), model.on("change:kernel", ask)];
  ask();
  return stop;
}
