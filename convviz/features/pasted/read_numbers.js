// What a program prints, read as an array: nested lists, NumPy, torch, Julia, MATLAB, CSV, JSON. Nothing is
// guessed: what does not parse is said with its place.
import { readRows, hasHeaders } from "./read_rows.js";
import { Unreadable, tokensOf, valueOf } from "./printed_tokens.js";

/**
 * @import { Token } from "./printed_tokens.js"
 * @typedef {{ shape: number[], leaves: Token[], token: Token, called: boolean }} Node of a nested list
 * @typedef {{ shape: number[], data: Float64Array, half: Float64Array, columnMajor: boolean }} Pasted half: what
 *   rounding while printing may have changed; columnMajor: rows and columns are its first axes
 */

const FEW_DECIMALS = 3; // fewer are taken for all there are
const SHORT = [5, 6]; // significant digits that %g, Octave and C++ print

/** @param {string} text @param {string} [name] of the array that is meant, if there are several @returns {Pasted} */
export function readNumbers(text, name = "") {
  const tokens = tokensOf(text);
  const bracketed = tokens.some(({ kind }) => kind === "open") && !hasHeaders(text);
  const { shape, leaves, scales, columnMajor } = bracketed
    ? { ...readLists(tokens, name), scales: null, columnMajor: false }
    : readRows(text);
  if (!bracketed && !leaves.length) throw new Unreadable("nothing", null);
  const data = Float64Array.from(leaves, (leaf, index) => valueOf(leaf.text) * (scales?.[index] ?? 1));
  return { shape, data, half: halvesOf(leaves, data, scales), columnMajor };
}

/** @param {Token[]} leaves @param {Float64Array} data @param {number[] | null} scales */
function halvesOf(leaves, data, scales) {
  const parts = leaves.map(({ text }) => {
    const [, whole = "", decimals = "", power = "0"] =
      text.replaceAll("\u2212", "-").match(/^[+-]?(\d*)\.(\d*)(?:[eEdDf]([+-]?\d+))?/) ?? [];
    return {
      decimals: decimals.length,
      power: Number(power),
      digits: (whole + decimals).replace(/^0+/, "").length,
    };
  });
  const decimals = parts.reduce((most, part) => Math.max(most, part.decimals), 0);
  const digits = parts.reduce((most, part) => Math.max(most, part.digits), 0);
  const relative = SHORT.includes(digits) ? 5 * 10 ** -digits : 0;
  return Float64Array.from(parts, ({ digits: own, power }, index) => {
    const unit = decimals < FEW_DECIMALS ? 0 : 0.5 * 10 ** (power - decimals) * (scales?.[index] ?? 1);
    return Math.max(unit, own ? relative * Math.abs(data[index]) : 0);
  });
}

/** @param {Token[]} all @param {string} name @returns {{ shape: number[], leaves: Token[] }} */
function readLists(all, name) {
  const reader = new ListReader(
    all.filter(({ kind }) => kind !== "line"),
    name,
  );
  const nodes = reader.rest();
  return nodes.length === 1 ? nodes[0] : joined(nodes, nodes[0].token);
}

/** @param {Node[]} nodes @param {Token} token of the bracket around them @returns {Node} */
function joined(nodes, token) {
  const [first] = nodes;
  const apart = nodes.find(({ shape }) => String(shape) !== String(first.shape));
  if (apart?.shape.length !== first?.shape.length && apart) throw new Unreadable("mixed", apart.token);
  const count = (/** @type {Node} */ { shape }) => shape[0];
  if (apart) throw new Unreadable("ragged", apart.token, { count: count(apart), before: count(first) });
  const shape = [nodes.length, ...(first?.shape ?? [])];
  return { shape, leaves: nodes.flatMap(({ leaves }) => leaves), token, called: false };
}

class ListReader {
  #tokens;
  #name;
  #at = 0;

