// Writing numbers into cells.
import SETTINGS from "../../facts/data/settings.json" with { type: "json" };
import { kindsTaken, lossWith } from "./loss_inputs.js";
import { isPlain, panelName } from "./tensor_display_names.js";
import { say } from "./sentences.js";
import {
  MAX_NUMBER,
  biasOf,
  inputOf,
  likeOutput,
  replaced,
  sourceWith,
  weightOf,
} from "./settings_and_tensors.js";
import { backwardPadding } from "./conv_geometry.js";
import { shownAt } from "./shown_plane.js";
import { flatIndex } from "./shapes_and_indices.js";

/**
 * @typedef {"input" | "weight" | "grad" | "bias" | "target"} EditedField
 */

/**
 * With the setting that holds their numbers.
 * @param {Pick<Settings, "spec" | "transposed" | "loss">} settings @returns {Record<string, EditedField>}
 */
export function editedPanels({ spec, transposed, loss }) {
  const { target, ...others } = /** @type {any} */ (
    transposed ? SETTINGS.edited.transposed : SETTINGS.edited.convolution
  );
  if (isPlain(spec.stride)) others.dilated_grad_output = others.grad_output;
  if (kindsTaken(loss, "target").includes("values")) others.target = target; // other losses name theirs
  return others;
}

/**
 * @param {Settings} settings @param {{ panel: string, row: number, column: number, value: number }} edit
 * @param {Tensor | null} [gradOutput] as shown: typing into it ends its loss @returns {Changed}
 */
export function editCell(settings, { panel, row, column, value }, gradOutput = null) {
  const fields = editedPanels(settings);
  if (!fields[panel]) {
    const names = [...new Set(Object.keys(fields).map((name) => panelName(name, settings)))];
    throw new Error(say("refused.follows", { name: panelName(panel, settings), panels: names.join(", ") }));
  }
  if (!(Math.abs(value) < MAX_NUMBER)) throw new Error(say("refused.number", { most: MAX_NUMBER, value }));
  const made = withCells(settings, panel, [[row, column]], value, gradOutput);
  if (!made) throw new Error(say(panel === "padded_grad_output" ? "refused.zero" : "refused.border"));
  return [made, []];
}

/**
 * Border cells and inserted zeros stay.
 * @param {Settings} settings @param {{ panel: string, cells: Pair[], value: number }} stroke
 * @returns {Changed}
 */
export function paintCells(settings, { panel, cells, value }) {
  if (!gesturesOn(settings)(panel).drawable)
    throw new Error(say("refused.drawn", { name: panelName(panel, settings) }));
  if (!(Math.abs(value) < MAX_NUMBER)) throw new Error(say("refused.number", { most: MAX_NUMBER, value }));
  return [withCells(settings, panel, cells, value, null) ?? settings, []];
}

/**
 * Returns a number with all its digits, or NaN where the cell is not data.
 * @param {Settings} settings @param {string} panel @param {number} row @param {number} column
 */
export function givenNumber(settings, panel, row, column) {
  const { data, found } = cellsIn(settings, panel, [[row, column]], null);
  return found.length ? data[found[0]] : NaN;
}

/**
 * What a hand does to the cells of a panel. editable: types; drawable: draws, on the input; dragged: given numbers,
 * not a loss's grad_output, which a typed number would end; slides: each is a slider, as the kernel's always given ones.
 * @param {Pick<Settings, "spec" | "transposed" | "loss">} settings
 */
export function gesturesOn(settings) {
  const fields = editedPanels(settings);
  const isGradGiven = kindsTaken(settings.loss, "grad").length > 0;
  return (/** @type {string} */ panel) => {
    const field = fields[panel];
    return {
      editable: Boolean(field),
      drawable: field === "input",
      dragged: Boolean(field) && (field !== "grad" || isGradGiven),
      slides: field === "weight",
    };
  };
}

const LEAST_REACH = 3;

/**
 * How far the sliders of a kernel go from zero: as far as its numbers; of a layer's own, mostly below 1, to 1.
 * @param {number[]} values
 */
export function weightReach(values) {
  if (values.every((value) => Math.abs(value) < 1)) return 1;
  return Math.max(LEAST_REACH, ...values.map((value) => Math.ceil(Math.abs(value))).filter(Number.isFinite));
}

/**
 * Writes a value into cells. Returns null where none of them is data.
 * @param {Settings} settings @param {string} panel @param {Pair[]} cells @param {number} value
 * @param {Tensor | null} gradOutput
 */
function withCells(settings, panel, cells, value, gradOutput) {
  const { field, shape, data, found } = cellsIn(settings, panel, cells, gradOutput);
  if (!found.length) return null;
  const changed = { shape, data: data.slice() };
  for (const index of found) changed.data[index] = value;
  const loss = field === "grad" ? lossWith("grad") : settings.loss;
  return replaced(settings, { [field]: sourceWith(changed), loss });
}

/**
 * The tensor that a panel edits, and where cells stand in its data, those that are data.
 * @param {Settings} settings @param {string} panel @param {Pair[]} cells
 * @param {Tensor | null} gradOutput
 */
function cellsIn(settings, panel, cells, gradOutput) {
  const field = editedPanels(settings)[panel];
  const { shape, data } = editedTensor(settings, field, gradOutput);
  const axes = field === "bias" ? [1, 1, 1, ...shape] : shape;
  const places = cells.map(([row, column]) => placeOf(settings, panel, row, column));
  const inside = places.filter((index) => index.every((at, axis) => at >= 0 && at < axes[axis]));
  const found = inside.map((index) => flatIndex(axes, index));
  return { field, shape, data, found };
}

/** @param {Settings} settings @param {EditedField} field @param {Tensor | null} gradOutput */
function editedTensor(settings, field, gradOutput) {
  const make = {
    input: inputOf,
    weight: weightOf,
    bias: biasOf,
    target: () => likeOutput(settings, "target"),
    grad: () => likeOutput(settings, "grad") ?? gradOutput,
  }[field];
  const there = make(settings);
  if (!there) throw new Error(say("refused.bias")); // cells imply the others
  return there;
}

/**
 * Returns the indices of a cell in its tensor; they lie outside of it where the cell is not data.
 * @param {Settings} settings @param {string} panel @param {number} row @param {number} column
 */
function placeOf({ spec, plane, transposed }, panel, row, column) {
  if (panel === "bias") return [0, 0, row, column];
  const at = shownAt(plane, spec, /** @type {import("./shown_plane.js").PanelName} */ (panel), transposed);
  if (panel === "padded_input") return [...at, row - spec.padding[0][0], column - spec.padding[1][0]];
  if (panel === "padded_grad_output") {
    const places = [row, column].map((to, axis) => (to - backwardPadding(spec, axis)[0]) / spec.stride[axis]);
    // a zero of the stride
    return [...at, ...places.map((place) => (Number.isInteger(place) ? place : -1))];
  }
  return [...at, row, column];
}
