// @ts-check
// What all panels and bands of a board share.
import { Highlighter } from "./highlight.js";
import { createTray } from "./tray.js";

/**
 * @typedef {ReturnType<typeof makeShared> & { draggedOne?: boolean }} Shared draggedOne: whether the 1 was
 */

/**
 * @param {Promise<import("./plotly.js").Plotly>} plotly @param {string[]} taught topics that a lesson shows
 * @param {import("./readout.js").Readout} readout
 * @param {{ model: import("../numbers/model.js").Model, rows: import("./rows.js").Rows, theme: () => string,
 *   escape: () => boolean, focusBand: (name: string) => void }} board focusBand: give a band the room, or
 *   take it back
 */
export function makeShared(plotly, taught, { say, read, unread }, { model, rows, theme, escape, focusBand }) {
  const scale = () => model.get("structure").colorscales?.[theme()];
  const isLecture = () => rows.bands.stage() === "lecture";
  /**
   * What the equation to the input says about the cell that is looked at.
   * @param {string} text @param {boolean} paired
   */
  const aside = (text, paired) => rows.equations.get("input")?.say(text, paired);
  const around = { scale, fades: isLecture, aside, release: escape };
  return {
    model,
    taught,
    tray: createTray(),
    highlight: new Highlighter(around, () => rows.panels()),
    uid: Math.random().toString(36).slice(2, 8),
    plotly,
    plotLayout: {
      margin: { l: 0, r: 0, t: 0, b: 0 },
      paper_bgcolor: "rgba(0,0,0,0)",
      plot_bgcolor: "rgba(0,0,0,0)",
      showlegend: false,
    },
    scale,
    /** Close the figure that a panel has opened over the page. */
    closeFigure() {},
    /** @type {import("./stepper.js").Stepper | null} the stepper that is open */
    stepping: null,
    /**
     * Draw what another step changed in one equation.
     * @param {import("./equation.js").Equation} equation @param {number[]} changed
     */
    redraw: (equation, changed) => equation.draw(rows.plotly, changed),
    isLecture,
    focusBand,
    escape,
    say,
    read,
    unread,
  };
}
