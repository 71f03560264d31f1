// What a visitor reads first: a question, and below it what was just done, or what the app was given to say,
// or its own sentence. A lesson's title takes their place: it asks another question.
import ARRIVAL from "../../facts/data/words/intro_animation.json" with { type: "json" };
import WORDS from "../../facts/data/words/headline.json" with { type: "json" };
import { element, makeButton, setHidden, setText } from "../base/dom.js";
import { setRich } from "../base/rich_text.js";
import { sentences } from "../base/sentences.js";
import { isSymmetric } from "../numbers/broken_step_sentences.js";
import { shownOne } from "../rules/change_settings.js";
import { featureOf } from "../rules/features.js";
import { shapeOfOutput } from "../rules/settings_and_tensors.js";
import { planeOf } from "../rules/shapes_and_indices.js";
import { shownAt } from "../rules/shown_plane.js";

const say = sentences(WORDS);
/** What the question asks to do first. @type {Record<string, "single" | "alike" | "click">} */
const ACTS = { single: "single", alike: "alike", other: "click", transposed: "click" };
const sayOfArrival = sentences(ARRIVAL);

/**
 * @param {Model} model @param {Follow} follow
 * @param {() => void} watch the arrival again
 * @param {() => string | undefined} lesson title of the one that is open
 * @returns {{ el: HTMLElement, ask: () => void }}
 */
export function createHeadline(model, follow, watch, lesson) {
  const question = element("span");
  const act = element("span.cv-act");
  const again = makeButton(
    { class: "cv-watch", title: sayOfArrival("watch.title") },
    [element("span", { "aria-hidden": "true" }, "\u21bb "), element("span", sayOfArrival("watch"))],
    watch,
  );
  const heading = element("h2.cv-question", question, " ", act, " ", again);
  const words = element("p.cv-sentence");
  const notice = element("p.cv-notice", { role: "status" });

  function ask() {
    const whole = featureOf(model.settings().tab)?.whole; // it stands in the board's place
    for (const part of [act, again, words]) setHidden(part, Boolean(whole));
    const title = whole ?? lesson();
    if (title) setText(question, title);
    else askOfBoard();
  }

  function askOfBoard() {
    const settings = model.settings();
    const there = model.shown();
    const { broken } = model.get("values");
    const isNamed = model.get("revealed").includes(settings.broken);
    const isUnseen = broken?.guilty && !broken.result; // the chosen reading has no such step
    const riddle = isUnseen ? "unseen" : broken?.alike ? "broken.alike" : isNamed ? "broken.told" : "broken";
    const kind = kindOf(settings, there && turns(there.settings, there.numbers.stages.weight));
    setText(question, say(`question.${kind === "broken" ? riddle : kind}`));
    setText(act, ACTS[kind] ? say(`act.${ACTS[kind]}`) : "");
  }

  /** It opens where it has more lines than room. */
  function measure() {
    if (notice.matches(":focus")) return;
    notice.removeAttribute("tabindex");
    if (notice.scrollHeight > notice.clientHeight + 1) notice.tabIndex = 0;
  }

  function showNotice() {
    // The role first: words are announced.
    notice.setAttribute("role", model.get("failed") ? "alert" : "status");
    setText(notice, model.get("notice"));
    notice.dataset.failed = String(model.get("failed"));
    measure();
  }

  new ResizeObserver(measure).observe(notice);
  follow("change:introduction", () => setRich(words, model.get("introduction") || say("sentence")));
  follow("settings", ask);
  follow("change:values", ask); // the question depends on the numbers of the kernel
  follow("change:revealed", ask);
  follow("change:notice", showNotice);
  follow("change:failed", showNotice); // of the address, too
  return { el: element("div.cv-lead", heading, words, notice), ask };
}

/** Rotation is shown, and changes the shown kernel. @param {Settings} settings @param {Tensor} weight */
export function turns({ input_view, plane, spec, transposed }, weight) {
  const data = planeOf(weight, shownAt(plane, spec, "weight", transposed));
  return input_view !== "stamps" && !isSymmetric({ shape: [1, 1, ...weight.shape.slice(2)], data });
}

/**
 * Nothing gives a puzzle away.
 * @param {Settings} settings @param {boolean | null} rotates null: not known yet
 */
export function kindOf(settings, rotates) {
  if (settings.transposed) return "transposed";
  if (settings.broken) return "broken";
  const [height, width] = shapeOfOutput(settings).slice(2);
  if (!shownOne(settings) || height * width === 1) return "other"; // there is no 1 to drag
  return rotates === false ? "alike" : "single";
}
