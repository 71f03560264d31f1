import OF_ANY_RACE from "../../facts/data/words/race.json" with { type: "json" };
import WORDS from "./words.json" with { type: "json" };
import { sentences } from "../../web/base/sentences.js";

export const say = sentences(WORDS);
/** What `convviz lab` says, too. */
export const sayOfRace = sentences(OF_ANY_RACE);
