import WORDS from "../../facts/words/learn.json" with { type: "json" };
import { sentences } from "../base/sentences.js";

export const sayLearn = sentences(WORDS);
