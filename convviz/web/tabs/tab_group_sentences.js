import WORDS from "../../facts/data/words/tab_groups.json" with { type: "json" };
import { sentences } from "../base/sentences.js";

export const say = sentences(WORDS);
