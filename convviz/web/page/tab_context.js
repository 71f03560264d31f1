// @ts-check
// What a tab sees of the page itself: its numbers, whoever computed them, and the way to another setting.
import { seenAs } from "../rules/history.js";
import { settingAt } from "../rules/link.js";
import { replaced } from "../rules/settings.js";

/** @import { Model } from "../numbers/model.js" */

/** @param {Model} model */
export const pageSeen = (model) => ({
  shown: () => model.shown(),
  selected: () => model.get("selected"),
  /** @param {() => void} listener called when other numbers stand there, or another cell is held */
  follow(listener) {
    for (const event of ["change:values", "change:selected"]) model.on(event, listener);
    return () => {
      for (const event of ["change:values", "change:selected"]) model.off(event, listener);
    };
  },
  /** @param {string} link @param {string} words what is said of it */
  open: (link, words) =>
    // Undo leaves the view alone.
    model.change((settings) => [replaced(seenAs(settingAt(settings, link), settings), {}), [words]]),
});

/**
 * The way from a tab to other settings; what was done is said.
 * @param {Model} model @returns {import("../tabs/pane.js").PaneModel["goTo"]}
 */
export const goTo = (model) => (changes, words) =>
  model.change((settings) => [
    replaced(settings, typeof changes === "function" ? changes(settings) : changes),
    [words],
  ]);
