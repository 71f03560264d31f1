// What is said of a number that was predicted.
import PATH from "../../facts/data/words/lesson_titles.json" with { type: "json" };
import WORDS from "../../facts/data/words/lesson_player.json" with { type: "json" };
import REASONS from "../../facts/data/words/wrong_number_reasons.json" with { type: "json" };
import { parseNumber } from "../base/format.js";
import { sentences } from "../base/sentences.js";
import { typedAgrees } from "../numbers/typed_number.js";
import { say } from "./sentences.js";

const sayReasons = sentences(REASONS);

/**
 * @typedef {(id: string, values?: Record<string, string | number>) => string} Translate What is no id is the
 *   sentence itself, as in a lesson that somebody wrote in one file.
 * @param {Record<string, any>} [words] @returns {Translate}
 */
export function feedbackOf(words = {}) {
  /** @type {Record<string, import("../base/sentences.js").Text>} */
  const all = { ...PATH, ...WORDS, ...words };
  return (id, values) => sentences(Object.hasOwn(all, id) ? all : { [id]: id })(id, values);
}

/**
 * @import { Lesson, Question } from "./available_lessons.js"
 * @import { SeenReason } from "./why_wrong.js"
 * @typedef {{ state: "asked" | "wrong" | "right" | "shown", typed: string, reasons: SeenReason[] }} Answer
 *   reasons: for a wrong number
 * @typedef {{ words: string, state: Answer["state"], feedback: string, reasons: SeenReason[], cell: Place }}
 *   SeenQuestion
 */

/** Or is printed alike, if not whole. @param {string} typed @param {number} right */
export function isRight(typed, right) {
  const given = parseNumber(typed);
  return given !== null && typedAgrees(given, right);
}

/**
 * @param {Question} question @param {Answer} answer @param {Record<string, string | number>} known
 * @param {Translate} translate @returns {SeenQuestion}
 */
export function seenQuestion({ cell, words, hint, because }, { state, typed, reasons }, known, translate) {
  const all = { ...known, row: cell.row, column: cell.column };
  const feedback = {
    asked: () => "",
    wrong: () => {
      if (!typed) return sayReasons("nothing");
      if (parseNumber(typed) === null) return `${say("answer.no_number", { typed })} ${translate(hint, all)}`;
      const wrong = say("answer.wrong", { typed });
      return reasons.length ? wrong : `${wrong} ${translate(hint, all)}`;
    },
    right: () => `${say("answer.right")} ${translate(because, all)}`,
    shown: () => translate(because, all),
  };
  return {
    words: translate(words, all),
    state,
    feedback: feedback[state](),
    reasons: state === "wrong" ? reasons : [],
    cell,
  };
}

/**
 * A lesson of one step that keeps the picture.
 * @param {Place} cell @returns {Lesson}
 */
export const predicting = (cell) => ({
  title: "predict.title",
  base: "",
  steps: [
    {
      title: "predict.title",
      words: "predict.words",
      state: null,
      values: { answer: { cell: [cell.panel, cell.row, cell.column] } },
      question: { cell, words: "predict.question", hint: "predict.hint", because: "predict.because" },
      quiet: "throughout",
    },
  ],
  end: { words: [], next: [] },
});
