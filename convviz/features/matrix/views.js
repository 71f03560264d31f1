// The views of the tab Matrix: which matrices stand where, what they are called, and what is said about them.
import { say } from "./sentences.js";

/**
 * @import { Axis, Shape } from "./linked_entries.js"
 * @typedef {(number | string)[][]} Rows JSON has words for what is not finite
 * @typedef {{ geometry: Geometry, names: Record<string, string>, dtype: string, in_channels: number[],
 *   out_channels: number[], bias: boolean, windows: { start: number, end: number, step: number, of: number },
 *   matrices: Record<string, Rows>, one: { error?: string, matrix: Rows } & Record<"input" | "product" |
 *   "grad_output" | "gradient", (number | string)[]> }} MatrixData as data.py sends it
 *
 * One matrix or image. `panels`: the board's panels that hold an entry's parts; `own`: the one panel that
 * shows the same numbers; `note` names a further sentence about an entry, see entry_sentences.js.
 * @typedef {"window" | "kernel" | "padded" | "input"} Part
 * @typedef {Shape & { name: string, values: number[][], shape?: string, panels?:
 *   Partial<Record<Part, string>>, own?: { part: Part, panel: string }, note?: string, letters?: [string,
 *   string], words?: { window: string, input: string } }} MatrixMap
 * @typedef {Pick<MatrixMap, "own">} Own
 * @typedef {{ matrix: string, from: string, to: string, channels: number, words: MatrixMap["words"], axes:
 *   [Axis, Axis], values: (number | string)[][], rows: Rows, left: Own, top: Own, panels: MatrixMap["panels"]
 *   }} Side
 * `one`: the view of one large matrix, with a vector above and one beside it.
 * @typedef {{ title: string, sentence: string, formula: string, notes: string[], one: boolean, left:
 *   MatrixMap | null, top: MatrixMap | null, result: MatrixMap | null, extras: MatrixMap[] }} View
 */

/** @param {Rows} values @returns {Rows} */
const turned = (values) => values[0].map((_, column) => values.map((row) => row[column]));

/** @param {Part} part @param {string} panel */
const own = (part, panel) => ({ own: { part, panel } });

/** @param {MatrixData} data @returns {View[]} a transposed convolution begins with col2im */
export function viewsOf(data) {
  const [forward, toInput, toWeight] = [forwardView(data), inputView(data), weightView(data)];
  const [one, turnedOne] = [oneView(data, false), oneView(data, true)];
  const order = data.geometry.transposed
    ? [toInput, forward, toWeight, turnedOne, one]
    : [forward, toInput, toWeight, one, turnedOne];
  const titles = /** @type {const} */ (["forward", "to_input", "to_weight", "one", "turned"]);
  return order.map((view, index) => ({ title: say(`${titles[index]}`), ...view }));
}

/** @param {MatrixData} data */
function makers({ windows }) {
  const part = windows.step < windows.of;
  const numbers = (/** @type {Rows} */ values) => values.map((row) => row.map(Number));
  /** @param {Rows} values @returns {Pair} */
  const sizeOf = (values) => [values.length, values[0].length];
  const count = (/** @type {Axis} */ axis, /** @type {number} */ length) =>
    axis === "window" && part ? say("some", { some: length, all: windows.of }) : length;
  return {
    /**
     * @param {string} name @param {Rows} values @param {Axis} rows @param {Axis} columns
     * @param {Partial<MatrixMap>} [more] @returns {MatrixMap}
     */
    map(name, values, rows, columns, more) {
      const size = sizeOf(values);
      const shape = `[${count(rows, size[0])}, ${count(columns, size[1])}]`;
      return { name, values: numbers(values), rows, columns, size, shape, ...more };
    },
    /**
     * @param {string} name @param {Rows} values @param {"padded" | "input"} image
     * @param {Partial<MatrixMap>} more @returns {MatrixMap}
     */
    image: (name, values, image, more) => ({
      name,
      values: numbers(values),
      image,
      size: sizeOf(values),
      ...more,
    }),
  };
}

