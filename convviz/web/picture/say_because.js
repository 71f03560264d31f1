import WORDS from "../../facts/words/because.json" with { type: "json" };
import { sentences } from "../base/words.js";

export const sayBecause = sentences(WORDS);
