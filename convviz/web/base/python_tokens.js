// Comments, strings, keywords and numbers in a line of the Python that the app writes (strings without
// prefix, on one line); a test compares with Python's tokenizer.

const KEYWORDS = new Set(
  (
    "False None True and as assert async await break class continue def del elif else except finally for " +
    "from global if import in is lambda nonlocal not or pass raise return try while with yield"
  ).split(" "),
);
const TOKENS = [
  /(?<comment>#.*)/,
  /(?<string>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')/,
  /(?<number>(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)/,
  /(?<word>[^\W\d]\w*)/,
];
const TOKEN = new RegExp(TOKENS.map(({ source }) => source).join("|"), "giu");

/**
 * In order, the whole line.
 * @param {string} line @returns {[kind: "" | "comment" | "string" | "number" | "keyword", text: string][]}
 */
export function pythonTokens(line) {
  /** @type {[any, string][]} */
  const parts = [];
  /** @param {string} kind @param {string} text */
  const add = (kind, text) => {
    const last = parts.at(-1);
    if (last && last[0] === kind) last[1] += text;
    else if (text) parts.push([kind, text]);
  };
  let end = 0;
  for (const found of line.matchAll(TOKEN)) {
    add("", line.slice(end, found.index));
    end = found.index + found[0].length;
    const [kind] = Object.entries(found.groups ?? {}).find(([, text]) => text !== undefined) ?? [""];
    add(kind !== "word" ? kind : KEYWORDS.has(found[0]) ? "keyword" : "", found[0]);
  }
  add("", line.slice(end));
  return parts;
}
