// @ts-check
// A number of the board to predict: a lesson of one step that is made for its cell, and leaves the picture as it is.

/**
 * @import { Lesson, Place } from "./lessons.js"
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
