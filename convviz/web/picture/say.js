// @ts-check
// The sentences about the picture, and the lists inside them.
import WORDS from "../../facts/words/picture.json" with { type: "json" };
import { sentences } from "../base/words.js";

/** @typedef {"list.and" | "list.or" | "list.comma" | "clauses.both"} JoinId */

export const say = sentences(WORDS);

export const LINES = /** @type {const} */ (["rows", "columns"]); // what an axis is made of

/**
 * A sentence, or nothing where there is none of this id.
 * @param {string} id @param {Record<string, string | number>} values
 */
export const sayIfThere = (id, values) =>
  id in WORDS ? say(/** @type {keyof typeof WORDS} */ (id), values) : "";

/**
 * 2 rows and 1 column; an axis of which there are none is left out.
 * @param {number[]} counts of rows and of columns @param {"" | ".last"} [which] ".last" for: the last 2 rows
 */
export const linesOf = (counts, which = "") =>
  joined(
    "list.and",
    counts.flatMap((count, axis) => (count ? [say(`${LINES[axis]}${which}`, { count })] : [])),
  );

/** 7, 8 or 9. @param {number[]} sizes */
export function orWords(sizes) {
  const numbers = sizes.map(String);
  return joined(
    "list.or",
    numbers.length > 1 ? [joined("list.comma", numbers.slice(0, -1)), numbers[numbers.length - 1]] : numbers,
  );
}

/**
 * Clauses as one sentence with a capital, between them what the language puts there.
 * @param {string[]} parts
 */
export function clausesOf(parts) {
  const text = say("clauses.end", { clauses: joined("clauses.both", parts) });
  return text[0].toUpperCase() + text.slice(1);
}

/** Two sentences. @param {string} these @param {string} last each may be empty */
export const inTurn = (these, last) =>
  these && last ? say("sentences.both", { these, last }) : these || last;

/** Sentences, one after the other. @param {string[]} parts each may be empty */
export const allInTurn = (parts) => parts.reduce(inTurn, "");

/**
 * All parts as one, two at a time by one sentence; nothing if there are none.
 * @param {JoinId} id @param {string[]} parts
 */
export const joined = (id, parts) =>
  parts.length ? parts.reduce((these, last) => say(id, { these, last })) : "";

/** 1 where both are 1, else (1, 2): as torch takes them. @param {number[]} numbers */
export const pairWords = ([first, second]) => (first === second ? String(first) : `(${first}, ${second})`);
