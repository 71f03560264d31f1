import WORDS from "./words.json" with { type: "json" };
import { sentences } from "../../web/base/sentences.js";

export const say = sentences(WORDS);

const MAX_LETTERS = 15; // of a name over a column

/**
 * Returns a sentence that another part chose, such as what was found; it is empty where there is none of that id.
 * @param {NetworkSaid | null | undefined} said
 */
export const saidOf = (said) =>
  said && said.id in WORDS ? say(/** @type {keyof typeof WORDS} */ (said.id), said.args) : "";

/** @param {number[]} shape */
export const shapeText = (shape) => (shape.length ? shape.join(" \u00d7 ") : say("scalar"));

/** What to call it, no two the same. @param {NetworkOperation} operation */
export function nameOf({ label, name, kind }) {
  const called = label || name || kind;
  return /(^|\.)\d+$/.test(called) ? `${kind} ${called}` : called; // a number alone shows nobody what it is
}

/** Short, over its maps: the end of a path, or of a long word, says more than its beginning. @param {NetworkOperation} operation @returns {[string, string]} */
export function shortName(operation) {
  const [first, path = ""] = nameOf(operation).split(" ");
  const short = (/** @type {string} */ text) => {
    const between = text.includes(".") ? "." : "_";
    const end = text.split(between).slice(-2).join(between);
    return text.length <= MAX_LETTERS || end === text ? text : `\u2026${end}`;
  };
  return [short(first), short(path)];
}

/** @param {NetworkOperation} operation @param {number[]} cell */
export const cellText = (operation, cell) =>
  cell.length ? `${nameOf(operation)}[${cell.join(", ")}]` : nameOf(operation);

/** @param {number | null} share */
export function percentText(share) {
  if (share === null) return "";
  const percent = 100 * share;
  const rounded = Math.round(percent);
  // Neither none nor all where it is not so.
  if (percent > 0 && rounded === 0) return "< 1 %";
  if (percent < 100 && rounded === 100) return "> 99 %";
  return `${rounded} %`;
}
