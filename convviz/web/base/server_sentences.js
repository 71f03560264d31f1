import WORDS from "../../facts/words/served.json" with { type: "json" };
import { sentences } from "./sentences.js";

export const say = sentences(WORDS);
