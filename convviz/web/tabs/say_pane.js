import WORDS from "../../facts/words/pane.json" with { type: "json" };
import { sentences } from "../base/words.js";

export const sayPane = sentences(WORDS);
