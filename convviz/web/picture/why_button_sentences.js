import WORDS from "../../facts/data/words/why_buttons.json" with { type: "json" };
import { sentences } from "../base/sentences.js";

export const sayWhy = sentences(WORDS);
