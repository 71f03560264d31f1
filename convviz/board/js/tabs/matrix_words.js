// @ts-check
// What an entry of a matrix is, in words.
import { fullNumber } from "../base/format.js";

/**
 * Describe an entry.
 * @param {any} data of the tab @param {ReturnType<typeof import("./matrix_links.js").createMatrixLinks>} links
 * @param {import("./matrix_views.js").MatrixMap} map @param {number} row @param {number} column
 */
export function entryInWords(data, links, map, row, column) {
  const value = fullNumber(map.values[row][column], data.dtype);
  if (map.image) return `${map.name}[${row},${column}] = ${value}${noteOf(data, links, map, row, column)}.`;
  const axes = [axisInWords(data, links, map, "rows", row), axisInWords(data, links, map, "columns", column)];
  return `${map.name}[${row},${column}] = ${value}: ${axes.filter(Boolean).join("; ")}${noteOf(data, links, map, row, column)}.`;
}

/** @param {any} data @param {any} links @param {import("./matrix_views.js").MatrixMap} map @param {"rows" | "columns"} side @param {number} index */
function axisInWords(data, links, map, side, index) {
  const axis = map[side];
  const place = (part, flat) => `(${links.place(part, flat).join(", ")})`;
  const [ins, outs] = data.geometry.transposed ? ["output", "input"] : ["input", "output"];
  const says = `${side === "rows" ? "row" : "column"} ${index} is`;
  if (!axis || axis === "one") return ""; // an image has no axes
  if (axis === "out") return `${says} ${outs} channel ${data.out_channels[index]}`;
  const found = side === "rows" ? links.meaning(map, index, 0) : links.meaning(map, 0, index);
  if (axis === "kernel") return `${says} ${ins} channel ${data.in_channels[found.in]}, kernel cell ${place("kernel", found.kernel)}`;
  if (map.words) return `${says} cell ${place(axis, found[axis])} of ${map.words[axis]}`;
  return `${says} window ${place("window", found.window)}`;
}

/** @param {any} data @param {any} links @param {import("./matrix_views.js").MatrixMap} map @param {number} row @param {number} column */
function noteOf(data, links, map, row, column) {
  const { names, geometry } = data;
  const place = (part, flat) => `(${links.place(part, flat).join(", ")})`;
  const { out, in: channel, ...wanted } = links.meaning(map, row, column);
  const taps = map.note ? links.find(wanted) : [];
  if (map.note === "copied") return `. It is ${names.padded_input} ${place("padded", taps[0].padded)}${originOf(geometry, names, taps[0], place)}`;
  if (map.note === "returned") return `. It goes back to ${place("padded", taps[0].padded)} of the padded image`;
  if (map.note === "overlap") return `: it stands in ${counted(taps.length, "column")}`;
  if (map.note === "added") return taps.length ? `: ${counted(taps.length, "number")} added up, one a column that it stands in` : ": no window reads it";
  if (map.note === "taps") {
    if (!taps.length) return ". The one does not depend on the other";
    const weights = taps.map((tap) => place("kernel", tap.kernel));
    return weights.length === 1 ? `. It is weight ${weights[0]}` : `. Weights ${weights.join(" and ")} meet here, because the border copies this cell`;
  }
  return "";
}

/** @param {any} geometry @param {any} names @param {import("./matrix_links.js").Tap} tap @param {any} place */
function originOf(geometry, names, tap, place) {
  if (tap.input === null) return ", a padding zero";
  const from = place("input", tap.input);
  return geometry.padding.flat().some(Boolean) ? `, which is ${names.input} ${from}` : "";
}

/** @param {number} count @param {string} word */
function counted(count, word) {
  return count === 1 ? `1 ${word}` : `${count} ${word}s`;
}
