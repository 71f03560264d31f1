// The tokens of a printed array, each with its line and column.

/**
 * @typedef {"number" | "open" | "close" | "comma" | "row" | "string" | "word" | "cut" | "other" | "line"} Kind
 * @typedef {{ kind: Kind, text: string, line: number, column: number, spaced: boolean }} Token spaced: after
 *   white space; row: a semicolon; line: its end
 * @typedef {"nothing" | "word" | "cut" | "open" | "close" | "empty" | "ragged" | "mixed" | "several" | "planes" | "file"}
 *   Problem why a text is no array
 */

const NUMBER = String.raw`[+\-\u2212]?(?:(?:\d+\.?\d*|\.\d+)(?:[eEdDf][+\-\u2212]?\d+)?[fFlL]?|(?:nan|NaN|inf(?:inity)?|Inf(?:inity)?|\u221e)(?:32|16)?)(?![\p{L}_])`;
const TOKEN = new RegExp(
  String.raw`(?<space>[^\S\n]+|(?:#|%|//)[^\n]*)|(?<line>\n)|(?<cut>\.\.\.|[\u2026\u22ee\u22ef\u22f1])|(?<number>${NUMBER})|` +
    String.raw`(?<string>"[^"\n]*"|'[^'\n]*')|(?<open>[[({])|(?<close>[\])}])|(?<comma>,)|(?<row>;)|(?<word>[\p{L}_][\p{L}\p{N}_.]*)|(?<other>.)`,
  "uy",
);

/** Why a text is no array, and where. */
export class Unreadable extends Error {
  /**
   * @param {Problem} id @param {{ line: number, column: number } | null} at null: nowhere
   * @param {Record<string, string | number>} [values]
   */
  constructor(id, at, values = {}) {
    super(id);
    this.id = id;
    this.line = at?.line ?? 0;
    this.column = at?.column ?? 0;
    this.values = values;
  }
}

/** @param {string} text @returns {Token[]} */
export function tokensOf(text) {
  const found = [];
  let [line, start, spaced] = [1, 0, true];
  TOKEN.lastIndex = 0;
  for (let at = 0; at < text.length; at = TOKEN.lastIndex) {
    const [kind, part] = kindOf(TOKEN.exec(text));
    if (kind !== "space") found.push({ kind, text: part, line, column: at - start + 1, spaced });
    spaced = kind === "space" || kind === "line";
    if (kind === "line") [line, start] = [line + 1, TOKEN.lastIndex];
  }
  return found;
}

/** @param {RegExpExecArray | null} match @returns {[any, string]} */
const kindOf = (match) =>
  /** @type {[string, string]} */ (
    Object.entries(match?.groups ?? {}).find(([, part]) => part !== undefined)
  );

/** @param {string} text */
export function valueOf(text) {
  const plain = text.replaceAll("\u2212", "-").replace(/[dDf](?=[+-]?\d)/, "e");
  const word = plain.match(/nan|inf|\u221e/i)?.[0].toLowerCase();
  if (word) return word === "nan" ? NaN : plain.startsWith("-") ? -Infinity : Infinity;
  return Number(plain.replace(/[fFlL]$/, ""));
}
