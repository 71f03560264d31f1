// @ts-check
// Plays a lesson: which step it is, what of it is done, what is asked. It knows no lesson by name and no page: the panel
// shows what `look` says, and every view of one model shows the same.
import GUIDED from "../../../facts/words/guided.json" with { type: "json" };
import WORDS from "../../../facts/words/player.json" with { type: "json" };
import { createValues } from "../base/events.js";
import { parseNumber } from "../base/format.js";
import { sentences } from "../base/words.js";
import { fromPage } from "../numbers/from_page.js";
import { fromLink } from "../rules/link.js";
import { replaced } from "../rules/settings.js";
import { LESSONS } from "./lessons.js";
import { argumentsOf, doIt, isDone, joinedLinks, noteWalk } from "./tasks.js";
import { numberIn, valuesOf } from "./values.js";

const say = sentences(WORDS);
const guided = /** @type {(id: string, values?: Record<string, string | number>) => string} */ (sentences(/** @type {Record<string, string>} */ (GUIDED)));
const CLOSE = 1e-6; // what a number that was typed may be off, as rounding is

/**
 * @import { Model } from "../numbers/model.js"
 * @import { Settings } from "../rules/settings.js"
 * @import { Lesson, Place, Step } from "./lessons.js"
 * @typedef {{ words: string, then: string, done: boolean, walked: string }} SeenTask
 * @typedef {{ words: string, state: "asked" | "wrong" | "right" | "shown", told: string, cell: Place }} SeenQuestion
 * @typedef {{ name: string, title: string, at: number, of: number, heading: string, words: string, focus: string, band: string, highlight: Place[],
 *   tasks: SeenTask[], question: SeenQuestion | null, hidden: Place | null, key: string }} Look key: another one at every start of a step
 * @typedef {ReturnType<typeof createPlayer>} Player
 */

/** What there is to start, by name. @type {{ name: string, title: string, steps: number }[]} */
export const OFFERED = Object.entries(LESSONS).map(([name, { title, steps }]) => ({ name, title: guided(title), steps: steps.length }));

/** What of the board some step explains. */
export const TAUGHT = Object.values(LESSONS).flatMap(({ steps }) => steps.flatMap(({ why }) => why ?? []));

/** The step that answers one of the board's questions, if a lesson has one. @param {string} topic */
export function answerTo(topic) {
  for (const [name, { steps }] of Object.entries(LESSONS)) {
    const at = steps.findIndex(({ why }) => why?.includes(topic));
    if (at >= 0) return { name, at };
  }
  return null;
}

/**
 * Make the player of one model.
 * @param {Model} model
 */
