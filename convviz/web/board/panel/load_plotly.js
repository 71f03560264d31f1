// Plotly, once a page: the first board asks for it.
import { importText, unpack } from "../../base/import_script_text.js";

const KEY = Symbol.for("convviz.plotly.4.1.1 to come"); // the promise of its functions
const ASK_AGAIN = 10_000; // milliseconds; a kernel answers one a second at most

/**
 * @typedef {{ react: (el: Element, data: object[], layout: object, config: object) => Promise<unknown>,
 *   purge: (el: Element) => void, toImage: (figure: object, options: object) => Promise<string> }} Plotly
 *   what is used
 * @typedef {Plotly | null} Library null: the page was made without it
 * @typedef {typeof globalThis & { Plotly?: unknown, [KEY]?: Promise<Library> }} Page
 */

/** @typedef {() => Plotly | Promise<Plotly>} PlotlyCode evaluates to plotly's functions */

/** @param {ArrayBuffer | DataView<ArrayBuffer> | PlotlyCode} given @returns {Promise<PlotlyCode>} */
async function codeOf(given) {
  if (typeof given === "function") return given;
  const source = await unpack(given);
  // A UMD bundle exports into a given `module`.
  const wrapped = `const module = { exports: {} };\n${source}\nexport default module.exports;`;
  return async () => (await importText(wrapped)).default;
}

/** Runs plotly's code and then restores the global `Plotly`. @param {PlotlyCode} code */
async function evaluate(code) {
  const before = Object.getOwnPropertyDescriptor(globalThis, "Plotly");
  try {
    return await code();
  } finally {
    if (before) Object.defineProperty(globalThis, "Plotly", before);
    else delete (/** @type {Page} */ (globalThis).Plotly);
  }
}

/** After a failure the page may try again. @param {Parameters<typeof codeOf>[0]} given */
async function evaluated(given) {
  try {
    return await evaluate(await codeOf(given));
  } catch (error) {
    delete (/** @type {Page} */ (globalThis)[KEY]);
    throw error;
  }
}

/** @param {Model} model @returns {{ ready: Promise<Library>, cancel: () => void }} */
export function loadPlotly(model) {
  const page = /** @type {Page} */ (globalThis);
  if (page[KEY]) return { ready: page[KEY], cancel() {} };
  let cancel = () => {};
  const answer = new Promise((resolve, reject) => {
    const ask = () => model.send({ type: "plotly" });
    const stop = () => {
      end();
      clearInterval(again);
    };
    const end = model.on(
      "msg:custom",
      (/** @type {{ type: string }} */ { type }, /** @type {Buffers} */ buffers) => {
        if (type !== "plotly") return;
        stop();
        resolve(buffers[0]);
      },
    );
    cancel = () => {
      stop();
      reject(new Error("the board was closed"));
    };
    const again = setInterval(ask, ASK_AGAIN);
    ask();
  });
  // Whichever board's answer comes first serves all.
  const ready = answer.then((given) => (page[KEY] ??= given ? evaluated(given) : Promise.resolve(null)));
  return { ready, cancel };
}
