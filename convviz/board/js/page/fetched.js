// @ts-check
// Plotly, as a file beside a live page.
import WORDS from "../../../facts/words/served.json" with { type: "json" };
import { sentences } from "../base/words.js";

const say = sentences(WORDS);

/** @param {string} address of the gzipped bundle @returns {Promise<ArrayBuffer>} */
export async function fetchPlotly(address) {
  try {
    const answer = await fetch(address);
    if (!answer.ok) throw new Error(`${answer.status} ${answer.statusText}`);
    return await answer.arrayBuffer();
  } catch (error) {
    throw new Error(say("live.plotly", { why: /** @type {Error} */ (error).message }));
  }
}
