import WORDS from "../../../facts/words/mistakes.json" with { type: "json" };
import { sentences } from "../../base/sentences.js";

export const say = sentences(WORDS);
