// Sentences by id and arguments, from facts/data/words/; facts/words.py says the same.

import LANGUAGE from "../../facts/data/language.json" with { type: "json" };

const ARGUMENT = /\{(\w+)\}/g;
export const language = () => LANGUAGE.tag;

const PLURALS = new Intl.PluralRules(language());
// For fingers, a sentence about clicks and keys has a form with .touch.
const FINGERS = /** @type {any} */ (globalThis).matchMedia?.("(pointer: coarse), (max-width: 480px)");

/**
 * @typedef {string | Partial<Record<Intl.LDMLPluralRule, string>>} Text of plural forms, `count` chooses
 *   one
 */

/**
 * @template {Record<string, Text>} Words @param {Words} words
 * @returns {(id: keyof Words & string, values?: Record<string, string | number>) => string}
 */
export const sentences =
  (words) =>
  (id, values = {}) =>
    filled(id, (FINGERS?.matches && words[`${id}.touch`]) || words[id], values);

/** In pieces: arguments may be nodes. @template {Record<string, Text>} Words @param {Words} words */
export function pieces(words) {
  const say = sentences(words);
  /**
   * @template Part
   * @param {keyof Words & string} id @param {Record<string, Part | Part[] | string | number>} values
   * @returns {(Part | string)[]}
   */
  function sayPieces(id, values) {
    const places = Object.fromEntries(
      Object.keys(values).map((name) => [name, name === "count" ? Number(values[name]) : `{${name}}`]),
    );
    const isText = (/** @type {unknown} */ part) => typeof part === "string" || typeof part === "number";
    return say(id, places)
      .split(ARGUMENT)
      .flatMap((part, index) => (index % 2 ? values[part] : part))
      .map((part) => /** @type {Part | string} */ (isText(part) ? String(part) : part))
      .filter((part) => part !== "");
  }
  return sayPieces;
}

/** @param {string} id @param {Text} text @param {Record<string, string | number>} values */
function filled(id, text, values) {
  const chosen = typeof text === "string" ? text : (text[PLURALS.select(Number(values.count))] ?? text.other);
  if (chosen === undefined) throw new Error(`there is no sentence ${id} for ${JSON.stringify(values)}`);
  return chosen.replace(ARGUMENT, (_, name) => {
    if (!(name in values))
      throw new Error(`the sentence ${id} needs ${name}: got ${Object.keys(values).join(", ")}`);
    return String(values[name]);
  });
}
