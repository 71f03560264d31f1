// Plays a lesson: which step it is, what of it is done, what is asked. It knows no lesson by name and no
// page: the panel shows what `look` says, and every view of one model shows the same.
import { createValues } from "../base/observable_values.js";
import { afterwards } from "../numbers/latest_request.js";
import { fromLink, toLink } from "../rules/settings_link.js";
import { inPlaceOf, replaced } from "../rules/settings_and_tensors.js";
import { isRight, predicting, feedbackOf } from "./answer_feedback.js";
import { ABOARD, TITLES, createLessons } from "./available_lessons.js";
import { stepView } from "./step_view_model.js";
import { TABS } from "../rules/features.js";
import { createStepTab } from "./open_tab_for_step.js";
import { Progress } from "./progress_within_step.js";
import { doIt, joinedLinks } from "./step_tasks.js";
import { numberIn, valuesOf } from "./step_sentence_values.js";
import { whyWrong } from "./why_wrong.js";
import { say } from "./sentences.js";

const HEARD = ["settings", "change:values", "change:selected"];
const PACE = 350; // milliseconds between places

/**
 * @import { Lesson, Shelf, LessonBundle } from "./available_lessons.js"
 * @import { Look } from "./step_view_model.js"
 * @typedef {{ words: string[], next: string[], exercise: string, after: string }} Gone empty if the lesson
 *   did not end; exercise: a task of convviz.check; after: the next lesson
 */

export const TAUGHT = Object.values(ABOARD).flatMap(({ lesson }) =>
  lesson.steps.flatMap(({ why }) => why ?? []),
);

/** Finds the step that answers a question, or returns null where no lesson has one. @param {string} topic */
export function answerTo(topic) {
  for (const [name, { lesson }] of Object.entries(ABOARD)) {
    const at = lesson.steps.findIndex(({ why }) => why?.includes(topic));
    if (at >= 0) return { name, at };
  }
  return null;
}

