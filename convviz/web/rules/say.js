// @ts-check
// The sentences about what can be set, and about links.
import WORDS from "../../facts/words/rules.json" with { type: "json" };
import { sentences } from "../base/words.js";

/** @typedef {keyof typeof WORDS} SentenceId */

export const say = sentences(WORDS);

/** What a visitor calls an axis of the picture. @param {number} axis */
export const axisName = (axis) => say(axis ? "axis.width" : "axis.height");
