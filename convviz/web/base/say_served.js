import WORDS from "../../facts/words/served.json" with { type: "json" };
import { sentences } from "./words.js";

export const say = sentences(WORDS);
