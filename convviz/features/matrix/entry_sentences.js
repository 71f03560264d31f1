// What an entry of a matrix is, in words.
import { fullNumber } from "../../web/base/format.js";
import { say } from "./sentences.js";

/**
 * @import { MatrixLinks, Tap } from "./linked_entries.js"
 * @import { MatrixData, MatrixMap } from "./views.js"
 * @typedef {{ data: MatrixData, links: MatrixLinks, map: MatrixMap, row: number, column: number }} Entry
 * @typedef {"window" | "kernel" | "padded" | "input"} Part
 */

/** @param {Entry} entry */
export function entryInWords(entry) {
  const { data, map, row, column } = entry;
  const value = fullNumber(map.values[row][column], data.dtype);
  const values = { entry: `${map.name}[${row},${column}]`, value };
  if (map.image) return imageInWords(entry, values);
  const axes = [axisInWords(entry, "rows"), axisInWords(entry, "columns")];
  const [axis, other] = axes.filter(Boolean);
  const said = say(other ? "entry.two_axes" : "entry.one_axis", { ...values, axis, other });
  return [said, ...noteOf(entry)].join(" ");
}

/** @param {Entry} entry @param {{ entry: string, value: string }} values */
function imageInWords(entry, values) {
  const { note } = entry.map;
  if (note !== "overlap" && note !== "added") return say("entry", values);
  const count = tapsOf(entry).length;
  if (note === "overlap") return say("entry.overlap", { ...values, count });
  return say(count ? "entry.added" : "entry.unread", { ...values, count });
}

/** @param {Entry} entry */
function tapsOf({ links, map, row, column }) {
  const { out, in: channel, ...wanted } = links.meaning(map, row, column);
  return links.find(wanted);
}

/** @param {Entry} entry @param {Part} part @param {number | null | undefined} flat */
const placeOf = ({ links }, part, flat) => `(${links.place(part, Number(flat)).join(", ")})`;

/** @param {Entry} entry @param {"rows" | "columns"} side */
function axisInWords(entry, side) {
  const { data, links, map, row, column } = entry;
  const [axis, index] = [map[side], side === "rows" ? row : column];
  const [ins, outs] = /** @type {("input" | "output")[]} */ (
    data.geometry.transposed ? ["output", "input"] : ["input", "output"]
  );
  if (!axis || axis === "one") return ""; // an image has no axes
  if (axis === "out") return say(`entry.${side}_${outs}`, { index, channel: data.out_channels[index] });
  const found = links.meaning(map, row, column);
  const place = placeOf(entry, axis, found[axis]);
  if (axis === "kernel")
    return say(`entry.${side}_${ins}_kernel`, { index, channel: data.in_channels[Number(found.in)], place });
  return map.words
    ? say(`entry.${side}_cell`, { index, place, name: map.words[axis] })
    : say(`entry.${side}_window`, { index, place });
}

/** @param {Entry} entry @returns {string[]} */
function noteOf(entry) {
  const { note } = entry.map;
  if (!note) return [];
  const taps = tapsOf(entry);
  if (note === "copied") return [originOf(entry, taps[0])];
  if (note === "returned")
    return [say("entry.returned", { place: placeOf(entry, "padded", taps[0].padded) })];
  if (!taps.length) return [say("entry.apart")];
  const weights = taps.map(({ kernel }) => placeOf(entry, "kernel", kernel));
  if (weights.length === 1) return [say("entry.weight", { place: weights[0] })];
  return [say("entry.weights", { places: weights.reduce((some, last) => say("entry.and", { some, last })) })];
}

/** @param {Entry} entry @param {Tap} tap */
function originOf(entry, { padded, input }) {
  const { names, geometry } = entry.data;
  const values = { padded: names.padded_input, place: placeOf(entry, "padded", padded) };
  if (input === null) return say("entry.copied_zero", values);
  if (!geometry.padding.flat().some(Boolean)) return say("entry.copied", values);
  return say("entry.copied_from", { ...values, input: names.input, from: placeOf(entry, "input", input) });
}
