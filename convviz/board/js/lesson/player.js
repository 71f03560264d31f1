// @ts-check
// Plays a lesson: which step it is, what of it is done, what is asked. It knows no lesson by name and no page: the panel
// shows what `look` says, and every view of one model shows the same.
import WORDS from "../../../facts/words/player.json" with { type: "json" };
import { createValues } from "../base/events.js";
import { sentences } from "../base/words.js";
import { afterwards } from "../numbers/asking.js";
import { fromPage } from "../numbers/from_page.js";
import { seenAs } from "../rules/history.js";
import { fromLink } from "../rules/link.js";
import { inPlaceOf, replaced } from "../rules/settings.js";
import { isRight, predicting, tellerOf } from "./answers.js";
import { ABOARD, TITLES, createShelf } from "./lessons.js";
import { lookOf } from "./look.js";
import { ALL_TABS, createStepTab } from "./step_tab.js";
import { doIt, isDone, isUndone, joinedLinks, noteWalk } from "./tasks.js";
import { numberIn, valuesOf } from "./values.js";
import { reasonsFor } from "./why_wrong.js";

const say = sentences(WORDS);
/** @type {Answer} */
const UNANSWERED = { state: "asked", typed: "", reasons: [] };
const PACE = 350; // milliseconds between two places of a walk that is done for somebody

/**
 * @import { Model } from "../numbers/model.js"
 * @import { Settings } from "../rules/settings.js"
 * @import { Answer } from "./answers.js"
 * @import { Lesson, Place, Shelf, Told } from "./lessons.js"
 * @import { Look } from "./look.js"
 * @typedef {{ words: string[], next: string[], exercise: string, after: string }} Gone what is told when a lesson is left, and offered; of one that was not
 *   ended, nothing; exercise: the task of convviz.check that asks for it in code; after: the name of the lesson that follows
 * @typedef {ReturnType<typeof createPlayer>} Player
 */

/** What of the board some step explains. */
export const TAUGHT = Object.values(ABOARD).flatMap(({ lesson }) =>
  lesson.steps.flatMap(({ why }) => why ?? []),
);

/** Whether a hidden number is that of the same picture still. @param {Settings} one @param {Settings} other */
const asksTheSame = (one, other) =>
  JSON.stringify(one) === JSON.stringify({ ...seenAs(other, one), plane: other.plane });

/** The step that answers one of the board's questions, if a lesson has one. @param {string} topic */
export function answerTo(topic) {
  for (const [name, { lesson }] of Object.entries(ABOARD)) {
    const at = lesson.steps.findIndex(({ why }) => why?.includes(topic));
    if (at >= 0) return { name, at };
  }
  return null;
}

/**
 * Make the player of one model.
 * @param {Model} model @param {Shelf} [shelf] the lessons @param {string[]} [has] the tabs of the page @param {import("../numbers/asking.js").Later} [later]
 */
