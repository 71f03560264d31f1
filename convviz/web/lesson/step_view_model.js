// What a step looks like to the card: its sentences with their numbers, what is done of it, what is hidden.
import { panelName } from "../rules/tensor_display_names.js";
import { seenQuestion } from "./answer_feedback.js";
import { argumentsOf, astray, controlOf } from "./step_tasks.js";
import { say } from "./sentences.js";

/**
 * @import { Answer, SeenQuestion, Translate } from "./answer_feedback.js"
 * @import { Question, Step, Task } from "./available_lessons.js"
 * @import { Situation } from "./step_tasks.js"
 * @typedef {{ words: string, after: string, done: boolean, walked: string }} SeenTask
 * @typedef {{ heading: string, words: string, code: string, focus: string, band: string, highlight: Place[],
 *   tasks: SeenTask[], question: SeenQuestion | null, hidden: Place | null, full: boolean, quiet: boolean,
 *   complete: boolean, wanted: string, choose: string, part: string, long: "" | "code" | "question" }}
 *   StepLook wanted: the control to move; choose: in the tab; part: of it, in sight; long: why there is more
 *   to read; full: the tray; quiet: what is to be found is not shown
 * @typedef {StepLook & { name: string, title: string, at: number, of: number, noTab: string, key: string }}
 *   Look noTab: the step's tab is not here; key: new at every start of a step
 * @typedef {{ tasks: Task[], done: number, answer: Answer, situation: Situation, known: Record<string, string
 *   | number>, translate: Translate }} Stand known: values that sentences name
 */

/** @param {Step} step @param {Stand} stand @returns {StepLook} */
export function stepView(step, stand) {
  const { tasks, done, answer, situation, known, translate } = stand;
  const { title, words, code = [], focus = "", band = focus, pin, question, quiet } = step;
  const all = { ...known, row: pin?.row ?? 0, column: pin?.column ?? 0 };
  const finished = done >= tasks.length;
  const answered = ["right", "shown"].includes(answer.state);
  return {
    heading: translate(title, all),
    words: translate(words, all),
    code: code.join("\n"),
    focus,
    band,
    highlight: litOf(step, stand),
    tasks: tasks.slice(0, done + 1).map((task, index) => seenTask(task, index < done, stand)),
    question: question && finished ? seenQuestion(question, answer, named(question, stand), translate) : null,
    hidden: question && !answered ? question.cell : null,
    full: step.tray === "full",
    quiet: quiet === "throughout" || (quiet === "until done" && !finished),
    complete: finished && (!question || answered),
    wanted: controlOf(tasks[done], situation.settings),
    choose: tasks[done]?.choose ?? "",
    long: longOf(step),
    part: tasks.slice(done).some(({ choose }) => choose) ? "" : (step.part ?? ""),
  };
}

/** @param {Step} step @returns {"" | "code" | "question"} */
const longOf = ({ code, question }) => (code ? "code" : question ? "question" : "");

/** The panel by the board's name. @param {Question} question @param {Stand} stand */
const named = ({ cell }, { known, situation }) => ({
  ...known,
  panel: panelName(cell.panel, situation.settings),
});

/** @param {Task} task @param {boolean} isDone @param {Stand} stand @returns {SeenTask} */
function seenTask(task, isDone, { situation, known, translate }) {
  const all = { ...known, ...argumentsOf(task) };
  return {
    words: translate(task.words, all),
    after: isDone ? translate(task.then, all) : astray(task, situation),
    done: isDone,
    walked:
      task.walk && !isDone ? say("walked", { seen: situation.walked.size, places: task.walk.places }) : "",
  };
}

/**
 * Of the step, until it is done or the 1 has moved; then of what was done.
 * @param {Step} step @param {Stand} stand @returns {Place[]}
 */
function litOf(step, { tasks, done, situation }) {
  if (!done) return situation.walked.size > 1 ? [] : (step.highlight ?? []);
  return tasks[done - 1].mark ?? [];
}
