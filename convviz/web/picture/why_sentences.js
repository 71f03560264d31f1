import WORDS from "../../facts/words/because.json" with { type: "json" };
import { sentences } from "../base/sentences.js";

export const sayBecause = sentences(WORDS);
