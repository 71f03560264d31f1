// What all panels and bands of a board share.
import { makeId } from "../base/dom.js";
import { Highlighter } from "./grid/highlight.js";
import { createResponseTable } from "./panel/impulse_response_table.js";
import { isSingleOne, shownOne } from "../rules/change_settings.js";

/** @typedef {ReturnType<typeof createContext> & { draggedOne?: boolean }} Shared draggedOne: the 1 was */

/**
 * @param {Promise<Plotly | null>} plotly @param {string[]} taught @param {import("./layout/readout.js").Readout} readout
 * @param {{ model: Model, rows: import("./layout/band_list.js").BandList, theme: () => string, escape: () => boolean,
 * focusBand: (name: string) => void, pixel: () => Place | null }} board
 */
export function createContext(
  plotly,
  taught,
  { say, read, unread },
  { model, rows, theme, escape, focusBand, pixel },
) {
  /** @type {ScaleOf} */
  const scale = (quantity) => model.get("structure").colorscales[theme()][quantity];
  const isLecture = () => rows.bands.stage() === "lecture";
  /** In the band to the input. @param {string} text @param {boolean} paired */
  const aside = (text, paired) => rows.equations.get("input")?.head.say(text, paired);
  /** @param {string} text */
  const reason = (text) => rows.equations.get("weight")?.head.say(text, false);
  /** The single 1 that is sent back, where its plane is shown. */
  const one = () => {
    const settings = model.settings();
    const at = isSingleOne(settings) && !settings.transposed ? shownOne(settings) : null;
    return at && { panel: "grad_output", ...at };
  };
  const around = { scale, fades: isLecture, aside, reason, one, pixel, release: escape };
  return {
    model,
    taught,
    tray: createResponseTable(),
    highlight: new Highlighter(around, () => rows.panels()),
    uid: makeId(),
    plotly,
    plotLayout: {
      margin: { l: 0, r: 0, t: 0, b: 0 },
      paper_bgcolor: "rgba(0,0,0,0)",
      plot_bgcolor: "rgba(0,0,0,0)",
      showlegend: false,
    },
    scale,
    closeFigure() {},
    /** @type {import("./steps/stepper.js").Stepper | null} the open one */
    stepping: null,
    /** @param {import("./band/band.js").Band} equation @param {number[]} changed */
    redraw: (equation, changed) => equation.draw(rows.plotly, changed),
    isLecture,
    focusBand,
    escape,
    say,
    read,
    unread,
  };
}
