// What losses are given, as facts/loss_inputs.py reads it.
import SETTINGS from "../../facts/data/settings.json" with { type: "json" };
import { say } from "./sentences.js";

/** @type {Record<string, Partial<Record<"target" | "grad", string[]>>>} */
const TAKES = SETTINGS.loss_takes;
export const GIVEN = /** @type {const} */ (["target", "grad"]);

/** None: it takes no such tensor. @param {string} loss @param {"target" | "grad"} given */
export const kindsTaken = (loss, given) => TAKES[loss]?.[given] ?? [];

/** @param {"target" | "grad"} given */
export const lossWith = (given) =>
  /** @type {string} */ (SETTINGS.fields.loss.words.find((loss) => kindsTaken(loss, given).length));

/** @param {Settings} settings @param {"target" | "grad"} given */
export function offeredKinds({ loss }, given) {
  const kinds = kindsTaken(loss, given);
  return (kinds.length ? kinds : SETTINGS.fields[given].words).filter(
    (kind) => !SETTINGS.kinds_with_own_numbers.includes(kind),
  );
}

/** @param {Settings} settings @returns {Settings} */
export function withKindsOfLoss(settings) {
  const made = { ...settings };
  for (const given of GIVEN) {
    const kinds = kindsTaken(settings.loss, given);
    if (kinds.length && !kinds.includes(settings[given].kind)) made[given] = { kind: kinds[0] };
  }
  return made;
}

/** @param {Record<string, any>} given @param {string} loss */
export function notTaken(given, loss) {
  return GIVEN.filter((name) => name in given).flatMap((name) => {
    const [words, value] = [kindsTaken(loss, name), given[name].kind];
    if (!words.length || words.includes(value)) return [];
    return [say("link.taken", { name, words: words.join(", "), loss, value, first: words[0] })];
  });
}
