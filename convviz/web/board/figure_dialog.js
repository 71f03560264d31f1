// @ts-check
// A panel as a plotly figure of its own, over the page: zoom, values under the pointer, a picture to take
// away.
import BOARD from "../../facts/words/board.json" with { type: "json" };
import WORDS from "../../facts/words/figure.json" with { type: "json" };
import { element, makeButton, setText } from "../base/dom.js";
import { sentences } from "../base/words.js";
import { figureWith, savePicture } from "./panel_picture.js";

const say = sentences(WORDS);
const sayOfPanel = sentences(BOARD);
// Only what acts within the page: plotly's own list has a button that uploads the chart.
const BUTTONS = [["zoom2d", "pan2d", "zoomIn2d", "zoomOut2d", "resetScale2d"]];
const CONFIG = { displaylogo: false, displayModeBar: true, modeBarButtons: BUTTONS, scrollZoom: true };

/**
 * @typedef {import("./panel_picture.js").Shown} Shown
 */

/**
 * Open the figure; it is gone when it is closed.
 * @param {import("./shared.js").Shared} board @param {() => Shown} look what stands in the panel
 * @param {Element} place in which the dialog stands, in its clothes @param {() => void} onClosed
 */
export function openFigure(board, look, place, onClosed) {
  const title = element("h2", {});
  const note = element("p", { role: "status" }, say("waits"));
  const chart = element("div", { class: "cv-figure-chart" });
  const buttons = /** @type {const} */ (["png", "svg"]).map((format) => {
    const button = makeButton({ disabled: "" }, sayOfPanel(`panel.${format}`), () =>
      savePicture(board, look(), format, (text) => setText(note, text)),
    );
    return /** @type {HTMLButtonElement} */ (button);
  });
  const shut = makeButton({}, say("close"), () => dialog.close());
  const head = element("header", {}, title, ...buttons, shut);
  const dialog = element("dialog", { class: "cv-figure" }, head, chart, note);
  /** @type {import("./plotly.js").Plotly | null} */
  let plotly = null;

  /** Draw what the panel shows, as large as there is room. Where somebody has zoomed to stays. */
  function draw() {
    const shown = look();
    setText(title, shown.spec.label);
    dialog.setAttribute("aria-label", shown.spec.label);
    if (!plotly || !dialog.open) return;
    const { data, layout } = figureWith(shown);
    const room = { width: chart.clientWidth, height: chart.clientHeight };
    const { title: _, ...rest } = layout; // it stands above
    plotly.react(chart, data, { ...rest, ...room, uirevision: shown.spec.key + shown.spec.shape }, CONFIG);
  }

  const watcher = new ResizeObserver(draw);
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close()); // beside it
  dialog.addEventListener("keydown", (event) => event.stopPropagation()); // the app's keys are another's
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
      plotly = loaded;
      setText(note, "");
      for (const button of buttons) button.disabled = false;
      watcher.observe(chart); // draws at once
    },
    (error) => setText(note, say("failed", { why: error.message })),
  );
  return { draw, close: () => dialog.close() };
}
