// What a visitor can ask for, by message type.
import { equationsOf, panelsOf } from "../picture/panels.js";
import { oneHot, oneHotPanels, setSize } from "../rules/change_settings.js";
import { editCell, editedPanels, paintCells } from "../rules/edit_cells.js";
import { UNDO_STROKE } from "../rules/undo_rules.js";
import { panelName } from "../rules/tensor_display_names.js";
import { choosePlane, showPlane } from "../rules/shown_plane.js";
import { say } from "../rules/sentences.js";
import { setGradSource } from "../rules/grad_output_source.js";
import { replaced } from "../rules/settings_and_tensors.js";

/**
 * @import { Plane } from "../rules/shown_plane.js"
 * @typedef {{ settings: Settings, numbers: Numbers }} Shown the numbers on the board, and what they follow
 *   from
 */

/** @type {Record<string, (page: Model, message: any) => void>} */
const ACTIONS = {
  select(page, { panel, row, column, move }) {
    const walks = oneHotPanels(page.settings()).includes(panel);
    if (walks) page.apply(oneHot(page.settings(), row, column), move);
    // While the 1 walks, a pinned pixel stays.
    if (!(walks && !page.settings().transposed && page.get("selected")?.panel === "grad_input"))
      page.select({ panel, row, column });
  },
  send: (page, { what }) => page.apply(setGradSource(page.settings(), what)),
  release: (page) => page.select(null),
  edit: (page, { move, ...message }) => page.apply(edited(page.settings(), page.shown(), message), move),
  paint: (page, { stroke, ...message }) =>
    page.apply(paintCells(page.settings(), message), `${UNDO_STROKE}${stroke}`),
  draw: (page, { value }) => page.draw(value),
  plane: (page, { panel, at }) =>
    page.apply(
      withPlane(page.settings(), ({ plane, spec, transposed }) =>
        showPlane(plane, spec, panel, at, transposed),
      ),
    ),
  axis: (page, { axis, index }) =>
    page.apply(withPlane(page.settings(), ({ plane, spec }) => choosePlane(plane, spec, axis, index))),
  view: (page, { view }) => page.apply([replaced(page.settings(), { input_view: view }), []]),
  break: (page, { changes }) => page.apply([replaced(page.settings(), changes), []]),
  size: (page, { size }) => page.apply(setSize(page.settings(), size[0], size[1])),
  undo: (page) => page.turn("undo"),
  redo: (page) => page.turn("redo"),
  open: (page, { link }) => page.open(link),
  restore: (page, { state }) => page.restore(state),
  reset(page) {
    page.reset();
    page.select(null); // nothing was asked yet
  },
  plotly: (page) => page.givePlotly(),
};

/** Runs the action of a message and ignores unknown types. @param {Model} page @param {any} message */
export function act(page, message) {
  if (Object.hasOwn(ACTIONS, message.type)) ACTIONS[message.type](page, message);
}

/** @param {Settings} settings @param {(settings: Settings) => Plane} choose @returns {Changed} */
const withPlane = (settings, choose) => [replaced(settings, { plane: choose(settings) }), []];

/**
 * @param {Settings} settings @param {Shown | null} shown @param {Place & { value: number }} message
 * @returns {Changed}
 */
function edited(settings, shown, message) {
  checkShown(settings, shown, message);
  const gradOutput = shown?.numbers.stages[shown.settings.transposed ? "input" : "grad_output"];
  return editCell(settings, message, gradOutput);
}

/**
 * Throws the sentence to show where the board does not show the cell to be written.
 * @param {Settings} settings @param {Shown | null} shown @param {Place} place
 */
function checkShown(settings, shown, { panel, row, column }) {
  if (!(panel in editedPanels(settings))) return; // editCell says why
  const panels = shown ? equationsOf(shown.settings, shown.numbers.stages).flatMap(panelsOf) : [];
  const [height, width] = panels.find(({ name }) => name === panel)?.tensor.shape.slice(2) ?? [0, 0];
  if (row < height && column < width) return;
  throw new Error(say("refused.shown", { row, column, name: panelName(panel, settings), height, width }));
}
