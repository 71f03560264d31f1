// @ts-check
// What the numbers of each result are made of, and what is said of one that stayed as it was after a move:
// facts/picture.json has what goes into each of them.
import PICTURE from "../../facts/picture.json" with { type: "json" };
import WORDS from "../../facts/words/hands.json" with { type: "json" };
import { sentences } from "../base/words.js";
import { kindsTaken } from "../rules/losses.js";
import { shownName } from "../rules/names.js";
import { joined } from "./say.js";

/**
 * @import { Settings, Tensor } from "../rules/settings.js"
 * @typedef {"made_of" | "given" | "constant" | "unread" | "zeros" | "border" | "same"} Reason why a result is
 *   what it was: nothing that goes into it has changed; it is given; its loss has the same derivative
 *   everywhere; no window reads what has changed; that meets zeros alone; it falls into the padding alone; or
 *   its numbers only come out the same
 */

const say = sentences(WORDS);
/** @type {Record<"convolution" | "transposed", Record<string, string[]>>} */
const MADE_OF = PICTURE.made_of;

/** @param {boolean} transposed */
const tableOf = (transposed) => MADE_OF[transposed ? "transposed" : "convolution"];

/** The stages of which it is said. @param {boolean} transposed */
export const resultsOf = (transposed) => Object.keys(tableOf(transposed));

/** The gradient that the loss sends back. @param {boolean} transposed */
export const sentBack = (transposed) => (transposed ? "input" : "grad_output");

/**
 * The stages that go into a result, as far as there are any: of what the loss sends back
 * they are told by the loss.
 * @param {string} stage @param {Settings} settings @returns {string[]}
 */
export function madeOf(stage, { transposed, loss, bias }) {
  if (stage === sentBack(transposed) && !kindsTaken(loss, "target").length) return [];
  return tableOf(transposed)[stage].filter((name) => name !== "bias" || bias !== null);
}

/**
 * Whether two tensors have the same shape and numbers.
 * @param {Tensor | null} one @param {Tensor | null} other
 */
export function sameTensor(one, other) {
  if (!one || !other) return one === other;
  if (String(one.shape) !== String(other.shape)) return false;
  for (let index = 0; index < one.data.length; index++)
    if (one.data[index] !== other.data[index]) return false;
  return true;
}

/** What the page calls a tensor without its border. @param {string} stage @param {boolean} transposed */
const plainName = (stage, transposed) => shownName(stage, transposed).replace(/^padded_/, "");

/**
 * What is said of it.
 * @param {string} stage @param {Settings} settings @param {Reason} reason
 * @param {string} [changed] the stage of which a part has changed
 */
export function unchangedWords(stage, settings, reason, changed = "") {
  const { transposed } = settings;
  const parts = madeOf(stage, settings);
  const other = parts.find((name) => name !== changed) ?? "";
  const names = parts.map((name) => plainName(name, transposed));
  return say(`unchanged.${reason}`, {
    parts: joined("list.and", names),
    changed: plainName(changed, transposed),
    other: shownName(other, transposed), // its border has zeros of its own
  });
}
