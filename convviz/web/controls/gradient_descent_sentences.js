import WORDS from "../../facts/words/gradient_descent.json" with { type: "json" };
import { sentences } from "../base/sentences.js";

export const sayDescent = sentences(WORDS);
