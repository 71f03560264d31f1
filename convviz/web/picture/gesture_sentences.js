import WORDS from "../../facts/words/hands.json" with { type: "json" };
import { sentences } from "../base/sentences.js";

export const sayHands = sentences(WORDS);
