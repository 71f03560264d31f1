// @ts-check
// The lessons that there are: a line here for each file in convviz/lessons. Nothing else names one.
import WHY_ROTATED from "../../../lessons/why_rotated.json" with { type: "json" };

/**
 * @typedef {{ panel: string, row: number, column: number }} Place
 * @typedef {{ words: string, then: string, edit?: Place & { by: number }, walk?: { places: number }, set?: string, pin?: Place, mark?: Place[] }} Task
 *   what there is to do, one of the four, and what is said before and after it; mark: cells that are lit once it is done
 * @typedef {{ cell: Place, words: string, hint: string, because: string }} Question
 * @typedef {{ title: string, words: string, state: string | null, focus?: string, band?: string, pin?: Place, highlight?: Place[], why?: string[],
 *   tray?: "full", quiet?: "throughout" | "until done", values: Record<string, Record<string, any>>, do?: Task[], question?: Question }} Step
 *   focus: the band that gets the room; band: the one to look at where they flow; state: the keys of a link that differ from the base, or null: it stays as it is; why: the questions of the board that it answers;
 *   tray: it begins empty, or with all that the pixel gets; quiet: the board does not say beside a held cell what is to be found
 * @typedef {{ words: string[], next: { words: string, link: string }[] }} End what was found, and what to try after it
 * @typedef {{ title: string, base: string, steps: Step[], end: End }} Lesson
 */

/** As data, a step has what it has: tests/test_lessons.py sees that it is what a step may have. @type {Record<string, Lesson>} */
export const LESSONS = /** @type {any} */ ({ why_rotated: WHY_ROTATED });
