import WORDS from "../../../facts/words/stack.json" with { type: "json" };
import { sentences } from "../../base/sentences.js";

export const say = sentences(WORDS);
