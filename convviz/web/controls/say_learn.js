import WORDS from "../../facts/words/learn.json" with { type: "json" };
import { sentences } from "../base/words.js";

export const sayLearn = sentences(WORDS);
