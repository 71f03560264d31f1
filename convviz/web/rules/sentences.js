import WORDS from "../../facts/data/words/rules.json" with { type: "json" };
import { sentences } from "../base/sentences.js";

/** @typedef {keyof typeof WORDS} SentenceId */

export const say = sentences(WORDS);

/** @param {number} axis */
export const axisName = (axis) => say(axis ? "axis.width" : "axis.height");
