import WORDS from "./words.json" with { type: "json" };
import { pieces, sentences } from "../../web/base/sentences.js";

export const say = sentences(WORDS);
export const sayPieces = pieces(WORDS);
