// What a step shows: flights, the stamps' sum, words.
import { formatNumber } from "../../base/format.js";
import { say } from "../../base/board_sentences.js";
import { stampedSoFar } from "../../numbers/stamps_so_far.js";
import { Links, planesOf } from "../../picture/find_linked_cells.js";
import { allInTurn } from "../../picture/sentences.js";
import { stampLinks } from "../../picture/stamp_and_window_pairs.js";
import { findPlane } from "../../picture/cell_products.js";
import { upTo } from "../../rules/shapes_and_indices.js";

/**
 * @import { Walk } from "../../picture/window_positions.js"
 * @import { BothWays } from "../../picture/both_readings.js"
 * @typedef {{ geometry: Geometry, walk: Walk, row: number, column: number, panelOf: (name: string) => Panel,
 *   both: BothWays | null }} Step both: its product, where both readings are stepped through
 */

/** @param {Step} step */
export function stepFlights({ geometry, walk, row, column, panelOf, both }) {
  const cell = { panel: walk.over, row, column };
  const value = (place) => panelOf(place.panel)?.grid.value(place.row, place.column) ?? NaN;
  const flights = both
    ? [both.kernel, both.rotated].map((from) => ({
        from,
        to: both.to,
        value: value(cell) * value(both.kernel),
      }))
    : walk.unit === "stamp"
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
 * Returns the planes of grad_output and the kernel that add up to the shown plane, or null where one is missing.
 * @param {Geometry} geometry @param {import("../band/band.js").Values} numbers @param {Step["panelOf"]} panelOf
 */
export function planesOfGroup(geometry, numbers, panelOf) {
  const pairs = planesOf(geometry, "grad_input", true);
  const read = (name, at) => {
    const spec = panelOf(name).spec();
    const found = findPlane(spec, numbers, at);
    return found && upTo(spec.rows.length * spec.columns.length).map((i) => found.values[found.start + i]);
  };
  const gradients = pairs.map(([, image]) => read("grad_output", image));
  const kernels = pairs.map(([kernel]) => read("weight", kernel));
  const planes = [...gradients, ...kernels].filter((plane) => plane !== null);
  const outputs = pairs.length;
  if (planes.length < 2 * outputs) return null;
  return { gradients: planes.slice(0, outputs), kernels: planes.slice(outputs) };
}

/**
 * Sums the first stamps and the first cells of the next one, or returns null where a plane is missing.
 * @param {Geometry} geometry @param {import("../band/band.js").Values} numbers
 * @param {{ stamps: number, cells: number }} so_far @param {Step["panelOf"]} panelOf
 */
export function sumOfStamps(geometry, numbers, { stamps, cells }, panelOf) {
  const { c } = geometry.plane;
  const all = planesOfGroup(geometry, numbers, panelOf);
  if (!all) return null;
  const { plane, folded } = stampedSoFar(geometry, all.gradients, all.kernels, stamps, cells);
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
  const sentences = [say(dropped ? "step.stamps_padding" : "step.stamps", values)];
  return allInTurn([...sentences, ...aroundStep(geometry, lacking)]);
}

/** @param {Geometry} geometry @param {boolean} lacking */
function aroundStep(geometry, lacking) {
  const sentences = geometry.out_channels / geometry.groups > 1 ? [say("step.several")] : [];
  return lacking ? [...sentences, say("step.lacking")] : sentences;
}

/**
 * @param {Step & { both: BothWays }} step @param {{ zeros: number, stamps: number }} products
 * @param {boolean} lacking
 */
export function productWords({ geometry, panelOf, both }, { zeros, stamps }, lacking) {
  const nameOf = ({ panel, row, column }) => `${panelOf(panel).spec().label}[${row},${column}]`;
  const numberOf = ({ panel, row, column }) => panelOf(panel).grid.value(row, column);
  const [value, weight] = [both.from, both.kernel].map(numberOf);
  const names = Object.fromEntries(
    ["from", "kernel", "to", "rotated"].map((part) => [part, nameOf(both[part])]),
  );
  const product = formatNumber(value * weight + 0); // adding 0 turns -0 into 0
  const written = formatNumber(weight);
  const numbers = { value: formatNumber(value), weight: weight < 0 ? `(${written})` : written, product };
  const sentences = [say("step.both", { ...names, ...numbers })];
  if (zeros)
    sentences.push(
      say("step.zeros", { count: zeros, all: stamps, from: panelOf("grad_output").spec().called }),
    );
  return allInTurn([...sentences, ...aroundStep(geometry, lacking)]);
}

/** Its factors as both readings have them, and where it lands. @param {BothWays} both @returns {Link[]} */
export const productLinks = ({ from, kernel, seen, rotated, to, folded }) =>
  [from, seen, kernel, rotated, to, ...(folded ? [folded] : [])].map((place) => ({
    ...place,
    real: true,
    kernel: [from, seen].includes(place) ? null : kernel,
  }));
