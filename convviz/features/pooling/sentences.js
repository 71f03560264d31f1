import WORDS from "./words.json" with { type: "json" };
import { sentences } from "../../web/base/sentences.js";

export const say = sentences(WORDS);
