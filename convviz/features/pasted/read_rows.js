// Numbers in rows without brackets: CSV, C++ and Eigen, and what Julia and MATLAB print, with their headers.
import { Unreadable, tokensOf } from "./printed_tokens.js";
import { countOf, flatIndex } from "../../web/rules/shapes_and_indices.js";

/**
 * @import { Token } from "./printed_tokens.js"
 * @typedef {{ index: number[] | null, rows: Token[][], part: number, scale: number }} Block a plane; index: of a
 *   slice, from 0; part: the row that the next columns continue, -1: none
 */

const SLICE = /^\s*(?:[\w.]+\s*)?[[(]\s*:\s*,\s*:\s*((?:,\s*\d+\s*)+)[\])]\s*=\s*$/;
const COLUMNS = /^\s*columns?\s+\d+(?:\s+(?:through|and|to)\s+\d+)?\s*:?\s*$/i;
const SCALE = /^\s*(\d+\.?\d*e[+-]?\d+)\s*\*\s*$/i;
const JULIA = /^\s*\d+(?:(?:\u00d7\d+)+|-element)\s.*:\s*$/;
const NAME = /^\s*[\w.]+\s*=\s*$/;

/** Headers, brackets are not lists then. @param {string} text */
export const hasHeaders = (text) =>
  text.split("\n").some((line) => [SLICE, COLUMNS, SCALE, JULIA].some((header) => header.test(line)));

/** @param {string} text @returns {{ shape: number[], leaves: Token[], scales: number[], columnMajor: boolean }} */
export function readRows(text) {
  const blocks = blocksOf(text.split("\n"));
  const leaves = blocks.flatMap(({ rows }) => rows.flat());
  const scales = blocks.flatMap(({ rows, scale }) => rows.flat().map(() => scale));
  const [first] = blocks;
  if (!first) return { shape: [0], leaves, scales, columnMajor: false };
  const size = [first.rows.length, first.rows[0].length];
  for (const { rows } of blocks)
    if (rows.length !== size[0] || rows[0].length !== size[1])
      throw new Unreadable("planes", rows[0][0], { size: sizeText(rows), before: sizeText(first.rows) });
  if (first.index) return fromSlices(blocks, size);
  return { shape: blocks.length > 1 ? [blocks.length, ...size] : size, leaves, scales, columnMajor: false };
}

/** @param {Token[][]} rows */
const sizeText = (rows) => `${rows.length} \u00d7 ${rows[0].length}`;

/** @param {Block[]} blocks @param {number[]} size */
function fromSlices(blocks, size) {
  const more = /** @type {number[]} */ (blocks[0].index).map(
    (_, axis) => Math.max(...blocks.map(({ index }) => index?.[axis] ?? 0)) + 1,
  );
  const shape = [...size, ...more];
  if (countOf(more) !== blocks.length) throw new Unreadable("cut", blocks[blocks.length - 1].rows[0][0]);
  const leaves = /** @type {Token[]} */ (Array(countOf(shape)));
  const scales = /** @type {number[]} */ (Array(countOf(shape)));
  for (const { index, rows, scale } of blocks)
    rows.forEach((row, y) =>
      row.forEach((leaf, x) => {
        const at = flatIndex(shape, [y, x, ...(index ?? [])]);
        [leaves[at], scales[at]] = [leaf, scale];
      }),
    );
  return { shape, leaves, scales, columnMajor: true };
}

/** @param {string[]} lines */
function blocksOf(lines) {
  const reader = new RowReader();
  lines.forEach((line, at) => {
    if (reader.header(line)) return;
    const row = rowOf(line, at + 1);
    if (row.length) reader.row(row);
    else reader.gap();
  });
  return reader.blocks.filter(({ rows }) => rows.length);
}

class RowReader {
  /** @type {Block[]} */
  blocks = [];
  #gap = true;
  #headed = false; // the next row belongs to the block that is there
  #scale = 1;

  /** @param {number[] | null} index */
  #open(index) {
    this.blocks.push({ index, rows: [], part: -1, scale: this.#scale });
  }

  /** Whether a line is a header. @param {string} line */
  header(line) {
    const [slice, scale] = [line.match(SLICE), line.match(SCALE)];
    if (slice) {
      this.#scale = 1;
      this.#open([...slice[1].matchAll(/\d+/g)].map(([digits]) => Number(digits) - 1));
    } else if (scale) {
      this.#scale = Number(scale[1]);
      if (this.#headed) this.blocks[this.blocks.length - 1].scale = this.#scale;
      return true;
    } else if (COLUMNS.test(line)) {
      if (!this.blocks.length) this.#open(null);
      this.blocks[this.blocks.length - 1].part = 0;
    } else {
      return JULIA.test(line) || NAME.test(line);
    }
    return (this.#headed = true);
  }

  /** @param {Token[]} row */
  row(row) {
    if (!this.#headed && this.#gap) this.#open(null);
    addRow(this.blocks[this.blocks.length - 1], row);
    this.#gap = this.#headed = false;
  }

  gap() {
    this.#gap = true;
  }
}

/** @param {Block} block @param {Token[]} row */
function addRow(block, row) {
  const { rows, part } = block;
  if (part >= 0 && part < rows.length) {
    rows[part].push(...row);
    block.part++;
    return;
  }
  if (part >= 0) block.part++;
  else if (rows.length && rows[0].length !== row.length)
    throw new Unreadable("ragged", row[0], { count: row.length, before: rows[0].length });
  rows.push(row);
}

/** @param {string} line @param {number} number @returns {Token[]} */
function rowOf(line, number) {
  // 1,5;2,5: with a decimal comma
  const plain = line.includes(";") ? line.replace(/(\d),(?=\d)/g, "$1.") : line;
  /** @type {Token[]} */
  const row = [];
  let separated = true;
  for (const found of tokensOf(plain)) {
    const token = { ...found, line: number };
    if (token.kind === "comma" || token.kind === "row") {
      if (separated) throw new Unreadable("empty", token);
      separated = true;
      continue;
    }
    if (token.kind !== "number" || (!token.spaced && !separated))
      throw new Unreadable(token.kind === "cut" ? "cut" : "word", token, { found: token.text });
    row.push(token);
    separated = false;
  }
  return row;
}
