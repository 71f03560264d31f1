// @ts-check
// The views of the tab Matrix: which matrices stand where, what they are called, and what is said about them.
import WORDS from "../../../facts/words/tabs.json" with { type: "json" };
import { sentences } from "../../base/words.js";

const say = sentences(WORDS);

/**
 * @import { Geometry } from "../../rules/spec.js"
 * @typedef {(number | string)[][]} Rows JSON has words for what is not finite
 * @typedef {{ geometry: Geometry, names: Record<string, string>, dtype: string, in_channels: number[],
 *   out_channels: number[], bias: boolean, windows: { start: number, end: number, step: number, of: number },
 *   matrices: Record<string, Rows>, one: { error?: string, matrix: Rows } & Record<"input" | "product" |
 *   "grad_output" | "gradient", (number | string)[]> }} MatrixData as app/tabs/matrix.py sends it
 *
 * One matrix or image. `panels`: the board's panels that hold an entry's parts; `own`: the one panel that
 * shows the same numbers. `notes` names a further sentence about an entry, see matrix_words.js.
 * @typedef {import("./links.js").Shape & { name: string, values: number[][], shape?: string, panels?:
 *   Partial<Record<"window" | "kernel" | "padded" | "input", string>>, own?: { part: "window" | "kernel" |
 *   "padded" | "input", panel: string }, note?: string, letters?: [string, string], words?: { window: string,
 *   input: string } }} MatrixMap
 * `one`: the view of one large matrix, with a vector above and one beside it.
 * @typedef {{ title: string, sentence: string, formula: string, notes: string[], one: boolean, left:
 *   MatrixMap | null, top: MatrixMap | null, result: MatrixMap | null, extras: MatrixMap[] }} View
 */

/** @param {Rows} values */
const turned = (values) => values[0].map((_, column) => values.map((row) => row[column]));

/**
 * Lay out what the tab shows.
 * @param {MatrixData} data
 * @returns {View[]} in the order of the switch; a transposed convolution begins with col2im
 */
export function viewsOf(data) {
  const [forward, toInput, toWeight] = [forwardView(data), inputView(data), weightView(data)];
  const [one, turnedOne] = [oneView(data), oneTransposedView(data)];
  const order = data.geometry.transposed
    ? [toInput, forward, toWeight, turnedOne, one]
    : [forward, toInput, toWeight, one, turnedOne];
  const titles = /** @type {const} */ (["forward", "to_input", "to_weight", "one", "turned"]);
  return order.map((view, index) => ({ title: say(`matrix.${titles[index]}`), ...view }));
}

/** What every view needs. @param {MatrixData} data */
function parts(data) {
  const { geometry, names, matrices: made, windows } = data;
  const folds = geometry.padding_mode !== "zeros";
  const part = windows.step < windows.of;
  const numbers = (values) => values.map((row) => row.map(Number)); // JSON has words for what is not finite
  /** @returns {MatrixMap} */
  const map = (name, values, rows, columns, more = {}) => {
    const count = (axis, length) =>
      axis === "window" && part ? say("matrix.some", { some: length, all: windows.of }) : length;
    const size = /** @type {[number, number]} */ ([values.length, values[0].length]);
    return {
      name,
      values: numbers(values),
      rows,
      columns,
      size,
      shape: `[${count(rows, size[0])}, ${count(columns, size[1])}]`,
      ...more,
    };
  };
  /** @returns {MatrixMap} */
  const image = (name, values, of, more = {}) => ({
    name,
    values: numbers(values),
    image: of,
    size: [values.length, values[0].length],
    ...more,
  });
  return { geometry, names, made, windows, folds, map, image };
}

/** @param {MatrixData} data */
function forwardView(data) {
  const { names, made, map } = parts(data);
  const { weight, columns, padded_input, output } = names;
  const own = (part, panel) => ({ own: { part, panel } });
  const notes = [...rowsNote(data, output)];
  const bias = data.bias && !data.geometry.transposed;
  if (bias) notes.push(say("matrix.forward_bias"));
  return {
    sentence: say("matrix.forward_is", { padded: padded_input, output }),
    formula: `${output} = ${weight} \u00b7 ${columns}${bias ? " + bias" : ""}`,
    notes,
    one: false,
    left: map(weight, made.weight, "out", "kernel", own("kernel", "weight")),
    top: map(columns, made.columns, "kernel", "window", {
      note: "copied",
      panels: { window: "output", kernel: "weight", padded: "padded_input" },
    }),
    result: map(output, made.output, "out", "window", own("window", "output")),
    extras: [],
  };
}