  /** @param {Token[]} tokens @param {string} name */
  constructor(tokens, name) {
    [this.#tokens, this.#name] = [tokens, name];
    let depth = 0;
    tokens.forEach(({ kind, text }, index) => {
      depth += Number(kind === "open") - Number(kind === "close");
      if (text === "=" && !depth) this.#at = index + 1; // of "const float g[2][2] ="
    });
  }

  rest() {
    const nodes = [];
    while (this.#at < this.#tokens.length) {
      const token = this.#tokens[this.#at];
      if (token.kind === "comma" || token.kind === "row") this.#at++;
      else nodes.push(this.#value());
    }
    const found = nodes.filter((node) => node !== null);
    if (!found.length) throw new Unreadable("nothing", null);
    return found;
  }

  /** @returns {Node | null} null: the text says None, null or nothing */
  #value() {
    const token = this.#tokens[this.#at++];
    const next = this.#tokens[this.#at];
    if (token.kind === "number") {
      if (next?.kind === "number" && !next.spaced) throw new Unreadable("word", next, { found: next.text });
      return { shape: [], leaves: [token], token, called: false };
    }
    if (token.kind === "open") return this.#group(token);
    if (/^(none|null|nothing)$/i.test(token.text)) return null;
    if (token.kind === "word" && next?.kind === "open")
      return next.text === "(" ? this.#call() : this.#value();
    throw new Unreadable(token.kind === "cut" ? "cut" : token.kind === "close" ? "close" : "word", token, {
      found: token.text,
    });
  }

  /** tensor([1., 2.], dtype=torch.float64): its first argument. @returns {Node | null} */
  #call() {
    const open = this.#tokens[this.#at++];
    const node = this.#value();
    for (let depth = 1; depth; this.#at++) {
      const { kind } = this.#tokens[this.#at] ?? {};
      if (!kind) throw new Unreadable("open", open, { found: open.text });
      depth += Number(kind === "open") - Number(kind === "close");
    }
    return node && { ...node, called: true };
  }

  /** @param {Token} open @returns {Node} */
  #group(open) {
    /** @type {Node[]} */
    const rows = [];
    /** @type {Node[]} */
    let nodes = [];
    let separated = true;
    for (let token = this.#inside(open); token.kind !== "close"; token = this.#inside(open)) {
      if (token.kind === "string") return this.#object(open);
      const separates = token.kind === "comma" || token.kind === "row";
      if (separates && separated) throw new Unreadable("empty", token);
      if (token.kind === "row") rows.push(joined(nodes.splice(0), open));
      if (separates) this.#at++;
      else nodes = this.#added(nodes, this.#value());
      separated = separates;
    }
    this.#close(open);
    if (rows.length && nodes.length) rows.push(joined(nodes, open));
    return joined(rows.length ? rows : nodes, open);
  }

  /** The next token within a bracket. @param {Token} open */
  #inside(open) {
    const token = this.#tokens[this.#at];
    if (!token) throw new Unreadable("open", open, { found: open.text });
    return token;
  }

  /** @param {Node[]} nodes @param {Node | null} node */
  #added(nodes, node) {
    if (!node) return nodes;
    if (node.called && node.shape.length && nodes.length) throw new Unreadable("several", node.token);
    return [...nodes, node];
  }

  /** @param {Token} open */
  #close(open) {
    const token = this.#tokens[this.#at++];
    if ("[({".indexOf(open.text) !== "])}".indexOf(token.text))
      throw new Unreadable("close", token, { found: token.text });
  }

  /**
   * Reads an object such as {"grad_input": [[1, 2]]} and returns the entry with the wanted name, or its only one.
   * @param {Token} open @returns {Node}
   */
  #object(open) {
    /** @type {Map<string, Node>} */
    const found = new Map();
    while (this.#inside(open).kind !== "close") {
      const key = this.#tokens[this.#at++].text.slice(1, -1);
      if (this.#inside(open).text === ":") this.#at++;
      const node = this.#inside(open).kind === "string" ? void this.#at++ : this.#value();
      if (node) found.set(key, node);
      if (this.#inside(open).kind === "comma") this.#at++;
    }
    this.#close(open);
    const [only, second] = found.values();
    const meant = found.get(this.#name);
    if (!meant && second) throw new Unreadable("several", second.token);
    if (!meant && !only) throw new Unreadable("nothing", open);
    return meant ?? only;
  }
}
