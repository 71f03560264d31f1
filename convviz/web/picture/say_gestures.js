import WORDS from "../../facts/words/hands.json" with { type: "json" };
import { sentences } from "../base/words.js";

export const sayHands = sentences(WORDS);