/** @param {MatrixData} data */
function inputView(data) {
  const { geometry, names, made, folds, map, image } = parts(data);
  const { weight, grad_columns, grad_output, grad_input } = names;
  const border = geometry.padding.flat().some(Boolean);
  const bias = geometry.transposed && data.bias;
  const isOwn = !border && !bias;
  const gradient = folds ? "grad_padded_input" : "grad_input";
  const letters = lettersOf(geometry);
  const extras = [
    image("overlap", made.overlap, "padded", {
      letters,
      note: "overlap",
      own: { part: "padded", panel: "padded_input" },
    }),
    image(folds ? names.grad_padded_input : `col2im(${grad_columns})`, made.grad_image, "padded", {
      letters,
      note: "added",
      own: { part: "padded", panel: gradient },
    }),
    image(grad_input, made.grad_input, "input", { own: { part: "input", panel: "grad_input" } }),
  ];
  const notes = [say("matrix.overlap"), ...borderNote(geometry, folds, border, grad_input)];
  if (bias) notes.push(say("matrix.last_bias", { gradient: grad_input }));
  return {
    sentence: say("matrix.to_input_is", { weight, gradient: grad_output }),
    formula:
      `${grad_columns} = ${weight}\u1d40 \u00b7 ${grad_output}, ` +
      `${grad_input} = col2im(${grad_columns})${bias ? " + bias" : ""}`,
    notes,
    one: false,
    left: map(`${weight}\u1d40`, turned(made.weight), "kernel", "out", {
      own: { part: "kernel", panel: "weight" },
    }),
    top: map(grad_output, made.grad_output, "out", "window", {
      own: { part: "window", panel: "grad_output" },
    }),
    result: map(grad_columns, made.grad_columns, "kernel", "window", {
      note: "returned",
      panels: {
        window: "grad_output",
        kernel: "weight",
        ...(folds ? { padded: gradient } : { input: gradient }),
      },
    }),
    extras: isOwn ? [extras[0], extras[2]] : extras,
  };
}

/** @param {MatrixData} data */
function weightView(data) {
  const { geometry, names, made, map } = parts(data);
  const { columns, grad_output, grad_weight, padded_input } = names;
  const several = geometry.batch > 1;
  const own = { own: { part: "kernel", panel: "grad_weight" } };
  const notes = several
    ? [say("matrix.of_sample", { sample: geometry.plane.n, sum: grad_weight, batch: geometry.batch })]
    : [];
  if (data.windows.step < data.windows.of) notes.push(say("matrix.all_windows"));
  return {
    sentence: say("matrix.to_weight_is", { padded: padded_input, gradient: grad_output, sum: grad_weight }),
    formula: `${grad_weight} = ${grad_output} \u00b7 ${columns}\u1d40`,
    notes: [...notes, ...rowsNote(data, "")],
    one: false,
    left: map(grad_output, made.grad_output, "out", "window", {
      own: { part: "window", panel: "grad_output" },
    }),
    top: map(`${columns}\u1d40`, turned(made.columns), "window", "kernel", {
      note: "copied",
      panels: { window: "grad_output", kernel: "grad_weight", padded: "padded_input" },
    }),
    result: map(
      several ? say("matrix.sample", { name: grad_weight, sample: geometry.plane.n }) : grad_weight,
      several ? made.grad_weight_of_sample : made.grad_weight,
      "out",
      "kernel",
      own,
    ),
    extras: several ? [map(grad_weight, made.grad_weight, "out", "kernel", own)] : [],
  };
}

