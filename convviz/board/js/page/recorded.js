// @ts-check
// The race that the tab Race shows where there is no kernel: a file beside the page,
// loaded when the tab is opened.
import WORDS from "../../../facts/words/race.json" with { type: "json" };
import { sentences } from "../base/words.js";

const say = sentences(WORDS);

/** What the pane draws. @param {string} address of the file @returns {Promise<any>} */
export async function fetchRecorded(address) {
  try {
    const answer = await fetch(address);
    if (!answer.ok) throw new Error(`${answer.status} ${answer.statusText}`);
    return { state: "alone", recorded: true, race: await answer.json() };
  } catch (error) {
    return { error: say("recorded.failed", { why: /** @type {Error} */ (error).message }) };
  }
}
