import WORDS from "../../facts/data/words/lesson_player.json" with { type: "json" };
import { sentences } from "../base/sentences.js";

export const say = sentences(WORDS);
