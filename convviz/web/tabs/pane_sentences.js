import WORDS from "../../facts/data/words/tab_pane.json" with { type: "json" };
import { sentences } from "../base/sentences.js";

export const sayPane = sentences(WORDS);
