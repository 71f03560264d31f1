import WORDS from "../../facts/words/entries.json" with { type: "json" };
import { sentences } from "../base/sentences.js";

export const say = sentences(WORDS);
