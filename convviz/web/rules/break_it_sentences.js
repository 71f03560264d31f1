import WORDS from "../../facts/words/broken.json" with { type: "json" };
import { sentences } from "../base/sentences.js";

export const sayBroken = sentences(WORDS);
