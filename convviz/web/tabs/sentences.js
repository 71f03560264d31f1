import WORDS from "../../facts/words/tabs.json" with { type: "json" };
import { pieces, sentences } from "../base/sentences.js";

export const say = sentences(WORDS);
export const sayPieces = pieces(WORDS);
