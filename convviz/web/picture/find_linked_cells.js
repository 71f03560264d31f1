// Linked cells: dependencies both ways, from the taps.
import {
  cellsCopying,
  copiesOf,
  foldsBack,
  paddedCell,
  pairsOf,
  sourceCell,
  sumsOverAll,
} from "./cell_copies.js";
import { rulesOf, triplesAt } from "./index_triples.js";
import { upTo } from "../rules/shapes_and_indices.js";
import { perGroup } from "../rules/conv_geometry.js";

/**
 * @import { Rule } from "./index_triples.js"
 * @typedef {Place & { real: boolean, kernel: Place | null }} Link kernel: gives its colour
 */

const PARTS = /** @type {const} */ (["result", "kernel", "image"]);

/** Each once, real if any is. */
class Found {
  #geometry;
  /** @type {Map<string, Link>} */
  #links = new Map();

  /** @param {Geometry} geometry */
  constructor(geometry) {
    this.#geometry = geometry;
  }

  /** @param {Place} cell @param {Place | null} [kernel] */
  add(cell, real = true, kernel = null) {
    const key = keyOf(cell);
    const known = this.#links.get(key);
    if (!known || (real && !known.real)) this.#links.set(key, { ...cell, real, kernel });
  }

  /** @param {Place} cell @param {Place | null} [kernel] */
  addWithCopies(cell, real = true, kernel = null) {
    this.add(cell, real, kernel);
    if (!real) return;
    if (cell.panel !== "padded_input" || this.#geometry.transposed)
      for (const copy of copiesOf(this.#geometry, cell)) this.add(copy, true, kernel);
    else if (foldsBack(this.#geometry)) {
      // only what the border shows
      const from = sourceCell(this.#geometry, cell);
      if (from) this.add(paddedCell(this.#geometry, from), true, kernel);
    }
    this.addFolded(cell, kernel);
  }

  /** Where a border's gradient is added. @param {Place} cell @param {Place | null} [kernel] */
  addFolded(cell, kernel = null) {
    const to = cell.panel === "grad_padded_input" && sourceCell(this.#geometry, cell);
    if (to) this.add({ panel: "grad_input", ...to }, true, kernel);
  }

  /** @param {Place} cell */
  allBut(cell) {
    this.#links.delete(keyOf(cell));
    return [...this.#links.values()];
  }
}

/** @param {Place} cell */
const keyOf = ({ panel, row, column }) => `${panel} ${row},${column}`;

export class Links {
  geometry;
  #rules;

  /** @param {Geometry} geometry */
  constructor(geometry) {
    this.geometry = geometry;
    this.#rules = rulesOf(geometry);
  }

  /** For a folded border all copies. @param {Place} cell */
  results(cell) {
    const folds = cell.panel === "grad_input" && foldsBack(this.geometry);
    return folds ? cellsCopying(this.geometry, cell, "grad_padded_input") : [cell];
  }

  /** Lists the index triples of a cell's sum, without structural zeros. @param {Place} cell */
  terms(cell) {
    const results = this.results(cell);
    const rule = this.#rules.find((each) => each.result === results[0]?.panel);
    if (!rule) return [];
    return results.flatMap((each) => triplesAt(rule, "result", each)).filter(({ real }) => real);
  }

  /**
   * Finds what a cell depends on, what depends on it, and the other factors of these products.
   * @param {Place} cell @returns {Link[]}
   */
  of(cell) {
    const found = new Found(this.geometry);
    const copies = copiesOf(this.geometry, cell);
    const same = [cell, ...copies];
    for (const pair of pairsOf(this.geometry, same)) found.addWithCopies(pair);
    for (const copy of copies) found.add(copy);
    if (cell.panel === "grad_input") for (const each of this.results(cell)) found.add(each);
    found.addFolded(cell);
    for (const rule of this.#rules)
      for (const start of same.flatMap((each) => this.results(each))) addTriples(found, rule, start);
    for (const other of sumsOverAll(this.geometry, cell)) found.addWithCopies(other);
    return found.allBut(cell);
  }

  /** @param {string} panel @param {Place} cell */
  copyIn(panel, cell) {
    return [cell, ...copiesOf(this.geometry, cell)].find((copy) => copy.panel === panel);
  }

  /**
   * Returns the cell of grad_input that belongs to a padded cell, or null for a padding zero.
   * @param {Place} cell @returns {Place | null}
   */
  gradientOf(cell) {
    const from = sourceCell(this.geometry, cell);
    return from && { panel: "grad_input", ...from };
  }

  /** Stamps of a channel overlap. */
  overlap() {
    return this.#rules[1].axes.some((triples) => {
      const reached = triples.filter(({ real }) => real).map(({ result }) => result);
      return new Set(reached).size < reached.length;
    });
  }
}

/** @param {Found} found @param {Rule} rule @param {Place} start */
function addTriples(found, rule, start) {
  for (const part of PARTS.filter((each) => rule[each] === start.panel))
    for (const { result, kernel, image, real } of triplesAt(rule, part, start))
      for (const other of part === "result" ? [kernel, image] : [result])
        found.addWithCopies(other, real, kernel);
}

/**
 * As [kernel's plane, image's plane].
 * @param {Geometry} geometry @param {string} panel
 * @param {boolean} stamps with the weight itself, not the rotated one @returns {[number[], number[]][]}
 */
export function planesOf(geometry, panel, stamps) {
  const { n, o, c } = geometry.plane;
  const [inputs, outputs] = perGroup(geometry);
  if (panel === "output") {
    const first = Math.floor(o / outputs) * inputs;
    return upTo(inputs).map((j) => [
      [o, j],
      [n, first + j],
    ]);
  }
  if (panel === "grad_weight")
    return upTo(geometry.batch).map((sample) => [
      [sample, o],
      [sample, c],
    ]);
  const first = Math.floor(c / inputs) * outputs;
  return upTo(outputs).map((j) => [stamps ? [first + j, c % inputs] : [c, j], [n, first + j]]);
}
