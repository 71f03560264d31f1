import WORDS from "../../facts/words/pane.json" with { type: "json" };
import { sentences } from "../base/sentences.js";

export const sayPane = sentences(WORDS);
