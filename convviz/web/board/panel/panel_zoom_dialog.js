// A panel as a plotly figure over the page: zoom, values, download.
import WORDS from "../../../facts/data/words/figure_dialog.json" with { type: "json" };
import { element, makeButton, setText } from "../../base/dom.js";
import { say } from "../../base/board_sentences.js";
import { sentences } from "../../base/sentences.js";
import { figureWith, savePicture } from "./panel_plotly_figure.js";

const sayOfFigure = sentences(WORDS);
// Without plotly's upload button.
const BUTTONS = [["zoom2d", "pan2d", "zoomIn2d", "zoomOut2d", "resetScale2d"]];
const CONFIG = { displaylogo: false, displayModeBar: true, modeBarButtons: BUTTONS, scrollZoom: true };

/** @import { Shown } from "./panel_plotly_figure.js" */

/** @param {Shared} board @param {() => Shown} look @param {Element} place @param {() => void} onClosed */
export function openDialog(board, look, place, onClosed) {
  const title = element("h2");
  const note = element("p", { role: "status" }, sayOfFigure("waits"));
  const chart = element("div.cv-figure-chart");
  const buttons = /** @type {const} */ (["png", "svg"]).map((format) => {
    const button = makeButton({ disabled: "" }, say(`panel.${format}`), () =>
      savePicture(board, look(), format, (text) => setText(note, text)),
    );
    return /** @type {HTMLButtonElement} */ (button);
  });
  const shut = makeButton({}, sayOfFigure("close"), () => dialog.close());
  const head = element("header", title, ...buttons, shut);
  const dialog = element("dialog.cv-figure", head, chart, note);
  /** @type {Plotly | null} */
  let plotly = null;

  /** Draws the figure; a zoom stays while the panel and its shape are the same. */
  function draw() {
    const shown = look();
    setText(title, shown.spec.label);
    dialog.setAttribute("aria-label", shown.spec.label);
    if (!plotly || !dialog.open) return;
    const { data, layout } = figureWith(shown);
    const room = { width: chart.clientWidth, height: chart.clientHeight };
    const { title: _, ...rest } = layout; // the heading of the dialog shows it
    plotly.react(chart, data, { ...rest, ...room, uirevision: shown.spec.key + shown.spec.shape }, CONFIG);
  }

  const watcher = new ResizeObserver(draw);
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close()); // on the backdrop
  dialog.addEventListener("keydown", (event) => event.stopPropagation()); // not the app's keys
  dialog.addEventListener("close", () => {
    watcher.disconnect();
    plotly?.purge(chart);
    dialog.remove();
    onClosed();
  });
  place.append(dialog);
  dialog.showModal();
  draw();
  board.plotly.then(
    (loaded) => {
      if (!loaded) return setText(note, say("panel.left_out"));
      plotly = loaded;
      setText(note, "");
      for (const button of buttons) button.disabled = false;
      watcher.observe(chart);
    },
    (error) => setText(note, sayOfFigure("failed", { why: error.message })),
  );
  return { draw, close: () => dialog.close() };
}
