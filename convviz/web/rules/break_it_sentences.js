import WORDS from "../../facts/data/words/break_it.json" with { type: "json" };
import { sentences } from "../base/sentences.js";

export const sayBreakIt = sentences(WORDS);
