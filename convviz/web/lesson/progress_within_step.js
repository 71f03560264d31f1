// How far one step of a lesson is: what of it is done, and what was answered.
import { fromPage } from "../numbers/compute_in_page.js";
import { seenAs } from "../rules/undo_rules.js";
import { isDone, isUndone, noteWalk } from "./step_tasks.js";

/**
 * @import { Answer } from "./answer_feedback.js"
 * @import { Step, Task } from "./available_lessons.js"
 * @import { Situation } from "./step_tasks.js"
 * @import { Seen } from "./step_sentence_values.js"
 */

/** @type {Answer} */
const UNANSWERED = { state: "asked", typed: "", reasons: [] };

/** The hidden number is of the same picture. @param {Settings} one @param {Settings} other */
const asksTheSame = (one, other) =>
  JSON.stringify(one) === JSON.stringify({ ...seenAs(other, one), plane: other.plane });

export class Progress {
  step;
  tasks;
  /** @type {Seen} */
  start;
  done = 0; // how many tasks are done
  answer = UNANSWERED;
  /** @type {Set<string>} */
  walked = new Set();
  /** @type {string[]} */
  chosen = []; // in the open tab
  /** @type {Settings} */
  #answered;
  #model;
  #link;
  #press;

  /**
   * @param {Model} model @param {Settings} settings at the start @param {Step} step @param {Task[]} tasks
   * @param {string} link @param {() => void} press chooses in the tab
   */
  constructor(model, settings, step, tasks, link, press) {
    [this.#model, this.step, this.tasks, this.#link, this.#press] = [model, step, tasks, link, press];
    this.start = { settings, stages: fromPage(settings, 0).stages };
    this.#answered = settings;
    noteWalk(this.walked, settings);
  }

  /** @returns {Situation} */
  situation() {
    return {
      settings: this.#model.settings(),
      start: this.start.settings,
      link: this.#link,
      selected: this.#model.get("selected"),
      walked: this.walked,
      chosen: this.chosen,
      press: this.#press,
    };
  }

  /** As the board, or as the step began. @returns {Seen} */
  seen() {
    const shown = this.#model.shown();
    return shown ? { settings: shown.settings, stages: shown.numbers.stages } : this.start;
  }

  /** While it is to be answered. */
  asked() {
    return this.done >= this.tasks.length ? this.step.question : undefined;
  }

  /** @param {boolean} held a slider is: nothing is done yet */
  follow(held) {
    noteWalk(this.walked, this.#model.settings());
    if (this.answer.state === "wrong" && !asksTheSame(this.#answered, this.seen().settings))
      this.answer = UNANSWERED;
    const undone = this.tasks.slice(0, this.done).findIndex((task) => isUndone(task, this.situation()));
    if (undone >= 0) this.done = undone;
    while (!held && this.done < this.tasks.length && isDone(this.tasks[this.done], this.situation())) {
      this.done += 1;
      if (this.tasks[this.done]?.walk) this.walked = new Set();
    }
  }

  /** @param {Answer["state"]} state @param {string} [typed] @param {Answer["reasons"]} [reasons] */
  settle(state, typed = "", reasons = []) {
    this.answer = { state, typed, reasons };
    this.#answered = this.seen().settings;
    const { question } = this.step;
    // Its sum is written below the board.
    if (question && (state === "right" || state === "shown")) this.#model.select(question.cell);
  }
}
