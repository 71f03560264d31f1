// What the sentences of a step are filled with: numbers that are looked up or counted in the present state,
// so that no sentence stands beside a state of which it is not true.
import { formatLong } from "../base/format.js";
import { Links } from "../picture/find_linked_cells.js";
import { isSingleOne } from "../rules/change_settings.js";
import { planeIndex, planeWithin, shownAt } from "../rules/shown_plane.js";
import { LINK_KEYS } from "../rules/schema.js";
import { effectiveKernel, geometryOf, remainderOf } from "../rules/conv_geometry.js";
import { windowsOn } from "../rules/taps.js";
import { countOf, flatIndex } from "../rules/shapes_and_indices.js";

/**
 * @typedef {{ settings: Settings, stages: Record<string, any> }} Seen
 * @typedef {{ now: Seen, start: Seen }} Moment
 */

/** Returns the row and column of the single 1, or null where there is none. @param {Settings} settings */
export function placeOfOne(settings) {
  if (!isSingleOne(settings)) return null;
  const { grad, spec, plane, transposed } = settings;
  const { output_size, input_size } = geometryOf(spec, plane, transposed);
  const [, , row = 0, column = 0] = grad.values ?? [];
  const size = transposed ? input_size : output_size;
  return { row: Math.min(row, size[0] - 1), column: Math.min(column, size[1] - 1) };
}

/**
 * In its tensor, from the shown plane; of a bias, its channel.
 * @param {Settings} settings @param {Tensor} tensor @param {string} panel @param {number} row
 * @param {number} column
 */
export function indicesOf({ plane, spec, transposed }, tensor, panel, row, column) {
  if (tensor.shape.length === 1) return [planeIndex(planeWithin(plane, spec), transposed ? "c" : "o")];
  const name = /** @type {import("../rules/shown_plane.js").PanelName} */ (panel);
  return [...shownAt(plane, spec, name, transposed), row, column];
}

/**
 * Returns the number of a cell of the shown plane, or NaN where its tensor has no such cell.
 * @param {Settings} settings @param {Tensor} tensor @param {string} panel @param {number} row @param {number} column
 */
export function numberIn(settings, tensor, panel, row, column) {
  const at = indicesOf(settings, tensor, panel, row, column);
  if (at.some((each, axis) => each >= tensor.shape[axis])) return NaN; // the cell is gone
  return tensor.data[flatIndex(tensor.shape, at)];
}

/** @param {Seen} seen @param {Record<string, number>} [plane] */
const inPlane = ({ settings, stages }, plane) => ({
  stages,
  settings: plane ? { ...settings, plane: { ...settings.plane, ...plane } } : settings,
});

/** @param {Seen} seen @param {[string, number, number]} cell */
const cellOf = ({ settings, stages }, [panel, row, column]) =>
  numberIn(settings, stages[panel], panel, row, column);

/** @param {Settings} settings @param {number[]} pixel */
const windowsIn = ({ spec, plane, transposed }, pixel) =>
  windowsOn(geometryOf(spec, plane, transposed), pixel);

/** @param {Seen} seen @param {[string, number, number]} cell */
function sumOf(seen, cell) {
  const [panel] = cell;
  const factors = termsOf(seen.settings, cell).map((term) =>
    [term.image, term.kernel].map((each) => cellOf(seen, [each.panel, each.row, each.column])),
  );
  // Gradient first, as the board has it; what was not asked brings nothing.
  const inOrder = panel === "grad_weight" ? factors.map(([pixel, gradient]) => [gradient, pixel]) : factors;
  const asked = panel === "output" ? inOrder : inOrder.filter(([gradient]) => gradient !== 0);
  return asked.map((pair) => pair.map(formatLong).join("·")).join(" + ") || "0";
}

/** @param {Settings} settings @param {[string, number, number]} cell */
const termsOf = ({ spec, plane, transposed }, [panel, row, column]) =>
  new Links(geometryOf(spec, plane, transposed)).terms({ panel, row, column });

/** @param {Settings} settings @param {string} key */
function settingOf(settings, key) {
  const { field } = LINK_KEYS[key];
  const value = /** @type {Record<string, any>} */ (field in settings.spec ? settings.spec : settings)[field];
  return [value].flat(2).every((each, _, all) => each === all[0]) ? [value].flat(2)[0] : value.join(" × ");
}

/** @type {Record<string, (moment: Moment, value: any) => string | number>} */
const FOUND = {
  cell: ({ now, start }, { cell, when, plus = 0, plane }) => {
    const [then, here] = [cellOf(inPlane(start, plane), cell), cellOf(inPlane(now, plane), cell)];
    return formatLong((when === "start" ? then : when === "change" ? here - then : here) + plus);
  },
  name: (_, { name: [panel, row, column] }) => `${panel}[${row},${column}]`,
  one: ({ now }) => {
    const place = placeOfOne(now.settings);
    return place ? `[${place.row},${place.column}]` : "";
  },
  windows: ({ now, start }, { windows, when }) =>
    windowsIn((when === "start" ? start : now).settings, windows),
  outside: ({ now }, { outside }) =>
    countOf(now.settings.spec.kernel_size) - windowsIn(now.settings, outside),
  kernel: ({ now }) => countOf(now.settings.spec.kernel_size),
  setting: ({ now }, { setting }) => settingOf(now.settings, setting),
  remainder: ({ now }, { remainder }) => remainderOf(now.settings.spec, remainder),
  sum: ({ now }, { sum, plane }) => sumOf(inPlane(now, plane), sum),
  terms: ({ now }, { terms }) => termsOf(now.settings, terms).length,
  extent: ({ now, start }, { extent: [panel, axis], when }) =>
    (when === "start" ? start : now).stages[panel].shape[2 + axis],
  numbers: ({ now }, { numbers }) => countOf(now.stages[numbers].shape),
  reach: ({ now }, { reach }) => effectiveKernel(now.settings.spec, reach),
  border: ({ now: { settings } }, { border }) =>
    geometryOf(settings.spec, settings.plane, settings.transposed).gradient_padding[border],
  loss: ({ now, start }, { when }) =>
    formatLong((when === "start" ? start : now).stages.loss - (when === "change" ? start.stages.loss : 0)),
  rate: ({ now, start }, { rate }) => formatLong((now.stages.loss - start.stages.loss) / rate),
};
export const KINDS_OF_VALUE = Object.keys(FOUND);

/**
 * @param {Record<string, Record<string, any>>} values @param {Moment} moment
 * @returns {Record<string, string | number>}
 */
export function valuesOf(values, moment) {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => {
      const kind = /** @type {string} */ (KINDS_OF_VALUE.find((each) => each in value));
      return [name, FOUND[kind](moment, value)];
    }),
  );
}
