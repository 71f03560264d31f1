// What a visitor reads first: a question, and below it what was just done, or what the app was given to say,
// or its own sentence. A lesson's card takes their place.
import ARRIVAL from "../../facts/words/arrival.json" with { type: "json" };
import WORDS from "../../facts/words/lead.json" with { type: "json" };
import { element, makeButton, setText } from "../base/dom.js";
import { setRich } from "../base/rich_text.js";
import { sentences } from "../base/words.js";
import { isSymmetric } from "../numbers/broken_words.js";
import { isSingleOne } from "../rules/change.js";
import { shapeOfOutput } from "../rules/settings.js";

const say = sentences(WORDS);
const sayOfArrival = sentences(ARRIVAL);

/** @import { Model } from "../numbers/model.js" */

/**
 * @param {Model} model
 * @param {(event: string, listener: () => void) => void} follow listens as long as the view is there
 * @param {HTMLElement} lesson the place of a lesson's card @param {() => void} watch plays the arrival again
 */
export function createLead(model, follow, lesson, watch) {
  const question = element("span", {});
  const heading = element("h2", { class: "cv-question" }, question, " ", createWatch(watch));
  const words = element("p", { class: "cv-sentence" });
  const notice = element("p", { class: "cv-notice", role: "status" });

  const introduce = () => setRich(words, model.get("introduction") || say("sentence"));

  function ask() {
    const settings = model.settings();
    const weight = model.shown()?.numbers.stages.weight;
    const turns = !weight || !isSymmetric(weight); // else dragging the 1 would show nothing of it
    const { broken } = model.get("values");
    const isTold = model.get("revealed").includes(settings.broken);
    const riddle = broken?.alike ? "broken.alike" : isTold ? "broken.told" : "broken";
    const kind = kindOf(settings, turns);
    setText(question, say(`question.${kind === "broken" ? riddle : kind}`));
  }

  function tell() {
    // The role before its words: they are what is announced.
    notice.setAttribute("role", model.get("failed") ? "alert" : "status");
    setText(notice, model.get("notice"));
    notice.dataset.failed = String(model.get("failed"));
  }

  follow("change:introduction", introduce);
  follow("settings", ask);
  follow("change:values", ask); // by then there is a kernel to look at
  follow("change:revealed", ask);
  follow("change:notice", tell);
  follow("change:failed", tell); // what the page's address could not say is there by now
  return element("div", { class: "cv-lead" }, heading, words, notice, lesson);
}

/**
 * What is asked first: of a puzzle nothing that gives it away.
 * @param {import("../rules/settings.js").Settings} settings
 * @param {boolean} turns whether the kernel is another one when it is rotated
 */
function kindOf(settings, turns) {
  if (settings.transposed) return "transposed";
  if (settings.broken) return "broken";
  const [height, width] = shapeOfOutput(settings).slice(2);
  if (!isSingleOne(settings) || height * width === 1) return "other"; // a 1 alone can be dragged nowhere
  return turns ? "single" : "alike";
}

/** @param {() => void} watch */
function createWatch(watch) {
  return makeButton(
    { class: "cv-watch", title: sayOfArrival("watch.title") },
    [element("span", { "aria-hidden": "true" }, "\u21bb "), element("span", {}, sayOfArrival("watch"))],
    watch,
  );
}
