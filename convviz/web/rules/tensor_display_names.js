// Names on the page: a transposed layer has its own.
import NAMES from "../../facts/data/names.json" with { type: "json" };

/** @import { Axis } from "./shown_plane.js" */

/** @type {Record<string, string>} */
const SHOWN = NAMES.transposed.panels;
const LETTERS = /** @type {Record<string, Axis>} */ (NAMES.transposed.letters);
/** @param {boolean} transposed */
const kindOf = (transposed) => (transposed ? "transposed" : "convolution");

/** @param {string} name @param {boolean} transposed */
export const shownName = (name, transposed) => (transposed ? (SHOWN[name] ?? name) : name);

/** Returns true for stride 1, where dilated_grad_output is the same as grad_output. @param {number[]} stride */
export const isPlain = (stride) => stride.every((step) => step === 1);

/** @param {string} name @param {number[]} stride */
export const plainPanel = (name, stride) =>
  name === "dilated_grad_output" && isPlain(stride) ? "grad_output" : name;

/** @param {string} name @param {Pick<Settings, "spec" | "transposed">} settings */
export const panelName = (name, { spec, transposed }) => shownName(plainPanel(name, spec.stride), transposed);

/** @param {Axis} axis @param {boolean} transposed */
export const shownLetter = (axis, transposed) => (transposed ? (LETTERS[axis] ?? axis) : axis);

/** @param {Axis} axis @param {boolean} transposed */
export const axisWord = (axis, transposed) => NAMES.axes[shownLetter(axis, transposed)];

/** @param {string} name @param {boolean} transposed */
export const productsOf = (name, transposed) =>
  /** @type {Record<string, string>} */ (NAMES.products[kindOf(transposed)])[name] ?? "";

/** @param {boolean} transposed */
export const cellWords = (transposed) => NAMES.cells[kindOf(transposed)];
