// The tab that a step is shown in: it opens with the step and closes after it; a visitor's own stays.
import NAMES from "../../facts/names.json" with { type: "json" };
import SETTINGS from "../../facts/settings.json" with { type: "json" };
import { say } from "./say.js";

/** The tabs of a page that has them all. */
export const ALL_TABS = SETTINGS.fields.tab.words.filter(Boolean);

/**
 * @import { Step, Task } from "./lessons.js"
 * @param {string[]} has the tabs of this page
 */
export function createStepTab(has) {
  let opened = ""; // by a lesson
  /** @param {Step} step */
  const isHere = ({ tab }) => !tab || has.includes(tab);
  return {
    /**
     * Which tab is open as a step begins, or when there is none any more.
     * @param {Step | null} step @param {string} open the one that is open now
     */
    next(step, open) {
      const [wanted, before] = [step?.tab && isHere(step) ? step.tab : "", opened];
      opened = wanted;
      return wanted || (open === before ? "" : open);
    },
    /** What there is to do: in a tab that is not here, nothing. @param {Step} step @returns {Task[]} */
    tasks: (step) => (step.do ?? []).filter((task) => !task.choose || isHere(step)),
    /** That a step's tab is not here, in a sentence. @param {Step} step */
    told: (step) =>
      isHere(step) ? "" : say("no_tab", { tab: NAMES.tabs[/** @type {"race"} */ (step.tab)] }),
  };
}