/** @param {MatrixData} data */
function oneView(data) {
  const { geometry, names, map } = parts(data);
  const { input, output } = names;
  const words = { window: output, input };
  const bias = data.bias && !geometry.transposed;
  const whole = geometry.in_channels === geometry.groups && !bias;
  const view = {
    sentence: sentenceOfOne(output, input, geometry.transposed),
    formula: `${output} = ${whole ? "" : "\u03a3 "}T \u00b7 ${input}${bias ? " + bias" : ""}`,
    notes: whole ? [] : [shareNote("T", output, bias)],
  };
  if (data.one.error) return emptyView(view, data.one.error);
  return {
    ...view,
    one: true,
    left: map(whole ? output : say("matrix.share"), turned([data.one.product]), "window", "one", {
      pair: true,
      words,
      own: { part: "window", panel: "output" },
    }),
    top: map(input, [data.one.input], "one", "input", {
      pair: true,
      words,
      own: { part: "input", panel: "padded_input" },
    }),
    result: map("T", data.one.matrix, "window", "input", {
      pair: true,
      words,
      note: "taps",
      panels: { window: "output", kernel: "weight", padded: "padded_input" },
    }),
    extras: [],
  };
}

/** @param {MatrixData} data */
function oneTransposedView(data) {
  const { geometry, names, map } = parts(data);
  const { grad_input, grad_output } = names;
  const words = { window: grad_output, input: grad_input };
  const bias = data.bias && geometry.transposed;
  const whole = geometry.out_channels === geometry.groups && !bias;
  const view = {
    sentence: sentenceOfOne(grad_input, grad_output, !geometry.transposed),
    formula: `${grad_input} = ${whole ? "" : "\u03a3 "}T\u1d40 \u00b7 ${grad_output}${bias ? " + bias" : ""}`,
    notes: whole ? [] : [shareNote("T\u1d40", grad_input, bias)],
  };
  if (data.one.error) return emptyView(view, data.one.error);
  return {
    ...view,
    one: true,
    left: map(whole ? grad_input : say("matrix.share"), turned([data.one.gradient]), "input", "one", {
      pair: true,
      words,
      own: { part: "input", panel: "grad_input" },
    }),
    top: map(grad_output, [data.one.grad_output], "one", "window", {
      pair: true,
      words,
      own: { part: "window", panel: "grad_output" },
    }),
    result: map("T\u1d40", turned(data.one.matrix), "input", "window", {
      pair: true,
      words,
      note: "taps",
      panels: { window: "grad_output", kernel: "weight", input: "grad_input" },
    }),
    extras: [],
  };
}

/**
 * What is said about one of the two matrices.
 * @param {string} rows @param {string} columns
 * @param {boolean} second whether the other one is shown before it
 */
function sentenceOfOne(rows, columns, second) {
  return say(second ? "matrix.turned_is" : "matrix.one_is", { rows, columns });
}

/** @param {string} name @param {string} sum @param {boolean} bias */
function shareNote(name, sum, bias) {
  return say(bias ? "matrix.shares_bias" : "matrix.shares", { matrix: name, sum });
}

/** @param {Pick<View, "sentence" | "formula" | "notes">} view @param {string} reason */
function emptyView(view, reason) {
  return {
    ...view,
    notes: [`${reason[0].toUpperCase() + reason.slice(1)}.`],
    one: true,
    left: null,
    top: null,
    result: null,
    extras: [],
  };
}

/**
 * Which rows and columns of the padded image are padding.
 * @param {Geometry} geometry @returns {[string, string]}
 */
function lettersOf(geometry) {
  const [rows, columns] = geometry.padding.map(
    ([before, after], axis) => "p".repeat(before) + "d".repeat(geometry.input_size[axis]) + "p".repeat(after),
  );
  return [rows, columns];
}

/** @param {MatrixData} data @param {string} output */
function rowsNote(data, output) {
  const { geometry, in_channels } = data;
  const group = geometry.in_channels / geometry.groups;
  if (in_channels.length === group) return [];
  return [
    say(output ? "matrix.channel_sum" : "matrix.channel", { channel: in_channels[0], group, sum: output }),
  ];
}

/** @param {Geometry} geometry @param {boolean} folds @param {boolean} border @param {string} gradient */
function borderNote(geometry, folds, border, gradient) {
  if (!border) return [];
  return [say(folds ? "matrix.folded" : "matrix.cut", { gradient })];
}
