// @ts-check
// Which losses are given a target, or a grad set by hand, and which kinds of it each takes: facts, as
// facts/losses.py reads them.
import SETTINGS from "../../facts/settings.json" with { type: "json" };
import { say } from "./say.js";

/** @import { Settings } from "./settings.js" */

/** @type {Record<string, Partial<Record<"target" | "grad", string[]>>>} */
const TAKES = SETTINGS.loss_takes;
/** What a loss may be given beside the output. */
export const GIVEN = /** @type {const} */ (["target", "grad"]);

/**
 * Which kinds of target or grad a loss can be given; none where it takes no such tensor.
 * @param {string} loss @param {"target" | "grad"} given
 */
export const kindsTaken = (loss, given) => TAKES[loss]?.[given] ?? [];

/** The first loss that takes a target, or a grad. @param {"target" | "grad"} given */
export const lossWith = (given) =>
  /** @type {string} */ (SETTINGS.fields.loss.words.find((loss) => kindsTaken(loss, given).length));

/**
 * What a menu of the loss's targets, or grads, offers.
 * @param {Settings} settings @param {"target" | "grad"} given
 */
export function offeredKinds({ loss }, given) {
  const kinds = kindsTaken(loss, given);
  return (kinds.length ? kinds : SETTINGS.fields[given].words).filter(
    (kind) => !SETTINGS.kinds_with_own_numbers.includes(kind),
  );
}

/**
 * A target that the loss does not take becomes the first kind that it does.
 * @param {Settings} settings @returns {Settings}
 */
export function withKindsOfLoss(settings) {
  const made = { ...settings };
  for (const given of GIVEN) {
    const kinds = kindsTaken(settings.loss, given);
    if (kinds.length && !kinds.includes(settings[given].kind)) made[given] = { kind: kinds[0] };
  }
  return made;
}

/**
 * A sentence for each target, or grad, of a link that the loss does not take.
 * @param {Record<string, any>} given @param {string} loss
 */
export function notTaken(given, loss) {
  return GIVEN.filter((name) => name in given).flatMap((name) => {
    const [words, value] = [kindsTaken(loss, name), given[name].kind];
    if (!words.length || words.includes(value)) return [];
    return [say("link.taken", { name, words: words.join(", "), loss, value, first: words[0] })];
  });
}