export class Player {
  shelf;
  #model;
  #has;
  #later;
  #values = createValues({
    look: /** @type {Look | null} */ (null),
    left: /** @type {Gone | null} */ (null),
    finished: /** @type {string[]} */ ([]),
  });
  get = this.#values.get;
  on = this.#values.on;
  #translate = feedbackOf();
  #asked = ""; // the lesson that is being loaded
  #stepTab;
  #ends;
  /** @type {Lesson | null} */
  #lesson = null;
  // Of the present step, from the first on.
  #progress = /** @type {Progress} */ (/** @type {unknown} */ (null));
  #name = "";
  #at = 0;
  #begun = 0; // steps of all lessons
  /** @type {Settings | null} */
  #before = null; // the settings before the lesson
  #entering = false;
  /** @type {string[]} */
  #last = []; // links offered at the end
  #held = false; // whether a slider is held
  #stopWalking = () => {};

  /** @param {Model} model @param {Shelf} [shelf] @param {string[]} [has] tabs @param {Later} [later] */
  constructor(model, shelf = createLessons(), has = TABS, later = afterwards) {
    [this.#model, this.shelf, this.#has, this.#later] = [model, shelf, has, later];
    this.#stepTab = createStepTab(has);
    this.#ends = HEARD.map((event) => model.on(event, this.#follow));
  }

  /** The state of a step's link; device and looks stay. @param {string} link @param {string} tab */
  #stateOf(link, tab) {
    const { state, notices } = fromLink(link);
    if (notices.length) throw new Error(say("kept", { why: notices.join(" ") }));
    return inPlaceOf({ ...this.#model.settings(), tab }, state);
  }

  /** @param {Lesson} lesson @param {number} wanted index */
  #enter(lesson, wanted) {
    const step = lesson.steps[wanted];
    const link = joinedLinks(lesson.base, step.state ?? "");
    this.#entering = true;
    this.#stopWalking();
    this.#model.change((now) => {
      const settings = step.state === null ? now : this.#stateOf(link, this.#stepTab.next(step, now.tab));

      const tasks = this.#stepTab.tasks(step);
      this.#progress = new Progress(this.#model, settings, step, tasks, link, () =>
        this.#values.emit("press"),
      );
      this.#at = wanted;
      return [settings, []];
    });
    this.#entering = false;
    if (this.#at !== wanted) return;
    this.#progress.chosen = []; // said by a closed tab
    this.#begun += 1;
    this.#model.select(step.pin ?? null);
    this.#follow();
  }

  #follow = () => {
    if (!this.#lesson || this.#entering) return;
    this.#progress.follow(this.#held);
    this.#values.put({ look: this.#lookNow(this.#lesson) });
  };

  /** @param {Lesson} lesson @returns {Look} */
  #lookNow({ title, steps }) {
    const { step, tasks, done, answer, start } = this.#progress;
    const known = valuesOf(step.values ?? {}, { now: this.#progress.seen(), start });
    const situation = this.#progress.situation();
    return {
      name: this.#name,
      title: this.#translate(title),
      at: this.#at + 1,
      of: steps.length,
      key: String(this.#begun),
      noTab: this.#stepTab.missing(step),
      ...stepView(step, { tasks, done, answer, situation, known, translate: this.#translate }),
    };
  }

  /** @type {Progress["settle"]} */
  #settle = (...answer) => {
    this.#progress.settle(...answer);
    this.#follow();
  };

  /**
   * @param {Lesson} lesson @param {string} name @param {Parameters<typeof feedbackOf>} words @param {number} at
   */
  #open(lesson, name, words, at) {
    if (!this.#lesson) this.#before = this.#model.settings();
    [this.#lesson, this.#name, this.#at, this.#translate] = [lesson, name, -1, feedbackOf(...words)];
    this.#values.put({ left: null });
    this.#enter(lesson, at);
  }

  /** @param {string} wanted @param {LessonBundle} bundle @param {string | number} step */
  #begin(wanted, { lesson, words }, step) {
    const of = lesson.steps.length;
    const number = Number(step);
    const there = Math.min(Math.max(Math.round(number) || 1, 1), of);
    this.#open(lesson, wanted, [words], there - 1);
    if (this.#at < 0)
      this.#lesson = null; // the board refused its step
    else if (there !== number)
      this.#model.say(say("no_step", { step: String(step).slice(0, 20), of, at: there }), true);
  }

  /**
   * @param {string} wanted @param {string | number} [step] from 1
   * @returns {Promise<void> | undefined} while it is fetched
   */
  play(wanted, step = 1) {
    this.#asked = wanted;
    const there = this.shelf.now(wanted);
    if (there) return void this.#begin(wanted, there, step);
    const coming = this.shelf.bring(wanted);
    const known = { name: wanted.slice(0, 40), known: this.shelf.names().join(", ") };
    if (!coming)
      return void this.#model.say(say(Object.hasOwn(TITLES, wanted) ? "absent" : "unknown", known), true);
    return coming.then(
      (bundle) => {
        if (this.#asked === wanted) this.#begin(wanted, bundle, step);
      },
      (error) => this.#model.say(say("not_brought", { name: wanted, why: error.message }), true),
    );
  }

  /** In the picture as it is. @param {Place} cell */
  predict(cell) {
    this.#asked = "";
    this.#open(predicting(cell), "", [], 0);
  }

  /** What was moved in this step, as a link; or empty. */
  moved() {
    const [start, now] = [this.#progress.start.settings, this.#model.settings()].map(toLink);
    return start === now && this.#progress.step.state !== null ? "" : now; // null: of the step before
  }

  /** @param {number} by 0: this one again */
  go(by) {
    if (!this.#lesson) return;
    if (this.#at + by >= this.#lesson.steps.length) this.close(true);
    else this.#enter(this.#lesson, Math.max(this.#at + by, 0));
  }

  act() {
    this.#stopWalking();
    const { tasks, done, walked } = this.#progress ?? {};
    if (!this.#lesson || done >= tasks.length) return;
    const [task, places, here] = [tasks[done], walked.size, this.#begun];
    doIt(task, this.#progress.situation(), this.#model);
    const goesOn = () =>
      this.#lesson && here === this.#begun && this.#progress.tasks[this.#progress.done] === task;
    if (task.walk && this.#progress.walked.size > places && goesOn())
      this.#stopWalking = this.#later(() => goesOn() && this.act(), PACE);
  }

  /** @param {string[]} ids */
  choose(ids) {
    if (!this.#progress) return;
    this.#progress.chosen = ids;
    this.#follow();
  }

  /** What a slider passes on the way was not chosen. @param {boolean} now */
  hold(now) {
    if (this.#held === now) return;
    this.#held = now;
    if (!now) this.#follow();
  }

  /** @param {string} typed */
  check(typed) {
    const question = this.#lesson && this.#progress.asked();
    if (!question) return;
    const { panel, row, column } = question.cell;
    const seen = this.#progress.seen();
    const right = numberIn(seen.settings, seen.stages[panel], panel, row, column);
    if (isRight(typed, right)) return this.#settle("right", typed);
    const reasons = whyWrong(seen, question.cell, typed, this.#has.includes("mistakes"));
    this.#settle("wrong", typed.trim().slice(0, 20), reasons);
  }

  /** @param {string} mistake */
  showMistake(mistake) {
    const question = this.#lesson && this.#progress.step.question;
    if (!question) return;
    this.#model.set({ tab: "mistakes", mistake });
    this.#model.select(question.cell);
  }

  show() {
    if (this.#lesson && this.#progress.asked()) this.#settle("shown");
  }

  /** Ends the lesson and leaves the picture as it is. @param {boolean} [ended] */
  close(ended = false) {
    if (!this.#lesson) return;
    this.#stopWalking();
    const { words, next, exercise = "" } = ended ? this.#lesson.end : { words: [], next: [] };
    this.#last = next.map(({ link }) => link);
    this.#lesson = null;
    this.#asked = "";
    const { tab } = this.#model.settings();
    const still = this.#stepTab.next(null, tab);
    if (still !== tab) this.#model.set({ tab: still });
    const left = {
      words: words.map((id) => this.#translate(id)),
      next: next.map((each) => this.#translate(each.words)),
      exercise,
      after: ended && this.#name ? this.#following(this.#name) : "",
    };
    if (ended && this.#name) this.finish([this.#name]);
    this.#values.put({ look: null, left });
  }

  /** @param {string} one */
  #following(one) {
    const names = this.shelf.names();
    return (names.includes(one) && names[names.indexOf(one) + 1]) || "";
  }

  /** @param {string[]} names */
  finish(names) {
    const before = this.get("finished");
    const finished = this.shelf.names().filter((each) => names.includes(each) || before.includes(each));
    this.#values.put({ finished });
  }

  /** Stay, with an offer on the board. @param {number} index */
  tryNext(index) {
    const link = this.#last[index];
    this.afterwards(false);
    this.#model.select(null);
    this.#model.change(({ tab }) => [this.#stateOf(link, tab), []]);
  }

  /** To where the lesson was started, or stay. @param {boolean} back */
  afterwards(back) {
    const before = this.#before;
    if (back && before) {
      this.#model.select(null);
      this.#model.change(() => [replaced(before, {}), []]);
    }
    this.#before = null;
    this.#values.put({ left: null });
  }

  end() {
    this.#stopWalking();
    for (const end of this.#ends) end();
  }
}
