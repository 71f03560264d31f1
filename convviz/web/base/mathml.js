// A formula in Python's words, "output[0, o] = Σ_c padded_input[0, c] ⊛ weight[o, c]", as MathML, in pieces:
// no line of MathML breaks within.

const NAMESPACE = "http://www.w3.org/1998/Math/MathML";
/** @type {Record<string, string>} */
const SUBSCRIPTS = { ᵢ: "i", ₒ: "o", ₙ: "n" };
const TOKENS = /Σ(?:_([a-z]+)|([ᵢₒₙ]))?|[A-Za-z_][A-Za-z_0-9]*|\d+(?:\.\d+)?|\s+|[\u2e80-\uffef]+|./gu;
const BETWEEN = /^[=⊛·+−]$/; // an operator starts the line of what follows

/**
 * @typedef {{ tag: string, text?: string, children?: MathNode[],
 *   attributes?: Record<string, string> }} MathNode
 */

/** @param {string} letters @returns {MathNode} */
const sumOver = (letters) => ({
  tag: "munder",
  children: [
    { tag: "mo", text: "∑" },
    {
      tag: "mrow",
      children: [...letters].map((letter) => ({ tag: "mi", text: SUBSCRIPTS[letter] ?? letter })),
    },
  ],
});

/** @param {string} token @param {string} [letters] @returns {MathNode} */
function nodeOf(token, letters) {
  if (token.startsWith("Σ")) return letters ? sumOver(letters) : { tag: "mo", text: "∑" };
  if (/^\d/.test(token)) return { tag: "mn", text: token };
  if (/^[A-Za-z_]/.test(token)) return { tag: "mi", text: token };
  if (/^[\u2e80-\uffef]/.test(token)) return { tag: "mtext", text: token };
  if (token === ":") return { tag: "mo", text: ":", attributes: { lspace: "0", rspace: "0" } };
  return { tag: "mo", text: token, attributes: /^[()[\]]$/.test(token) ? { stretchy: "false" } : {} };
}

/** One row of MathML each. @param {string} text @returns {MathNode[][]} */
export function piecesOf(text) {
  /** @type {MathNode[][]} */
  const pieces = [[]];
  let [depth, glued] = [0, true]; // within brackets; whether the next token stays here
  for (const [token, word, letter] of text.matchAll(TOKENS)) {
    if (token.trim() === "") {
      if (depth === 0 && !glued) pieces.push([]);
      glued = true;
      continue;
    }
    const leads = depth === 0 && BETWEEN.test(token);
    put(pieces[pieces.length - 1], token, word ?? letter, leads);
    glued = leads || token.startsWith("Σ");
    depth += Number(/^[([]$/.test(token)) - Number(/^[)\]]$/.test(token));
  }
  return pieces;
}

/**
 * @param {MathNode[]} row @param {string} token @param {string | undefined} letters
 * @param {boolean} leads starts a piece
 */
function put(row, token, letters, leads) {
  const node = nodeOf(token, letters);
  if (token === "ᵀ") row.push({ tag: "msup", children: [row.pop() ?? node, { tag: "mi", text: "T" }] });
  else row.push(leads ? { ...node, attributes: { lspace: "0", rspace: "0.3em" } } : node);
}

/**
 * @param {MathNode[]} row @param {(name: string) => Record<string, string>} attributesOf @returns {Element}
 */
export function mathElement(row, attributesOf) {
  /** @param {MathNode} node @returns {Element} */
  function build({ tag, text = "", children = [], attributes = {} }) {
    const el = document.createElementNS(NAMESPACE, tag);
    const own = tag === "mi" && text.length > 1 ? attributesOf(text) : {};
    for (const [name, value] of Object.entries({ ...attributes, ...own })) el.setAttribute(name, value);
    el.append(...(text ? [text] : children.map(build)));
    return el;
  }
  return build({ tag: "math", children: row, attributes: { "aria-hidden": "true" } });
}