/** @param {MatrixData} data */
function forwardView(data) {
  const { map } = makers(data);
  const { names, matrices: made } = data;
  const { weight, columns, padded_input, output } = names;
  const bias = data.bias && !data.geometry.transposed;
  return {
    sentence: say("forward_is", { padded: padded_input, output }),
    formula: `${output} = ${weight} \u00b7 ${columns}${bias ? " + bias" : ""}`,
    notes: [...rowsNote(data, output), ...(bias ? [say("forward_bias")] : [])],
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
  const { map, image } = makers(data);
  const { geometry, names, matrices: made } = data;
  const { weight, grad_columns, grad_output, grad_input } = names;
  const folds = geometry.padding_mode !== "zeros";
  const border = geometry.padding.flat().some(Boolean);
  const bias = geometry.transposed && data.bias;
  const gradient = folds ? "grad_padded_input" : "grad_input";
  const letters = lettersOf(geometry);
  const called = folds ? names.grad_padded_input : `col2im(${grad_columns})`;
  const added = { letters, note: "added", ...own("padded", gradient) };
  const notes = [say("overlap")];
  if (border) notes.push(say(folds ? "folded" : "cut", { gradient: grad_input }));
  if (bias) notes.push(say("last_bias", { gradient: grad_input }));
  return {
    sentence: say("to_input_is", { weight, gradient: grad_output }),
    formula:
      `${grad_columns} = ${weight}\u1d40 \u00b7 ${grad_output}, ` +
      `${grad_input} = col2im(${grad_columns})${bias ? " + bias" : ""}`,
    notes,
    one: false,
    left: map(`${weight}\u1d40`, turned(made.weight), "kernel", "out", own("kernel", "weight")),
    top: map(grad_output, made.grad_output, "out", "window", own("window", "grad_output")),
    result: map(grad_columns, made.grad_columns, "kernel", "window", {
      note: "returned",
      panels: {
        window: "grad_output",
        kernel: "weight",
        ...(folds ? { padded: gradient } : { input: gradient }),
      },
    }),
    extras: [
      image("overlap", made.overlap, "padded", {
        letters,
        note: "overlap",
        ...own("padded", "padded_input"),
      }),
      ...(border || bias ? [image(called, made.grad_image, "padded", added)] : []),
      image(grad_input, made.grad_input, "input", own("input", "grad_input")),
    ],
  };
}

/** @param {MatrixData} data */
function weightView(data) {
  const { map } = makers(data);
  const { geometry, names, matrices: made, windows } = data;
  const { columns, grad_output, grad_weight, padded_input } = names;
  const several = geometry.batch > 1;
  const sample = geometry.plane.n;
  const shown = own("kernel", "grad_weight");
  const notes = several ? [say("of_sample", { sample, sum: grad_weight, batch: geometry.batch })] : [];
  if (windows.step < windows.of) notes.push(say("all_windows"));
  const whole = map(grad_weight, made.grad_weight, "out", "kernel", shown);
  const name = say("sample", { name: grad_weight, sample });
  return {
    sentence: say("to_weight_is", { padded: padded_input, gradient: grad_output, sum: grad_weight }),
    formula: `${grad_weight} = ${grad_output} \u00b7 ${columns}\u1d40`,
    notes: [...notes, ...rowsNote(data, "")],
    one: false,
    left: map(grad_output, made.grad_output, "out", "window", own("window", "grad_output")),
    top: map(`${columns}\u1d40`, turned(made.columns), "window", "kernel", {
      note: "copied",
      panels: { window: "grad_output", kernel: "grad_weight", padded: "padded_input" },
    }),
    result: several ? map(name, made.grad_weight_of_sample, "out", "kernel", shown) : whole,
    extras: several ? [whole] : [],
  };
}

/** @param {MatrixData} data @returns {Side} */
const forwardSide = ({ names, geometry, one }) => ({
  matrix: "T",
  from: names.input,
  to: names.output,
  channels: geometry.in_channels,
  words: { window: names.output, input: names.input },
  axes: ["window", "input"],
  values: [one.product, one.input],
  rows: one.matrix,
  left: own("window", "output"),
  top: own("input", "padded_input"),
  panels: { window: "output", kernel: "weight", padded: "padded_input" },
});

/** @param {MatrixData} data @returns {Side} */
const backwardSide = ({ names, geometry, one }) => ({
  matrix: "T\u1d40",
  from: names.grad_output,
  to: names.grad_input,
  channels: geometry.out_channels,
  words: { window: names.grad_output, input: names.grad_input },
  axes: ["input", "window"],
  values: [one.gradient, one.grad_output],
  rows: one.error ? [] : turned(one.matrix),
  left: own("input", "grad_input"),
  top: own("window", "grad_output"),
  panels: { window: "grad_output", kernel: "weight", input: "grad_input" },
});

/**
 * T with a vector above and one beside it; turned: its transpose, on the way back.
 * @param {MatrixData} data @param {boolean} isTurned
 */
function oneView(data, isTurned) {
  const { map } = makers(data);
  const { geometry, one } = data;
  const side = isTurned ? backwardSide(data) : forwardSide(data);
  const { matrix, from, to, words } = side;
  const isSecond = geometry.transposed !== isTurned; // the other one is shown before it
  const bias = data.bias && !isSecond;
  const whole = side.channels === geometry.groups && !bias;
  const view = {
    sentence: say(isSecond ? "turned_is" : "one_is", { rows: to, columns: from }),
    formula: `${to} = ${whole ? "" : "\u03a3 "}${matrix} \u00b7 ${from}${bias ? " + bias" : ""}`,
    one: true,
    extras: [],
  };
  if (one.error) {
    const notes = [`${one.error[0].toUpperCase() + one.error.slice(1)}.`];
    return { ...view, notes, left: null, top: null, result: null };
  }
  const [rows, columns] = side.axes;
  const [beside, above] = side.values;
  const pair = { pair: true, words };
  const shares = say(bias ? "shares_bias" : "shares", { matrix, sum: to });
  return {
    ...view,
    notes: whole ? [] : [shares],
    left: map(whole ? to : say("share"), turned([beside]), rows, "one", { ...pair, ...side.left }),
    top: map(from, [above], "one", columns, { ...pair, ...side.top }),
    result: map(matrix, side.rows, rows, columns, { ...pair, note: "taps", panels: side.panels }),
  };
}

/** @param {Geometry} geometry @returns {[string, string]} */
function lettersOf({ padding, input_size }) {
  const [rows, columns] = padding.map(
    ([before, after], axis) => "p".repeat(before) + "d".repeat(input_size[axis]) + "p".repeat(after),
  );
  return [rows, columns];
}

/** @param {MatrixData} data @param {string} output */
function rowsNote({ geometry, in_channels }, output) {
  const group = geometry.in_channels / geometry.groups;
  if (in_channels.length === group) return [];
  const values = { channel: in_channels[0], group, sum: output };
  return [say(output ? "channel_sum" : "channel", values)];
}
