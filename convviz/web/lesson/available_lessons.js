// The lessons of a page: the one that the board's questions lead to rides in every page; the others come when
// they are started, from the kernel or as a file, and a page that was made for one carries it.
import PATH from "../../facts/data/words/lesson_titles.json" with { type: "json" };
import GUIDED from "../../facts/data/words/guided/why_rotated.json" with { type: "json" };
import WHY_ROTATED from "../../lessons/why_rotated.json" with { type: "json" };

/**
 * @typedef {{ words: string, then: string, edit?: Place & { by: number }, walk?: { places: number }, set?:
 *   string, pin?: Place, choose?: string, mark?: Place[] }} Task one of five kinds; said before and after;
 *   mark: lit once done
 * @typedef {{ cell: Place, answer?: number, words: string, hint: string, because: string }} Question answer:
 *   its author's; the page asks its own numbers
 * @typedef {{ title: string, words: string, state: string | null, focus?: string, band?: string, pin?: Place,
 *   highlight?: Place[], why?: string[], tab?: string, part?: string, code?: string[], tray?: "full", quiet?:
 *   "throughout" | "until done", values?: Record<string, Record<string, any>>, do?: Task[], question?:
 *   Question }} Step focus: the band that gets the room; band: the one in sight; tab: opened; part: of the
 *   tab, in sight once all is chosen; code: Python; state: link keys that differ from the base, null: as it
 *   is; why: questions of the board that it answers; tray: full at first; quiet: what is to be found is not
 *   bundle
 * @typedef {{ words: string[], next: { words: string, link: string }[], exercise?: string }} End next: to
 *   try; exercise: a task of convviz.check
 * @typedef {{ title: string, base: string, steps: Step[], end: End }} Lesson
 * @typedef {{ lesson: Lesson, words: Record<string, any> }} LessonBundle sentences by id
 * @typedef {(name: string) => Promise<LessonBundle>} Bring
 * @typedef {ReturnType<typeof createLessons>} Shelf
 */

/** tests/lessons/test_lessons.py checks a step's keys. @type {Record<string, LessonBundle>} */
export const ABOARD = { why_rotated: { lesson: /** @type {any} */ (WHY_ROTATED), words: GUIDED } };

/** In the order of the path. @type {Record<string, string>} */
export const TITLES = Object.fromEntries(
  Object.entries(PATH).map(([id, title]) => [id.replace(/\.title$/, ""), title]),
);

/** @param {Record<string, LessonBundle>} [given] @param {Bring | null} [fetchLesson] */
export function createLessons(given = {}, fetchLesson = null) {
  const there = new Map(Object.entries({ ...ABOARD, ...given }));
  const names = () => {
    const path = Object.keys(TITLES).filter((name) => fetchLesson || there.has(name));
    // A teacher's own stand last.
    return [...path, ...[...there.keys()].filter((name) => !path.includes(name))];
  };
  return {
    names,
    /** @param {string} name */
    now: (name) => there.get(name),
    /** @param {string} name @returns {Promise<LessonBundle> | null} null: nobody has it */
    bring: (name) =>
      fetchLesson && Object.hasOwn(TITLES, name)
        ? fetchLesson(name).then((bundle) => {
            there.set(name, bundle);
            return bundle;
          })
        : null,
    /** @param {string} name @returns {string} */
    title: (name) => TITLES[name] ?? there.get(name)?.lesson.title ?? "",
  };
}
