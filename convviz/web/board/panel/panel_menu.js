// A panel's menu: help, picture, numbers.
import FIGURE from "../../../facts/data/words/figure_dialog.json" with { type: "json" };
import { element, makeButton } from "../../base/dom.js";
import { createPopover } from "../../base/menu.js";
import { askToPredict } from "../../base/question_events.js";
import { fullNumber } from "../../base/format.js";
import { say } from "../../base/board_sentences.js";
import { sentences } from "../../base/sentences.js";
import { rowsOf } from "../../rules/shapes_and_indices.js";
import { openDialog } from "./panel_zoom_dialog.js";
import { SUMS } from "../grid/cell_sum.js";
import { savePicture } from "./panel_plotly_figure.js";

const sayOfFigure = sentences(FIGURE);

/** @import { Shown } from "./panel_plotly_figure.js" */

/** @param {Shared} board @param {() => Shown | null} look */
export function createPanelMenu(board, look) {
  /** @param {(shown: Shown) => void} act */
  const withShown = (act) => () => {
    const shown = look();
    if (shown) act(shown);
  };
  /** @type {ReturnType<typeof openDialog> | null} */
  let figure = null;
  const show = () => {
    const place = menu.closest(".cv-look") ?? menu;
    figure = openDialog(
      board,
      () => /** @type {Shown} */ (look()),
      place,
      () => {
        figure = null;
      },
    );
    board.closeFigure = figure.close;
  };
  const menu = createMenu([
    [sayOfFigure("open"), withShown(show)],
    [say("panel.predict"), withShown(({ spec }) => predict(board, menu, spec))],
    [say("panel.png"), withShown((shown) => savePicture(board, shown, "png", board.say))],
    [say("panel.svg"), withShown((shown) => savePicture(board, shown, "svg", board.say))],
    [say("panel.numbers"), withShown((shown) => copyNumbers(board, shown))],
  ]);
  return Object.assign(menu, {
    follow: () => figure?.draw(),
  });
}

/**
 * The pinned cell, else the middle one.
 * @param {Shared} board @param {HTMLElement} menu @param {PanelSpec} spec
 */
function predict(board, menu, { name, label, rows, columns }) {
  if (!SUMS.includes(name)) return board.say(say("panel.predict.none", { name: label }));
  const pinned = board.model.get("selected");
  if (name === "grad_bias") {
    const { plane, transposed } = board.model.settings(); // the channel that is shown
    const column = transposed ? plane.in_channel : plane.out_channel;
    return askToPredict(menu, { panel: name, row: 0, column });
  }
  const middle = { panel: name, row: Math.floor(rows.length / 2), column: Math.floor(columns.length / 2) };
  askToPredict(menu, pinned?.panel === name ? pinned : middle);
}

/** @param {Shared} board @param {Shown} shown */
async function copyNumbers(board, { values, dtype, spec }) {
  const rows = rowsOf(values, spec.columns.length).map((row) =>
    row.map((value) => fullNumber(value, dtype).replaceAll("\u2212", "-")),
  );
  try {
    await navigator.clipboard.writeText(rows.map((row) => row.join("\t")).join("\n"));
    board.say(say("panel.copied", { name: spec.label }));
  } catch {
    board.say(say("panel.not_copied"));
  }
}

/** @param {HTMLDetailsElement} menu */
export function openMenu(menu) {
  menu.open = true;
  menu.querySelector("button")?.focus();
}

/** @param {[string, () => void][]} entries */
function createMenu(entries) {
  const about = element("p");
  const list = element("div.cv-menu-list", about);
  const summary = element("summary", { tabindex: "-1" }, "\u22ef"); // Shift+F10 or the menu key opens it
  const menu = createPopover("cv-menu", summary, list);
  for (const [label, action] of entries) {
    const button = makeButton({}, label, () => {
      summary.focus(); // or the focus is lost
      menu.open = false;
      action();
    });
    list.append(button);
  }

  menu.addEventListener("focusout", (event) => {
    if (!menu.contains(/** @type {Node | null} */ (event.relatedTarget))) menu.open = false;
  });
  return Object.assign(menu, { about });
}
