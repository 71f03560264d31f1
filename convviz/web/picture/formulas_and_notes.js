// Sentences about the numbers. views/captions.py writes formulas and losses for stills; a test compares.
import { formatLong } from "../base/format.js";
import { allInTurn, clausesOf, inTurn, linesOf, say, sayIfThere } from "./sentences.js";
import { foldsBack } from "./cell_copies.js";
import { panelName, shownLetter, shownName } from "../rules/tensor_display_names.js";
import { shapeOfOutput } from "../rules/settings_and_tensors.js";
import {
  backwardPadding,
  bothAxes,
  outputSize,
  perGroup,
  remainderOf,
  unreadLines,
} from "../rules/conv_geometry.js";
import { countOf } from "../rules/shapes_and_indices.js";

/**
 * In Python's words, for the shown plane.
 * @param {Settings} settings @param {string} name @param {string} view
 */
export function formulaOf(settings, name, view) {
  if (name === "bias") return say("formula.bias");
  const { spec, plane, transposed, bias } = settings;
  const left = shownName(foldsBack(spec) ? "grad_padded_input" : "grad_input", transposed);
  const id = `formula.${transposed ? "layer." : ""}${formOf(spec, name, view)}`;
  const [[height, width], [down, across]] = [spec.kernel_size, bothAxes((axis) => stampAt(spec, axis))];
  const kernel = panelName("dilated_grad_output", settings);
  const sizes = { height, width, down, across };
  const formula = say(/** @type {"formula.forward"} */ (id), {
    ...indicesOf(spec, plane),
    left,
    kernel,
    ...sizes,
  });
  if (!bias || name !== (transposed ? "input" : "forward")) return formula;
  const { in_channel: c, out_channel: o } = plane;
  const channel = transposed ? index(spec.in_channels, c) : index(spec.out_channels, o);
  return say("formula.plus_bias", { formula, channel });
}

/** @param {Spec} spec @param {string} name @param {string} view */
function formOf(spec, name, view) {
  if (name === "forward") return spec.in_channels > spec.groups ? "forward.sum" : "forward";
  if (name === "input") {
    const row = view === "window" ? "window" : "stamps";
    return spec.out_channels > spec.groups ? `${row}.sum` : row;
  }
  return `weight${spec.batch > 1 ? ".sum" : ""}${overhang(spec).some(Boolean) ? ".cut" : ""}`;
}

/** An index, where there is more than one plane to choose. @param {number} planes @param {number[]} at */
const index = (planes, ...at) => (planes > 1 ? `[${at.join(", ")}]` : "");

/**
 * Sums count within the group; elsewhere its first channel is added.
 * @param {Spec} spec @param {Settings["plane"]} plane
 */
function indicesOf(spec, { sample: n, out_channel: o, in_channel: c }) {
  const [ins, outs] = perGroup(spec);
  const [k, j] = [c % ins, o % outs];
  const [no, nc] = [index(spec.batch * spec.out_channels, n, o), index(spec.batch * spec.in_channels, n, c)];
  const [ok, cj] = [index(spec.out_channels * ins, o, k), index(spec.in_channels * outs, c, j)];
  const first = { from_c: c > k ? `${c - k} + ` : "", from_o: o > j ? `${o - j} + ` : "" };
  return { n, o, c, k, j, no, nc, ok, cj, at: no && `${n}, ${o}, `, ...first };
}

/** @param {Spec} spec @param {number} axis */
function stampAt(spec, axis) {
  const before = foldsBack(spec) ? 0 : spec.padding[axis][0];
  const back = before ? ` − ${before}` : "";
  return `${spec.stride[axis] > 1 ? spec.stride[axis] : ""}${"ij"[axis]}${back}`;
}

/**
 * Returns the note on an equation; the text may be empty.
 * @param {Settings} settings @param {string} name @param {string} view
 */
export function noteOf(settings, name, view) {
  const { spec } = settings;
  if (settings.transposed) return transposedNote(settings, name, view);
  if (name === "forward") return inTurn(lossNote(settings), outputNote(spec));
  if (name === "input") return readingNote(spec, view, false);
  return name === "weight" ? inTurn(loopsNote(settings), exchangeNote(spec, false)) : "";
}

/** @param {string} kind @param {number} value */
export const lossWords = (kind, value) =>
  say(/** @type {"loss.sum"} */ (`loss.${kind}`), { value: formatLong(value) });

/** If its formula does not show it. @param {Settings} settings */
function lossNote(settings) {
  const cells = countOf(shapeOfOutput(settings));
  return sayIfThere(`loss_note.${settings.loss}`, { cells, count: settings.spec.batch });
}

/**
 * page: it cannot ask autograd; meanwhile: torch is asked; alone: the kernel was lost;
 * torch_alone: only torch can compute it.
 * @param {"page" | "meanwhile" | "alone" | "torch_alone"} who
 */
export const truthWords = (who) => say(`truth.${who}`);
/** Writes the sentence that app/step_numbers.py chose. @param {string} id @param {Record<string, string>} values */
export const torchWords = (id, values) => say(/** @type {"truth.exact"} */ (id), values);

/** @param {Spec} spec */
function outputNote(spec) {
  const uneven = spec.padding.some(([before, after]) => before !== after);
  const [rows, columns] = bothAxes((axis) => {
    const [before, after] = spec.padding[axis];
    const padding = uneven ? `(${before} + ${after})` : `2·${before}`;
    const reach = `${spec.dilation[axis]}·(${spec.kernel_size[axis]} − 1)`;
    const places = `⌊(${spec.input_size[axis]} + ${padding} − ${reach} − 1) / ${spec.stride[axis]}⌋`;
    return `${places} + 1 = ${outputSize(spec, axis)}`;
  });
  if (rows === columns) return say(uneven ? "size.sides" : "size", { sum: rows });
  return say(uneven ? "size.sides_axes" : "size.axes", { rows, columns });
}

