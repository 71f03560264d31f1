import WORDS from "../../facts/words/broken.json" with { type: "json" };
import { sentences } from "../base/words.js";

export const sayBroken = sentences(WORDS);
