// The sentences about the board, which several folders say.
import WORDS from "../../facts/data/words/board.json" with { type: "json" };
import { sentences } from "./sentences.js";

export const say = sentences(WORDS);
