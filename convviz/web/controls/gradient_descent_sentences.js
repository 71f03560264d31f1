import WORDS from "../../facts/data/words/gradient_descent.json" with { type: "json" };
import { sentences } from "../base/sentences.js";

export const sayDescent = sentences(WORDS);
