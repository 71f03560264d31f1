import WORDS from "../../facts/data/words/gestures.json" with { type: "json" };
import { sentences } from "../base/sentences.js";

export const sayGesture = sentences(WORDS);
