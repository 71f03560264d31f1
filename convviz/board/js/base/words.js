// @ts-check
// The sentences that a visitor reads, by id and named arguments; facts/words/ has them, and facts/words.py says the same.

const ARGUMENT = /\{(\w+)\}/g;
const PLURALS = new Intl.PluralRules("en");

/** @typedef {string | Partial<Record<Intl.LDMLPluralRule, string>>} Text with forms: the argument count chooses one */

/**
 * The function that says the sentences of one part.
 * @template {Record<string, Text>} Words
 * @param {Words} words a file of facts/words
 * @returns {(id: keyof Words & string, values?: Record<string, string | number>) => string}
 */
export const sentences = (words) => (id, values = {}) => filled(id, words[id], values);

/**
 * A text with its arguments in place.
 * @param {string} id @param {Text} text @param {Record<string, string | number>} values
 */
function filled(id, text, values) {
  const chosen = typeof text === "string" ? text : text[PLURALS.select(Number(values.count))];
  if (chosen === undefined) throw new Error(`there is no sentence ${id} for ${JSON.stringify(values)}`);
  return chosen.replace(ARGUMENT, (_, name) => {
    if (!(name in values)) throw new Error(`the sentence ${id} needs ${name}: got ${Object.keys(values).join(", ")}`);
    return String(values[name]);
  });
}
