// @ts-check
// What an entry of a matrix is, in words.
import WORDS from "../../../facts/words/tabs.json" with { type: "json" };
import { fullNumber } from "../../base/format.js";
import { sentences } from "../../base/words.js";

const say = sentences(WORDS);

/**
 * @import { MatrixLinks, Tap } from "./links.js"
 * @import { MatrixData, MatrixMap } from "./views.js"
 */

/**
 * Describe an entry.
 * @param {MatrixData} data @param {MatrixLinks} links
 * @param {MatrixMap} map @param {number} row @param {number} column
 */
export function entryInWords(data, links, map, row, column) {
  const values = {
    entry: `${map.name}[${row},${column}]`,
    value: fullNumber(map.values[row][column], data.dtype),
  };
  if (map.image) return imageInWords(links, map, row, column, values);
  const axes = [axisInWords(data, links, map, "rows", row), axisInWords(data, links, map, "columns", column)];
  const [axis, other] = axes.filter(Boolean);
  const said = say(other ? "entry.two_axes" : "entry.one_axis", { ...values, axis, other });
  return [said, ...noteOf(data, links, map, row, column)].join(" ");
}

/**
 * @param {MatrixLinks} links @param {MatrixMap} map @param {number} row @param {number} column
 * @param {{ entry: string, value: string }} values
 */
function imageInWords(links, map, row, column, values) {
  if (map.note !== "overlap" && map.note !== "added") return say("entry", values);
  const count = tapsOf(links, map, row, column).length;
  if (map.note === "overlap") return say("entry.overlap", { ...values, count });
  return say(count ? "entry.added" : "entry.unread", { ...values, count });
}

/**
 * @param {MatrixLinks} links @param {MatrixMap} map @param {number} row @param {number} column
 * @returns {Tap[]}
 */
function tapsOf(links, map, row, column) {
  const { out, in: channel, ...wanted } = links.meaning(map, row, column);
  return links.find(wanted);
}

/**
 * @param {MatrixData} data @param {MatrixLinks} links @param {MatrixMap} map @param {"rows" | "columns"} side
 * @param {number} index
 */
function axisInWords(data, links, map, side, index) {
  const axis = map[side];
  const place = (part, flat) => `(${links.place(part, flat).join(", ")})`;
  const [ins, outs] = /** @type {("input" | "output")[]} */ (
    data.geometry.transposed ? ["output", "input"] : ["input", "output"]
  );
  if (!axis || axis === "one") return ""; // an image has no axes
  if (axis === "out") return say(`entry.${side}_${outs}`, { index, channel: data.out_channels[index] });
  const found = side === "rows" ? links.meaning(map, index, 0) : links.meaning(map, 0, index);
  if (axis === "kernel")
    return say(`entry.${side}_${ins}_kernel`, {
      index,
      channel: data.in_channels[/** @type {number} */ (found.in)],
      place: place("kernel", found.kernel),
    });
  if (map.words)
    return say(`entry.${side}_cell`, { index, place: place(axis, found[axis]), name: map.words[axis] });
  return say(`entry.${side}_window`, { index, place: place("window", found.window) });
}

/**
 * What more there is to say about an entry.
 * @param {MatrixData} data @param {MatrixLinks} links @param {MatrixMap} map @param {number} row
 * @param {number} column @returns {string[]}
 */
function noteOf(data, links, map, row, column) {
  const { names, geometry } = data;
  const place = (part, flat) => `(${links.place(part, flat).join(", ")})`;
  const taps = map.note ? tapsOf(links, map, row, column) : [];
  if (map.note === "copied") return [originOf(geometry, names, taps[0], place)];
  if (map.note === "returned") return [say("entry.returned", { place: place("padded", taps[0].padded) })];
  if (map.note !== "taps") return [];
  if (!taps.length) return [say("entry.apart")];
  const weights = taps.map((tap) => place("kernel", tap.kernel));
  if (weights.length === 1) return [say("entry.weight", { place: weights[0] })];
  return [say("entry.weights", { places: weights.reduce((some, last) => say("entry.and", { some, last })) })];
}

/**
 * @param {import("../../rules/spec.js").Geometry} geometry @param {Record<string, string>} names
 * @param {Tap} tap @param {(part: string, flat: number) => string} place
 */
function originOf(geometry, names, tap, place) {
  const values = { padded: names.padded_input, place: place("padded", tap.padded) };
  if (tap.input === null) return say("entry.copied_zero", values);
  if (!geometry.padding.flat().some(Boolean)) return say("entry.copied", values);
  return say("entry.copied_from", { ...values, input: names.input, from: place("input", tap.input) });
}
