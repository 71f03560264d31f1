// What a tab reaches of the page itself: its numbers, whoever computed them, and the way to other settings.
import { loadPlotly } from "../board/panel/load_plotly.js";
import { seenAs } from "../rules/undo_rules.js";
import { settingAt } from "../rules/settings_link.js";
import { replaced } from "../rules/settings_and_tensors.js";

const EVENTS = ["change:values", "change:selected"];

/** @param {Model} model @returns {import("../tabs/pane.js").Around} */
export const createTabContext = (model) => ({
  loadPlotly: () => loadPlotly(model),
  goTo: (changes, words) =>
    model.change((settings) => [
      replaced(settings, typeof changes === "function" ? changes(settings) : changes),
      [words],
    ]),
  page: {
    shown: () => model.shown(),
    selected: () => model.get("selected"),
    // Other numbers stand there, or another cell is held.
    follow(listener) {
      const ends = EVENTS.map((event) => model.on(event, listener));
      return () => ends.forEach((end) => end());
    },
    // While it is closed; never in a link.
    kept: (tab) => model.chosen(tab),
    keep: (tab, values) => model.choose(tab, values),
    // Undo leaves the view alone.
    open: (link, words) =>
      model.change((settings) => [replaced(seenAs(settingAt(settings, link), settings), {}), [words]]),
  },
});
