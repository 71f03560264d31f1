import WORDS from "../../facts/words/entries.json" with { type: "json" };
import { sentences } from "../base/words.js";

export const say = sentences(WORDS);
