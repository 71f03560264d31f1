// The example as text to copy into one's own program, in six forms.
import { remainders } from "../../web/rules/conv_geometry.js";
import { shownName } from "../../web/rules/tensor_display_names.js";
import { countOf } from "../../web/rules/shapes_and_indices.js";
import { listsOf, numberText } from "./read_npy.js";

/**
 * @typedef {"numpy" | "torch" | "matlab" | "julia" | "cpp" | "json"} Form
 * @typedef {{ settings: Settings, stages: Stages }} Example
 */

/** @type {readonly Form[]} */
export const FORMS = ["numpy", "torch", "matlab", "julia", "cpp", "json"];

const COMMENT = { numpy: "#", torch: "#", matlab: "%", julia: "#", cpp: "//", json: "" };

/** What one's own code is given, by its name on the page. @param {Example} example @returns {[string, Tensor][]} */
export function givenOf({ settings: { transposed }, stages }) {
  const [input, gradient] = /** @type {["input", "grad_output"]} */ (
    transposed ? ["grad_output", "input"] : ["input", "grad_output"]
  );
  const names = /** @type {const} */ ([input, "weight", "bias", gradient]);
  return names.flatMap((name) => {
    const tensor = stages[name];
    return tensor ? [[shownName(name, transposed), tensor]] : [];
  });
}

/** @param {Settings} settings @returns {[string, Value][]} */
function argumentsOf({ spec, transposed }) {
  const even = spec.padding.every(([before, after]) => before === after);
  /** @type {[string, Value][]} */
  const given = [
    ["stride", spec.stride],
    ["padding", even ? spec.padding.map(([before]) => before) : spec.padding],
  ];
  if (transposed) given.push(["output_padding", remainders(spec)]);
  given.push(["dilation", spec.dilation], ["groups", spec.groups]);
  if (spec.padding_mode !== "zeros") given.push(["padding_mode", spec.padding_mode]);
  return given;
}

/** @param {Form} form @param {Example} example @param {string} ask what to compute, as a comment */
export function exampleText(form, example, ask) {
  const settings = argumentsOf(example.settings);
  const call = example.settings.transposed ? "conv_transpose2d" : "conv2d";
  if (form === "json") return jsonText(call, settings, givenOf(example));
  const lines = [
    ...{ numpy: ["import numpy as np"], torch: ["import torch"], matlab: [], julia: [], cpp: [] }[form],
    ...settings.map(([name, value]) => assigned(form, name, value)),
    ...givenOf(example).map(([name, tensor]) => TENSOR[form](name, tensor)),
    ...[ask].flat().map((line) => `${COMMENT[form]} ${line}`),
  ];
  return `${COMMENT[form]} ${call}\n${lines.join("\n")}\n`;
}

/** @param {string} call @param {[string, unknown][]} settings @param {[string, Tensor][]} given */
function jsonText(call, settings, given) {
  const entries = [
    ...[["operation", call], ...settings].map(([name, value]) => [name, JSON.stringify(value)]),
    ...given.map(([name, tensor]) => [name, listsOf(tensor)]),
  ];
  const lines = entries.map(([name, text]) => `"${name}": ${text}`);
  return ["{", lines.join(",\n"), "}", ""].join("\n");
}

/** @typedef {number | string | number[] | number[][]} Value of a setting */

/** @param {Exclude<Form, "json">} form @param {string} name @param {Value} value */
function assigned(form, name, value) {
  const text = typeof value === "string" ? JSON.stringify(value) : "";
  if (form === "cpp") {
    const sizes = [value, [value].flat()[0]].map((each) => (Array.isArray(each) ? "[2]" : "")).join("");
    const type = text ? "char*" : "int";
    const braces = bracketed(/** @type {number} */ (value), "{", "}");
    return `const ${type} ${name}${sizes} = ${text || braces};`;
  }
  const number = /** @type {number} */ (value);
  const written = form === "matlab" ? matrix(number) : bracketed(number, "(", ")");
  return `${name} = ${text || written}${form === "matlab" ? ";" : ""}`;
}

/** @param {Exclude<Value, string>} value @param {string} open @param {string} close @returns {string} */
const bracketed = (value, open, close) =>
  Array.isArray(value)
    ? `${open}${value.map((each) => bracketed(each, open, close)).join(", ")}${close}`
    : String(value);

/** @param {Exclude<Value, string>} value */
const matrix = (value) =>
  Array.isArray(value)
    ? `[${value.map((each) => [each].flat().join(" ")).join(Array.isArray(value[0]) ? "; " : " ")}]`
    : String(value);

/** @param {Tensor} tensor */
const shapeText = ({ shape }) => `[${shape.join(", ")}]`;

/** A matrix if it is one plane, else its rows first. @param {Tensor} tensor @param {string} reorder @param {string} order */
function rowsFirst(tensor, reorder, order) {
  const { shape, data } = tensor;
  const numbers = [...data].map(numberText);
  if (shape.length === 1) return `[${numbers.join("; ")}]`;
  const [height, width] = shape.slice(2);
  if (countOf(shape) === height * width) {
    const rows = Array.from({ length: height }, (_, row) =>
      numbers.slice(row * width, (row + 1) * width).join(" "),
    );
    return `[${rows.join("; ")}]`;
  }
  const sizes = [...shape].reverse().join(order === "[2 1 3 4]" ? " " : ", ");
  const size = order === "[2 1 3 4]" ? `[${sizes}]` : `(${sizes})`;
  return `${reorder}(reshape([${numbers.join(" ")}], ${size}), ${order})`;
}

/** @type {Record<Exclude<Form, "json">, (name: string, tensor: Tensor) => string>} */
const TENSOR = {
  numpy: (name, tensor) => `${name} = np.array(${listsOf(tensor)}, dtype=float)  # ${shapeText(tensor)}`,
  torch: (name, tensor) =>
    `${name} = torch.tensor(${listsOf(tensor)}, dtype=torch.float64)  # ${shapeText(tensor)}`,
  matlab: (name, tensor) => `${name} = ${rowsFirst(tensor, "permute", "[2 1 3 4]")};`,
  julia: (name, tensor) =>
    `${name} = ${rowsFirst(tensor, "permutedims", "(2, 1, 3, 4)").replace(/(?<=^|\()\[/, "Float64[")}`,
  cpp: (name, tensor) => {
    const sizes = tensor.shape.map((size) => `[${size}]`).join("");
    const lists = listsOf(tensor).replaceAll("[", "{").replaceAll("]", "}");
    return `const double ${name}${sizes} = ${lists};`;
  },
};

/** The shape of a result in that program. @param {Form} form @param {number[]} shape */
export function shapeIn(form, shape) {
  if ((form !== "matlab" && form !== "julia") || shape.length < 4)
    return shapeText({ shape, data: new Float64Array() });
  const [first, second, height, width] = shape;
  return first * second === 1
    ? `${height} \u00d7 ${width}`
    : `${height} \u00d7 ${width} \u00d7 ${second} \u00d7 ${first}`;
}