/** @param {Spec} spec @param {string} view @param {boolean} transposed */
function readingNote(spec, view, transposed) {
  const of = { stamps: [stampsNote], both: [stampsNote, paddingNote] }[view] ?? [paddingNote];
  return allInTurn(of.map((note) => note(spec, transposed)));
}

/** @param {Spec} spec @param {boolean} transposed */
function paddingNote(spec, transposed) {
  const parts = [];
  if (spec.out_channels > 1 || spec.in_channels > spec.groups) {
    const [o, c] = [shownLetter("o", transposed), shownLetter("c", transposed)];
    parts.push(say(spec.groups > 1 ? "padding.channels_grouped" : "padding.channels", { o, c }));
  }
  if (spec.stride.some((step, axis) => step > 1 && outputSize(spec, axis) > 1)) {
    parts.push(say("padding.zeros", { grad_output: shownName("grad_output", transposed) }));
  }
  const values = { formula: foldsBack(spec) ? "d(k−1)" : "d(k−1)−p", sides: sidesOf(spec) };
  if (!remainderOf(spec, 0) && !remainderOf(spec, 1)) parts.push(say("padding.padded", values));
  else parts.push(say(transposed ? "padding.padded_output_padding" : "padding.padded_remainder", values));
  if (Math.min(...bothAxes((axis) => backwardPadding(spec, axis)).flat()) < 0)
    parts.push(say("padding.cropped"));
  return clausesOf(parts);
}

/** Writes the padding of each side; a negative number crops. @param {Spec} spec */
function sidesOf(spec) {
  const [rows, columns] = bothAxes((axis) =>
    backwardPadding(spec, axis).map((cells) => String(cells).replace("-", "−")),
  );
  if (String(rows) === String(columns)) return say("padding.sides", { before: rows[0], after: rows[1] });
  return say("padding.axes", { top: rows[0], bottom: rows[1], left: columns[0], right: columns[1] });
}

/** @param {Spec} spec @param {boolean} transposed */
function stampsNote(spec, transposed) {
  const parts = [];
  const falls = spec.padding.some(([before, after], axis) => before || after > remainderOf(spec, axis));
  if (!foldsBack(spec) && falls) parts.push(say("stamps.dropped"));
  if (!transposed && (remainderOf(spec, 0) || remainderOf(spec, 1))) parts.push(say("stamps.remainder"));
  return parts.length ? clausesOf(parts) : "";
}

/** What one types, for the shown plane. @param {Settings} settings */
function loopsNote({ spec, plane }) {
  const { n, o, c, k, no, nc, ok } = indicesOf(spec, plane);
  const sample = spec.batch > 1 ? "n" : n;
  const [down, across] = bothAxes((axis) => {
    const times = (/** @type {number} */ step, /** @type {string} */ letter) =>
      step > 1 ? `${step}${letter}` : letter;
    return `${times(spec.stride[axis], "ij"[axis])} + ${times(spec.dilation[axis], "ab"[axis])}`;
  });
  return say("exchange.loops", {
    ok: ok && `${o}, ${k}, `,
    no: no && `${sample}, ${o}, `,
    nc: nc && `${sample}, ${c}, `,
    ...{ down, across, letters: spec.batch > 1 ? "n, i, j, a, b" : "i, j, a, b" },
  });
}

/** @param {Spec} spec @param {boolean} transposed */
function exchangeNote(spec, transposed) {
  if ([...spec.stride, ...spec.dilation].every((step) => step === 1)) return say("exchange.none");
  const steps = say("exchange.steps", { grad_output: shownName("grad_output", transposed) });
  const [[height, width], lines] = [spec.kernel_size, linesOf(overhang(spec))];
  return inTurn(steps, lines ? say("exchange.cut", { height, width, lines }) : "");
}

/** Lines that the remainder would add to grad_weight. @param {Spec} spec */
const overhang = (spec) => bothAxes((axis) => Math.floor(remainderOf(spec, axis) / spec.dilation[axis]));

/**
 * In the words of a transposed layer.
 * @param {Settings} settings @param {string} name @param {string} view
 */
function transposedNote(settings, name, view) {
  const { spec, bias } = settings;
  if (name === "forward") return say("layer.no_rotation");
  if (name === "weight") return exchangeNote(spec, true);
  if (name !== "input") return "";
  const reading = readingNote(spec, view, true);
  const lines = linesOf(bothAxes((axis) => unreadLines(spec, axis).length));
  const bare = lines ? [say(bias ? "layer.bare_bias" : "layer.bare", { lines })] : [];
  return allInTurn([reading, ...bare, sizeNote(spec), lossNote(settings)]);
}

/** @param {Spec} spec */
function sizeNote(spec) {
  const [rows, columns] = bothAxes((axis) => {
    const [before, after] = spec.padding[axis];
    const padding = before === after ? `2·${before}` : `(${before} + ${after})`;
    const kernel = `${spec.dilation[axis]}·(${spec.kernel_size[axis]} − 1)`;
    const start = `(${outputSize(spec, axis)} − 1)·${spec.stride[axis]} − ${padding} + ${kernel}`;
    return `${start} + output_padding ${remainderOf(spec, axis)} + 1 = ${spec.input_size[axis]}`;
  });
  return rows === columns ? say("layer.size", { size: rows }) : say("layer.size_axes", { rows, columns });
}
