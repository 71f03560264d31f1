import WORDS from "../../facts/data/words/picture.json" with { type: "json" };
import { sentences } from "../base/sentences.js";

/** @typedef {"list.and" | "list.or" | "list.comma" | "clauses.both"} JoinId */

export const say = sentences(WORDS);

export const LINES = /** @type {const} */ (["rows", "columns"]);

/**
 * A sentence, or nothing where there is none of that id.
 * @param {string} id @param {Record<string, string | number>} values
 */
export const sayIfThere = (id, values) =>
  id in WORDS ? say(/** @type {keyof typeof WORDS} */ (id), values) : "";

/**
 * 2 rows and 1 column; ".last": the last 2 rows and the last column.
 * @param {number[]} counts @param {"" | ".last"} [which]
 */
export const linesOf = (counts, which = "") =>
  joined(
    "list.and",
    counts.flatMap((count, axis) => (count ? [say(`${LINES[axis]}${which}`, { count })] : [])),
  );

/** Joins sizes to a list such as 7, 8 or 9. @param {number[]} sizes */
export function orWords(sizes) {
  const numbers = sizes.map(String);
  return joined(
    "list.or",
    numbers.length > 1 ? [joined("list.comma", numbers.slice(0, -1)), numbers[numbers.length - 1]] : numbers,
  );
}

/** Joins clauses to one sentence. @param {string[]} parts */
export function clausesOf(parts) {
  const text = say("clauses.end", { clauses: joined("clauses.both", parts) });
  return text[0].toUpperCase() + text.slice(1);
}

/** Joins two sentences; either of them may be empty. @param {string} these @param {string} last */
export const inTurn = (these, last) =>
  these && last ? say("sentences.both", { these, last }) : these || last;

/** @param {string[]} parts */
export const allInTurn = (parts) => parts.reduce(inTurn, "");

/** Two at a time; empty for none. @param {JoinId} id @param {string[]} parts */
export const joined = (id, parts) =>
  parts.length ? parts.reduce((these, last) => say(id, { these, last })) : "";

/** Writes equal numbers as 1, and different ones as (1, 2). @param {number[]} numbers */
export const pairWords = ([first, second]) => (first === second ? String(first) : `(${first}, ${second})`);