export function createPlayer(model) {
  const values = createValues({ look: /** @type {Look | null} */ (null), left: false });
  /** @type {Lesson | null} */
  let lesson = null;
  let name = "";
  let at = 0;
  let begun = 0; // steps, counted over all lessons
  /** @type {Settings | null} */
  let before = null; // what a lesson was started from
  /** @type {import("./values.js").Seen} */
  let start;
  let done = 0; // tasks of this step
  /** @type {Set<string>} */
  let walked = new Set();
  /** @type {{ state: SeenQuestion["state"], typed: string }} */
  let answer = { state: "asked", typed: "" };
  let entering = false;

  const step = () => /** @type {Lesson} */ (lesson).steps[at];
  const tasks = () => step().do ?? [];
  const situation = () => ({ settings: model.settings(), start: start.settings, selected: model.get("selected"), walked });
  const asks = () => Boolean(step().question) && done >= tasks().length;

  /** The state of a step, where torch computes as it did and in the colours that were chosen. @param {Step} there */
  function stateOf(there) {
    const { device, dtype, theme, tab } = model.settings();
    const { state, notices } = fromLink(joinedLinks(/** @type {Lesson} */ (lesson).base, there.state));
    if (notices.length) throw new Error(say("kept", { why: notices.join(" ") }));
    return replaced({ ...state, device, dtype, theme, tab }, {});
  }

  /** @param {number} wanted the step's index */
  function enter(wanted) {
    const there = /** @type {Lesson} */ (lesson).steps[wanted];
    entering = true;
    model.change(() => {
      const settings = stateOf(there);
      start = { settings, stages: fromPage(settings, 0).stages };
      at = wanted;
      return [settings, []];
    });
    entering = false;
    if (at !== wanted) return;
    [done, walked, answer] = [0, new Set(), { state: "asked", typed: "" }];
    begun += 1;
    noteWalk(walked, start.settings);
    model.select(there.pin ?? null);
    follow();
  }

  /** See what was done, and tell. */
  function follow() {
    if (!lesson || entering) return;
    noteWalk(walked, model.settings());
    while (done < tasks().length && isDone(tasks()[done], situation())) {
      done += 1;
      if (tasks()[done]?.walk) walked = new Set();
    }
    values.put({ look: lookNow() });
  }

  /** What stands there: the model's own numbers, or those of the step's start where it has none. */
  const seenNow = () => {
    const shown = model.shown();
    return shown ? { settings: shown.settings, stages: shown.numbers.stages } : start;
  };

  /** @returns {Look} */
  function lookNow() {
    const { title, words, focus = "", band = focus, highlight = [], pin, question } = step();
    const known = valuesOf(step().values, { now: seenNow(), start });
    const all = { ...known, row: pin?.row ?? 0, column: pin?.column ?? 0 };
    const asked = asks() && question;
    return {
      name,
      title: guided(/** @type {Lesson} */ (lesson).title),
      at: at + 1,
      of: /** @type {Lesson} */ (lesson).steps.length,
      heading: guided(title, all),
      words: guided(words, all),
      focus,
      band,
      highlight,
      tasks: tasks().slice(0, done + 1).map((task, index) => ({
        words: guided(task.words, { ...known, ...argumentsOf(task) }),
        then: index < done ? guided(task.then, { ...known, ...argumentsOf(task) }) : "",
        done: index < done,
        walked: task.walk && index === done ? say("walked", { seen: walked.size, places: task.walk.places }) : "",
      })),
      question: asked ? { ...questionNow(known), cell: asked.cell } : null,
      hidden: question && !["right", "shown"].includes(answer.state) ? question.cell : null,
      key: String(begun),
    };
  }

  /** @param {Record<string, string | number>} known */
  function questionNow(known) {
    const { cell, words, hint, because } = /** @type {import("./lessons.js").Question} */ (step().question);
    const { state, typed } = answer;
    const all = { ...known, row: cell.row, column: cell.column };
    const told = {
      asked: () => "",
      wrong: () => `${parseNumber(typed) === null ? say("answer.no_number", { typed }) : say("answer.wrong", { typed })} ${guided(hint, all)}`,
      right: () => `${say("answer.right")} ${guided(because, all)}`,
      shown: () => guided(because, all),
    };
    return { words: guided(words, all), state, told: told[state]() };
  }

  /** @param {SeenQuestion["state"]} state @param {string} typed */
  function settle(state, typed = "") {
    answer = { state, typed };
    const question = step().question;
    if (question && (state === "right" || state === "shown")) model.select(question.cell); // its sum is written below the board
    follow();
  }

  const listeners = /** @type {const} */ (["settings", "change:values", "change:selected"]);
  for (const event of listeners) model.on(event, follow);

  return {
    get: values.get,
    on: values.on,
    off: values.off,

    /**
     * Start a lesson.
     * @param {string} wanted its name @param {string | number} [step] counted from 1
     */
    play(wanted, step = 1) {
      if (!Object.hasOwn(LESSONS, wanted)) {
        return model.say(say("unknown", { name: wanted.slice(0, 40), known: Object.keys(LESSONS).join(", ") }), true);
      }
      const of = LESSONS[wanted].steps.length;
      const number = Number(step);
      const there = Math.min(Math.max(Math.round(number) || 1, 1), of);
      if (!lesson) before = model.settings();
      [lesson, name, at] = [LESSONS[wanted], wanted, -1];
      values.put({ left: false });
      enter(there - 1);
      if (at < 0) lesson = null; // it could not be set up, and that was said
      else if (there !== number) model.say(say("no_step", { step: String(step).slice(0, 20), of, at: there }), true);
    },
    /** @param {number} by 1: the next step, −1: the one before, 0: this one again */
    go(by) {
      if (!lesson) return;
      if (at + by >= lesson.steps.length) this.close();
      else enter(Math.max(at + by, 0));
    },
    /** Do what is to be done, or the next part of it. */
    act() {
      if (lesson && done < tasks().length) doIt(tasks()[done], situation(), model);
    },
    /** Check an answer. @param {string} typed */
    check(typed) {
      const question = lesson && step().question;
      if (!question || !asks()) return;
      const { panel, row, column } = question.cell;
      const { settings, stages } = seenNow();
      const [right, given] = [numberIn(settings, /** @type {any} */ (stages)[panel], panel, row, column), parseNumber(typed)];
      settle(given !== null && Math.abs(given - right) <= CLOSE * Math.max(1, Math.abs(right)) ? "right" : "wrong", typed.trim().slice(0, 20));
    },
    /** Show the answer. */
    show: () => lesson && asks() && settle("shown"),
    /** Leave; the picture stays, and there is a way back. */
    close() {
      if (!lesson) return;
      lesson = null;
      values.put({ look: null, left: true });
    },
    /** Go back to where the lesson was started from, or stay. @param {boolean} back */
    afterwards(back) {
      if (back && before) {
        const settings = before;
        model.select(null);
        model.change(() => [replaced(settings, {}), []]);
      }
      before = null;
      values.put({ left: false });
    },
    /** Listen no more. */
    end: () => listeners.forEach((event) => model.off(event, follow)),
  };
}
