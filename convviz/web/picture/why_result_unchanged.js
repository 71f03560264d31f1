// What results are made of (facts/data/picture.json), and why one stayed.
import PICTURE from "../../facts/data/picture.json" with { type: "json" };
import { sayGesture } from "./gesture_sentences.js";
import { kindsTaken } from "../rules/loss_inputs.js";
import { shownName } from "../rules/tensor_display_names.js";
import { joined } from "./sentences.js";

/**
 * @typedef {"made_of" | "given" | "constant" | "unread" | "zeros" | "border" | "same"} Reason no part
 *   changed; given; a constant derivative; unread; only zeros meet it; in the padding; equal by chance
 */

/** @type {Record<"convolution" | "transposed", Record<string, string[]>>} */
const MADE_OF = PICTURE.made_of;

/** @param {boolean} transposed */
const tableOf = (transposed) => MADE_OF[transposed ? "transposed" : "convolution"];

/** @param {boolean} transposed */
export const resultsOf = (transposed) => Object.keys(tableOf(transposed));

/** @param {boolean} transposed */
export const sentBack = (transposed) => (transposed ? "input" : "grad_output");

/**
 * Of what the loss sends back, only with a target.
 * @param {string} stage @param {Settings} settings @returns {string[]}
 */
export function madeOf(stage, { transposed, loss, bias }) {
  if (stage === sentBack(transposed) && !kindsTaken(loss, "target").length) return [];
  return tableOf(transposed)[stage].filter((name) => name !== "bias" || bias !== null);
}

/** @param {Tensor | null} one @param {Tensor | null} other */
export function sameTensor(one, other) {
  if (!one || !other) return one === other;
  if (String(one.shape) !== String(other.shape)) return false;
  for (let index = 0; index < one.data.length; index++)
    if (one.data[index] !== other.data[index]) return false;
  return true;
}

/** Returns the tensor's name without "padded_". @param {string} stage @param {boolean} transposed */
const plainName = (stage, transposed) => shownName(stage, transposed).replace(/^padded_/, "");

/** @param {string} stage @param {Settings} settings @param {Reason} reason */
export function unchangedWords(stage, settings, reason, changed = "") {
  const { transposed } = settings;
  const parts = madeOf(stage, settings);
  const other = parts.find((name) => name !== changed) ?? "";
  const names = parts.map((name) => plainName(name, transposed));
  return sayGesture(`unchanged.${reason}`, {
    parts: joined("list.and", names),
    changed: plainName(changed, transposed),
    other: shownName(other, transposed), // this name keeps "padded_"
  });
}
