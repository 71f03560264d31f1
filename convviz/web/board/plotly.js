// @ts-check
// Plotly, once a page: the first board asks the kernel for it, the others use the same copy.
import { importText, unpack } from "../base/imported.js";

const KEY = Symbol.for("convviz.plotly.4.1.1 to come"); // the promise of its functions
const ASK_AGAIN = 10_000; // milliseconds without an answer: the kernel sends one a second at most

/**
 * @typedef {{ react: (el: Element, data: object[], layout: object, config: object) => Promise<unknown>,
 *   purge: (el: Element) => void, toImage: (figure: object, options: object) => Promise<string> }} Plotly
 *   what of it is used
 * @typedef {typeof globalThis & { Plotly?: unknown, [KEY]?: Promise<Plotly> }} Page
 */

/**
 * @typedef {() => Plotly | Promise<Plotly>} PlotlyCode what a page's own script has of plotly: its call
 *   returns plotly's functions
 */

/**
 * What makes plotly of what a page was given.
 * @param {ArrayBuffer | DataView<ArrayBuffer> | PlotlyCode} given packed text, or code
 * @returns {Promise<PlotlyCode>}
 */
async function codeOf(given) {
  if (typeof given === "function") return given;
  const source = await unpack(given);
  // The bundle is a UMD file: given a module object it exports itself instead of setting a global name.
  const wrapped = `const module = { exports: {} };\n${source}\nexport default module.exports;`;
  return async () => (await importText(wrapped)).default;
}

/** Evaluate the vendored bundle without leaving anything behind in the page. @param {PlotlyCode} code */
async function evaluate(code) {
  const before = Object.getOwnPropertyDescriptor(globalThis, "Plotly");
  try {
    return await code();
  } finally {
    if (before) Object.defineProperty(globalThis, "Plotly", before);
    else delete (/** @type {Page} */ (globalThis).Plotly);
  }
}

/**
 * Plotly's functions, made of what a page was given; a page that has none in the end may try again.
 * @param {Parameters<typeof codeOf>[0]} given
 */
async function evaluated(given) {
  try {
    return await evaluate(await codeOf(given));
  } catch (error) {
    delete (/** @type {Page} */ (globalThis)[KEY]);
    throw error;
  }
}

/**
 * Get plotly's functions.
 * @param {import("../numbers/model.js").Model} model asked for the bundle if the page has none yet
 * @returns {{ ready: Promise<Plotly>, cancel: () => void }} cancel when the board goes before the answer came
 */
export function loadPlotly(model) {
  const page = /** @type {Page} */ (globalThis);
  if (page[KEY]) return { ready: page[KEY], cancel() {} };
  let cancel = () => {};
  let again = 0;
  const answer = new Promise((resolve, reject) => {
    /** @param {{ type: string }} message @param {DataView<ArrayBuffer>[]} buffers */
    const receive = (message, buffers) => {
      if (message.type !== "plotly") return;
      model.off("msg:custom", receive);
      clearInterval(again);
      resolve(buffers[0]);
    };
    cancel = () => {
      model.off("msg:custom", receive);
      clearInterval(again);
      reject(new Error("the board was closed"));
    };
    model.on("msg:custom", receive);
    model.send({ type: "plotly" });
    again = setInterval(() => model.send({ type: "plotly" }), ASK_AGAIN);
  });
  // Two boards that open together may both ask; whichever answer is there first serves the page.
  const ready = answer.then((given) => (page[KEY] ??= evaluated(given)));
  return { ready, cancel };
}
