// What the tab My numbers says of pasted numbers.
import { formatLong } from "../../web/base/format.js";
import { shownAt } from "../../web/rules/shown_plane.js";
import { shownName } from "../../web/rules/tensor_display_names.js";
import { indicesAt, largestOf } from "../../web/rules/shapes_and_indices.js";
import { whereWrong } from "./explain_numbers.js";
import { say } from "./sentences.js";

/**
 * @import { Asked, Verdict } from "./explain_numbers.js"
 * @import { Pasted } from "./read_numbers.js"
 * @import { Near } from "./nearest.js"
 * @import { Unreadable } from "./printed_tokens.js"
 * @import { Id } from "./sentences.js"
 */

const AXES = {
  image: /** @type {const} */ (["sample", "channel", "row", "column"]),
  weight: /** @type {const} */ (["out_channel", "in_channel", "row", "column"]),
};
const FLOAT64 = 1e-10; // of the largest number

/** @param {number[]} shape */
export const shapeText = (shape) => `[${shape.join(", ")}]`;

/** @param {Unreadable} problem */
export function problemWords({ id, line, column, values }) {
  const what = say(/** @type {Id} */ (`problem.${id}`), values);
  return line ? say("problem.at", { line, column, what }) : what;
}

/** @param {Verdict} verdict @param {Pasted} pasted @param {Asked} asked @returns {string[]} */
export function verdictWords(verdict, pasted, { settings: { transposed }, of }) {
  const { right, tensor, reading, wrong, nans, apart } = verdict;
  const name = shownName(of, transposed);
  const count = tensor.data.length;
  if (right) return [say("right", { count, name }), ...comparedWords(pasted, tensor, apart)];
  const lines = nans ? [say("nan", { count: nans })] : [];
  if (!reading)
    return [...lines, say("shape", { got: shapeText(pasted.shape), wanted: shapeText(tensor.shape), name })];
  lines.push(say("wrong", { wrong: wrong.length, right: count - wrong.length, count, name }));
  const axes = of === "grad_weight" ? AXES.weight : AXES.image;
  for (const { axis, places } of count > wrong.length ? whereWrong(tensor.shape, wrong) : []) {
    const named = tensor.shape.length === 4 ? axes[axis] : "channel";
    const text = places.map(String).reduce((these, last) => say("where.and", { these, last }));
    lines.push(say("where", { axis: say(`axis.${named}`), places: text }));
  }
  return [...lines, cellWords(verdict, wrong[0], name)];
}

/** @param {Pasted} pasted @param {Tensor} right @param {number} apart */
function comparedWords({ half }, right, apart) {
  if (half.some((size) => size > 0)) return [say("right.printed")];
  return apart > FLOAT64 * largestOf(right.data) ? [say("right.float32", { apart: formatLong(apart) })] : [];
}

/** @param {Verdict} verdict @param {number} at @param {string} name */
export function cellWords({ tensor, reading, wrong }, at, name) {
  const cell = `${name}${shapeText(indicesAt(tensor.shape, at))}`;
  const got = formatLong(reading?.data[at] ?? NaN);
  return wrong.includes(at)
    ? say("cell", { cell, got, right: formatLong(tensor.data[at]) })
    : say("cell.right", { cell, got });
}

/** @param {Near} near @param {boolean} transposed */
export function nearWords({ kind, values }, transposed) {
  const shown = Object.fromEntries(
    Object.entries(values).map(([key, value]) => [
      key,
      key === "tensor"
        ? shownName(String(value), transposed)
        : key === "factor" || key === "offset"
          ? formatLong(Number(value))
          : value,
    ]),
  );
  return say(/** @type {Id} */ (`near.${kind}`), shown);
}

/** Says why no mistake was named, or which one comes closest. @param {Verdict} verdict @param {boolean} transposed */
export function unnamedWords({ tried, closest, tensor }, transposed) {
  if (transposed) return say("untried.transposed");
  if (!tried) return say("untried");
  if (!closest) return say("unknown");
  const { cells, mistake } = closest;
  return say("closest", { cells, count: tensor.data.length, title: mistake.title });
}

/** The plane on the board. @param {Settings} settings @param {Asked["of"]} of */
export const planeAt = ({ plane, spec, transposed }, of) =>
  shownAt(plane, spec, of === "grad_bias" ? "grad_output" : of, transposed);
