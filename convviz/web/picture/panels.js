// The picture: rows of named panels, from facts/data/picture.json.
import PICTURE from "../../facts/data/picture.json" with { type: "json" };
import { kindsOf } from "./cell_kinds.js";
import { joined, say, sayIfThere } from "./sentences.js";
import { panelName, shownLetter } from "../rules/tensor_display_names.js";
import { shownAt } from "../rules/shown_plane.js";

/**
 * @import { Axis, PanelName } from "../rules/shown_plane.js"
 * @import { Roles } from "./cell_kinds.js"
 * @typedef {{ symbol: string, note: string, turns?: boolean }} Sign turns: begins the second reading
 * @typedef {{ name: string, called: string, label: string, tensor: Tensor, at: Pair, roles: Roles, shape:
 *   number[] }} Panel tensor: with four axes
 * @typedef {Panel | Sign} Item
 * @typedef {{ name: string, title: string, items: Item[], choices: [Axis, number][], view: string }}
 *   Equation
 * @typedef {PanelName | "bias" | "grad_bias"} ShownName
 * @typedef {{ over?: Axis, with?: ShownName, without?: ShownName }} Needs a stage, or none
 * @typedef {Needs & { symbol: string, note?: "sign.over" | "sign.folded", by_loss?: string, turns?:
 *   boolean, steps?: Record<string, "stride" | "dilation"> }} SignFacts
 * @typedef {Needs & { name: string, title: "title.forward", axes: string, view?: string, items: (ShownName
 *   | SignFacts)[] }} RowFacts
 */

const EQUATIONS = /** @type {Record<"convolution" | "transposed", RowFacts[]>} */ (PICTURE.equations);

/** @param {Item} item */
export const isPanel = (item) => "tensor" in item;

/** @param {Equation} equation */
export const panelsOf = (equation) => equation.items.filter(isPanel);

/** @param {Settings} settings @param {Stages} stages @returns {Equation[]} */
export function equationsOf(settings, stages) {
  const { spec, input_view, transposed } = settings;
  const counts = { n: spec.batch, o: spec.out_channels, c: spec.in_channels };
  const summed = { n: spec.batch, o: spec.out_channels / spec.groups, c: spec.in_channels / spec.groups };
  /** @param {ShownName | Needs} item @returns {boolean} */
  const isThere = (item) =>
    typeof item === "string"
      ? stages[item] !== null
      : isThere(item.with ?? "output") &&
        !(item.without && isThere(item.without)) &&
        (!item.over || summed[item.over] > 1);
  /** Caches each panel, because several equations may show it. @type {Map<ShownName, Panel>} */
  const panels = new Map();
  /** @param {ShownName} name */
  const panelNamed = (name) => {
    const panel = panels.get(name) ?? panelOf(settings, stages, name);
    panels.set(name, panel);
    return panel;
  };
  const rows = EQUATIONS[transposed ? "transposed" : "convolution"];
  const shown = rows.filter((row) => (row.view ?? input_view) === input_view && isThere(row));
  return shown.map(({ name, title, items, axes, view = "" }) => ({
    name,
    title: say(title),
    items: items
      .filter(isThere)
      .map((item) => (typeof item === "string" ? panelNamed(item) : signOf(settings, item))),
    choices: /** @type {Axis[]} */ ([...axes])
      .filter((axis) => counts[axis] > 1)
      .map((axis) => [axis, counts[axis]]),
    view,
  }));
}

/** @param {Settings} settings @param {Stages} stages @param {ShownName} name @returns {Panel} */
function panelOf(settings, stages, name) {
  const { spec, plane, transposed } = settings;
  const own = /** @type {Tensor} */ (stages[name]); // rows ask for existing ones
  const [called, { shape }] = [panelName(name, settings), own];
  const tensor = shape.length === 1 ? { shape: [1, 1, 1, ...shape], data: own.data } : own;
  const roles = kindsOf(spec, name, tensor.shape.slice(2));
  if (shape.length === 1) return { name, called, label: called, tensor, at: [0, 0], roles, shape };
  const at = shownAt(plane, spec, /** @type {PanelName} */ (name), transposed);
  // Only with a choice.
  const label = shape[0] * shape[1] > 1 ? `${called}[${at.join(", ")}]` : called;
  return { name, called, label, tensor, at, roles, shape };
}

/** Steps of 1 are left out. @param {Settings} settings @param {SignFacts} sign */
function signOf({ spec, transposed, loss }, { symbol, note, by_loss, turns, over = "n", steps = {} }) {
  const notes = note ? [say(note, { axis: shownLetter(over, transposed) })] : [];
  if (by_loss) notes.push(sayIfThere(`${by_loss}.${loss}`, { count: spec.batch }));
  for (const [word, field] of Object.entries(steps)) {
    // swapped to the weight
    const [down, across] = spec[field];
    const step = down === across ? String(down) : `${down} × ${across}`;
    if (step !== "1") notes.push(say(/** @type {"sign.stride"} */ (`sign.${word}`), { step }));
  }
  return { symbol, note: joined("list.comma", notes.filter(Boolean)), ...(turns && { turns }) };
}
