// The tab that a step is shown in: it opens with the step and closes after it; a visitor's own stays.
import { tabName } from "../rules/features.js";
import { say } from "./sentences.js";

/**
 * @import { Step, Task } from "./available_lessons.js"
 * @param {string[]} has tabs
 */
export function createStepTab(has) {
  let opened = ""; // the tab that a lesson opened
  /** @param {Step} step */
  const isHere = ({ tab }) => !tab || has.includes(tab);
  return {
    /** What to open as a step begins, or none follows. @param {Step | null} step @param {string} open now */
    next(step, open) {
      const [wanted, before] = [step?.tab && isHere(step) ? step.tab : "", opened];
      opened = wanted;
      return wanted || (open === before ? "" : open);
    },
    /** Nothing in a tab that is not here. @param {Step} step @returns {Task[]} */
    tasks: (step) => (step.do ?? []).filter((task) => !task.choose || isHere(step)),
    /** Its tab is not here, or nothing. @param {Step} step */
    missing: (step) => (isHere(step) ? "" : say("no_tab", { tab: tabName(step.tab ?? "") })),
  };
}
