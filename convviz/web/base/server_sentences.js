import WORDS from "../../facts/data/words/live_page.json" with { type: "json" };
import { sentences } from "./sentences.js";

export const say = sentences(WORDS);