export function createPlayer(model, shelf = createShelf(), has = ALL_TABS, later = afterwards) {
  const values = createValues({
    look: /** @type {Look | null} */ (null),
    left: /** @type {Gone | null} */ (null),
    finished: /** @type {string[]} */ ([]),
  });
  let tell = tellerOf();
  let asked = ""; // the lesson that is on its way
  const stepTab = createStepTab(has);
  /** @type {string[]} */
  let chosen = []; // in the open tab
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
  let answer = UNANSWERED;
  /** @type {Settings} */
  let answered; // what the answer was given to
  let entering = false;
  /** @type {string[]} */
  let last = []; // the links that the end of the lesson has offered
  let held = false; // while a slider is held, nothing is done yet
  let stopWalking = () => {};

  const step = () => /** @type {Lesson} */ (lesson).steps[at];
  const tasks = () => stepTab.tasks(step());
  const linkOf = (/** @type {number} */ index) =>
    joinedLinks(/** @type {Lesson} */ (lesson).base, /** @type {Lesson} */ (lesson).steps[index].state ?? "");
  const situation = () => ({
    settings: model.settings(),
    start: start.settings,
    link: linkOf(at),
    selected: model.get("selected"),
    walked,
    chosen,
    press: () => values.tell("press"),
  });
  const asks = () => Boolean(step().question) && done >= tasks().length;

  /** The state of a link, where torch computes as it did and in the colours that were chosen. @param {string} link @param {string} [tab] the one that is open */
  function stateOf(link, tab = model.settings().tab) {
    const { state, notices } = fromLink(link);
    if (notices.length) throw new Error(say("kept", { why: notices.join(" ") }));
    return inPlaceOf({ ...model.settings(), tab }, state);
  }

  /** @param {number} wanted the step's index */
  function enter(wanted) {
    const there = /** @type {Lesson} */ (lesson).steps[wanted];
    entering = true;
    stopWalking();
    model.change(() => {
      const settings =
        there.state === null
          ? model.settings()
          : stateOf(linkOf(wanted), stepTab.next(there, model.settings().tab));
      start = { settings, stages: fromPage(settings, 0).stages };
      at = wanted;
      return [settings, []];
    });
    entering = false;
    if (at !== wanted) return;
    [done, walked, chosen, answer] = [0, new Set(), [], UNANSWERED];
    begun += 1;
    noteWalk(walked, start.settings);
    model.select(there.pin ?? null);
    follow();
  }

  /** See what was done, and tell. */
  function follow() {
    if (!lesson || entering) return;
    noteWalk(walked, model.settings());
    if (answer.state === "wrong" && !asksTheSame(answered, seenNow().settings)) answer = UNANSWERED;
    const undone = tasks()
      .slice(0, done)
      .findIndex((task) => isUndone(task, situation()));
    if (undone >= 0) done = undone;
    while (!held && done < tasks().length && isDone(tasks()[done], situation())) {
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
  const lookNow = () => ({
    name,
    title: tell(/** @type {Lesson} */ (lesson).title),
    at: at + 1,
    of: /** @type {Lesson} */ (lesson).steps.length,
    key: String(begun),
    noTab: stepTab.told(step()),
    ...lookOf(step(), {
      tasks: tasks(),
      done,
      answer,
      situation: situation(),
      known: valuesOf(step().values ?? {}, { now: seenNow(), start }),
      tell,
    }),
  });

  /** @param {Answer["state"]} state @param {string} [typed] @param {Answer["reasons"]} [reasons] */
  function settle(state, typed = "", reasons = []) {
    answer = { state, typed, reasons };
    answered = seenNow().settings;
    const question = step().question;
    if (question && (state === "right" || state === "shown")) model.select(question.cell); // its sum is written below the board
    follow();
  }

  /** @param {string} wanted @param {Told} told @param {string | number} step */
  function begin(wanted, told, step) {
    const of = told.lesson.steps.length;
    const number = Number(step);
    const there = Math.min(Math.max(Math.round(number) || 1, 1), of);
    if (!lesson) before = model.settings();
    [lesson, name, at, tell] = [told.lesson, wanted, -1, tellerOf(told.words)];
    values.put({ left: null });
    enter(there - 1);
    if (at < 0)
      lesson = null; // it could not be set up, and that was said
    else if (there !== number)
      model.say(say("no_step", { step: String(step).slice(0, 20), of, at: there }), true);
  }

  /** The name of the lesson that follows one; empty after the last. @param {string} one */
  const following = (one) => {
    const names = shelf.names();
    return (names.includes(one) && names[names.indexOf(one) + 1]) || "";
  };

  const listeners = /** @type {const} */ (["settings", "change:values", "change:selected"]);
  for (const event of listeners) model.on(event, follow);

  return {
    get: values.get,
    on: values.on,
    off: values.off,

    shelf,
    /**
     * Start a lesson.
     * @param {string} wanted its name @param {string | number} [step] counted from 1
     * @returns {Promise<void> | undefined} what is waited for, where it has to be brought first
     */
    play(wanted, step = 1) {
      asked = wanted;
      const there = shelf.now(wanted);
      if (there) return void begin(wanted, there, step);
      const coming = shelf.bring(wanted);
      const known = { name: wanted.slice(0, 40), known: shelf.names().join(", ") };
      if (!coming)
        return void model.say(
          Object.hasOwn(TITLES, wanted) ? say("absent", known) : say("unknown", known),
          true,
        );
      return coming.then(
        (told) => (asked === wanted ? begin(wanted, told, step) : undefined), // another one was asked for meanwhile
        (error) => model.say(say("not_brought", { name: wanted, why: error.message }), true),
      );
    },
    /** Hide a number of the picture as it is, to be predicted. @param {Place} cell */
    predict(cell) {
      if (!lesson) before = model.settings();
      [lesson, name, at, tell] = [predicting(cell), "", -1, tellerOf()];
      asked = "";
      values.put({ left: null });
      enter(0);
    },
    /** @param {number} by 1: the next step, −1: the one before, 0: this one again */
    go(by) {
      if (!lesson) return;
      if (at + by >= lesson.steps.length) this.close(true);
      else enter(Math.max(at + by, 0));
    },
    /** Do what is to be done, or the next part of it. */
    act() {
      stopWalking();
      if (!lesson || done >= tasks().length) return;
      const [task, places, here] = [tasks()[done], walked.size, begun];
      doIt(task, situation(), model);
      const goesOn = () => lesson && here === begun && tasks()[done] === task;
      if (task.walk && walked.size > places && goesOn())
        stopWalking = later(() => goesOn() && this.act(), PACE);
    },
    /** What is chosen in the open tab now. @param {string[]} ids */
    choose(ids) {
      chosen = ids;
      follow();
    },
    /** A slider is held, or let go: what it passes on the way was not chosen. @param {boolean} now */
    hold(now) {
      if (held === now) return;
      held = now;
      if (!held) follow();
    },
    /** Check an answer. @param {string} typed */
    check(typed) {
      const question = lesson && step().question;
      if (!question || !asks()) return;
      const { panel, row, column } = question.cell;
      const seen = seenNow();
      const right = numberIn(seen.settings, /** @type {any} */ (seen.stages)[panel], panel, row, column);
      if (isRight(typed, right)) return settle("right", typed);
      const reasons = reasonsFor(seen, question.cell, typed, has.includes("mistakes"));
      settle("wrong", typed.trim().slice(0, 20), reasons);
    },
    /** Show what a mistake makes of the cell that is asked for. @param {string} mistake its id */
    showMistake(mistake) {
      const question = lesson && step().question;
      if (!question) return;
      model.change((settings) => [replaced(settings, { tab: "mistakes", mistake }), []]);
      model.select(question.cell); // the tab writes out both sums
    },
    /** Show the answer. */
    show: () => lesson && asks() && settle("shown"),
    /** Leave; the picture stays, and there is a way back. @param {boolean} [ended] whether its end was reached */
    close(ended = false) {
      if (!lesson) return;
      stopWalking();
      const { words, next, exercise = "" } = ended ? lesson.end : { words: [], next: [] };
      last = next.map(({ link }) => link);
      lesson = null;
      asked = "";
      const { tab } = model.settings();
      const still = stepTab.next(null, tab);
      if (still !== tab) model.change((settings) => [replaced(settings, { tab: still }), []]);
      const left = {
        words: words.map((id) => tell(id)),
        next: next.map((each) => tell(each.words)),
        exercise,
        after: ended && name ? following(name) : "",
      };
      if (ended && name) this.finish([name]);
      values.put({ look: null, left });
    },
    /** Mark lessons as done. @param {string[]} names */
    finish: (names) =>
      values.put({
        finished: shelf
          .names()
          .filter((each) => names.includes(each) || values.get("finished").includes(each)),
      }),
    /** Stay, with what was offered next on the board. @param {number} index */
    tryNext(index) {
      const link = last[index];
      this.afterwards(false);
      model.select(null);
      model.change(() => [stateOf(link), []]);
    },
    /** Go back to where the lesson was started from, or stay. @param {boolean} back */
    afterwards(back) {
      if (back && before) {
        const settings = before;
        model.select(null);
        model.change(() => [replaced(settings, {}), []]);
      }
      before = null;
      values.put({ left: null });
    },
    /** Listen no more. */
    end() {
      stopWalking();
      listeners.forEach((event) => model.off(event, follow));
    },
  };
}
