// What a visitor reads first: a question, and below it what was just done, or what the app was given to say,
// or its own sentence. A lesson's card takes their place.
import ARRIVAL from "../../facts/words/intro_animation.json" with { type: "json" };
import WORDS from "../../facts/words/headline.json" with { type: "json" };
import { element, makeButton, setText } from "../base/dom.js";
import { setRich } from "../base/rich_text.js";
import { sentences } from "../base/sentences.js";
import { isSymmetric } from "../numbers/broken_step_sentences.js";
import { isSingleOne } from "../rules/change_settings.js";
import { shapeOfOutput } from "../rules/settings_and_tensors.js";

const say = sentences(WORDS);
const sayOfArrival = sentences(ARRIVAL);

/**
 * @param {Model} model @param {Follow} follow
 * @param {() => void} watch the arrival again
 */
export function createLead(model, follow, watch) {
  const question = element("span");
  const again = makeButton(
    { class: "cv-watch", title: sayOfArrival("watch.title") },
    [element("span", { "aria-hidden": "true" }, "\u21bb "), element("span", sayOfArrival("watch"))],
    watch,
  );
  const heading = element("h2.cv-question", question, " ", again);
  const words = element("p.cv-sentence");
  const notice = element("p.cv-notice", { role: "status" });

  function ask() {
    const settings = model.settings();
    const weight = model.shown()?.numbers.stages.weight;
    const turns = !weight || !isSymmetric(weight);
    const { broken } = model.get("values");
    const isTold = model.get("revealed").includes(settings.broken);
    const riddle = broken?.alike ? "broken.alike" : isTold ? "broken.told" : "broken";
    const kind = kindOf(settings, turns);
    setText(question, say(`question.${kind === "broken" ? riddle : kind}`));
  }

  /** It opens where it has more lines than room. */
  function measure() {
    if (notice.matches(":focus")) return;
    notice.removeAttribute("tabindex");
    if (notice.scrollHeight > notice.clientHeight + 1) notice.tabIndex = 0;
  }

  function tell() {
    // The role first: words are announced.
    notice.setAttribute("role", model.get("failed") ? "alert" : "status");
    setText(notice, model.get("notice"));
    notice.dataset.failed = String(model.get("failed"));
    measure();
  }

  new ResizeObserver(measure).observe(notice);
  follow("change:introduction", () => setRich(words, model.get("introduction") || say("sentence")));
  follow("settings", ask);
  follow("change:values", ask); // of the kernel
  follow("change:revealed", ask);
  follow("change:notice", tell);
  follow("change:failed", tell); // of the address, too
  return element("div.cv-lead", heading, words, notice);
}

/**
 * Nothing gives a puzzle away.
 * @param {Settings} settings @param {boolean} turns rotation changes the kernel
 */
function kindOf(settings, turns) {
  if (settings.transposed) return "transposed";
  if (settings.broken) return "broken";
  const [height, width] = shapeOfOutput(settings).slice(2);
  if (!isSingleOne(settings) || height * width === 1) return "other"; // not draggable
  return turns ? "single" : "alike";
}
