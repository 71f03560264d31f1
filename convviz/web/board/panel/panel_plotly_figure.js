// The figure of Python's app.figure() with a panel's numbers.
import { element } from "../../base/dom.js";
import { formatNumber } from "../../base/format.js";
import { rowsOf } from "../../rules/shapes_and_indices.js";
import { say } from "../../base/board_sentences.js";

const NUMBERED_UP_TO = 12; // rows or columns of a figure with numbers in its cells

/**
 * @typedef {{ values: import("../../base/format.js").Numbers, dtype: string, limit: number, spec: PanelSpec }}
 *   Shown
 */

/** @param {Shown} shown */
export function figureWith({ values, limit, spec }) {
  const rows = rowsOf(values, spec.columns.length);
  const [trace] = spec.figure.data;
  const small = Math.max(spec.rows.length, spec.columns.length) <= NUMBERED_UP_TO;
  const text = small ? { text: rows.map((row) => row.map(formatNumber)), texttemplate: "%{text}" } : {};
  const data = [{ ...trace, ...text, z: rows, zmin: -limit, zmax: limit }];
  return { data, layout: spec.figure.layout };
}

/**
 * @param {Shared} board @param {Shown} shown @param {"png" | "svg"} format @param {(text: string) => void}
 * notify
 */
export async function savePicture(board, shown, format, notify) {
  const figure = figureWith(shown);
  const { width, height } = figure.layout;
  const file = `convviz-${shown.spec.name}.${format}`;
  try {
    const plotly = await board.plotly;
    if (!plotly) return notify(say("panel.left_out"));
    const url = await plotly.toImage(figure, { format, width, height, scale: 2 });
    element("a", { href: url, download: file }).click();
    notify(say("panel.saved", { file }));
  } catch (error) {
    notify(say("panel.not_saved", { why: /** @type {Error} */ (error).message }));
  }
}
