// What a step shows: flights, the stamps' sum, words.
import { formatNumber } from "../base/format.js";
import { say } from "../base/board_sentences.js";
import { stampedSoFar } from "../numbers/stamps_so_far.js";
import { Links, planesOf } from "../picture/find_linked_cells.js";
import { allInTurn } from "../picture/sentences.js";
import { stampLinks } from "../picture/stamp_and_window_pairs.js";
import { findPlane } from "../picture/cell_products.js";
import { upTo } from "../rules/shapes_and_indices.js";

/**
 * @import { Walk } from "../picture/window_positions.js"
 * @typedef {{ geometry: Geometry, walk: Walk, row: number, column: number, panelOf: (name: string) => Panel
 *   }} Step
 */

/** @param {Step} step */
export function flightsOf({ geometry, walk, row, column, panelOf }) {
  const cell = { panel: walk.over, row, column };
  const value = (place) => panelOf(place.panel)?.grid.value(place.row, place.column) ?? NaN;
  const flights =
    walk.unit === "stamp"
      ? stampLinks(geometry, walk.result, [row, column]).flatMap((to) =>
          to.panel === walk.result && to.kernel
            ? [{ from: to.kernel, to, value: value(cell) * value(to.kernel) }]
            : [],
        )
      : new Links(geometry)
          .terms(cell)
          .map(({ kernel, image }) => ({ from: image, to: cell, value: value(kernel) * value(image) }));
  return flights.filter((flight) => !Number.isNaN(flight.value));
}

/**
 * What the first stamps add up to, by panel; null: a plane is missing.
 * @param {Geometry} geometry @param {import("./band.js").Values} numbers @param {number} count
 * @param {Step["panelOf"]} panelOf
 */
export function sumOfStamps(geometry, numbers, count, panelOf) {
  const { c } = geometry.plane;
  const pairs = planesOf(geometry, "grad_input", true);
  const read = (name, at) => {
    const spec = panelOf(name).spec();
    const found = findPlane(spec, numbers, at);
    return found && upTo(spec.rows.length * spec.columns.length).map((i) => found.values[found.start + i]);
  };
  const gradients = pairs.map(([, image]) => read("grad_output", image));
  const kernels = pairs.map(([kernel]) => read("weight", kernel));
  const planes = [...gradients, ...kernels].filter((plane) => plane !== null);
  if (planes.length < 2 * pairs.length) return null;
  const outputs = pairs.length;
  const { plane, folded } = stampedSoFar(geometry, planes.slice(0, outputs), planes.slice(outputs), count);
  const bias = geometry.transposed ? (numbers.planes.bias?.[c] ?? 0) : 0; // that sum is an output
  return { plane: plane.map((value) => value + bias), folded: folded.map((value) => value + bias) };
}

/** @param {Step} step @param {boolean} lacking */
export function stampWords({ geometry, walk, row, column, panelOf }, lacking) {
  const [from, kernel, to] = ["grad_output", "weight", walk.result].map((name) => panelOf(name).spec());
  const value = formatNumber(panelOf("grad_output").grid.value(row, column));
  const touched = stampLinks(geometry, walk.result, [row, column]).filter(({ panel }) => panel === "weight");
  const dropped = touched.filter((link) => !link.real).length;
  const names = { from: `${from.label}[${row},${column}]`, value, kernel: kernel.label, to: to.label };
  const values = { ...names, dropped, cells: touched.length };
  const told = [say(dropped ? "step.stamps_padding" : "step.stamps", values)];
  if (geometry.out_channels / geometry.groups > 1) told.push(say("step.several"));
  if (lacking) told.push(say("step.lacking"));
  return allInTurn(told);
}
