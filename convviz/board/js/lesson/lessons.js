// @ts-check
// The lessons that there are: a line here for each file in convviz/lessons. Nothing else names one.
import WHY_ROTATED from "../../../lessons/why_rotated.json" with { type: "json" };

/**
 * @typedef {{ panel: string, row: number, column: number }} Place
 * @typedef {{ words: string, then: string, edit?: Place & { by: number }, walk?: { places: number }, set?: string, pin?: Place }} Task
 *   what there is to do, one of the four, and what is said before and after it
 * @typedef {{ cell: Place, words: string, hint: string, because: string }} Question
 * @typedef {{ title: string, words: string, state: string, focus?: string, band?: string, pin?: Place, highlight?: Place[], why?: string[],
 *   values: Record<string, Record<string, any>>, do?: Task[], question?: Question }} Step
 *   focus: the band that gets the room; band: the one to look at where they flow; state: the keys of a link that differ from the base; why: the questions of the board that it answers
 * @typedef {{ title: string, base: string, steps: Step[] }} Lesson
 */

/** As data, a step has what it has: tests/test_lessons.py sees that it is what a step may have. @type {Record<string, Lesson>} */
export const LESSONS = /** @type {any} */ ({ why_rotated: WHY_ROTATED });
