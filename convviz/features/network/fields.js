// Fields of a cell through the whole network: all cells that it reads (receptive), all that it reaches (projective).
// A mask for each channel; channels that are read alike share one mask by reference.
import { join, through } from "./masks.js";
import { dimsOf, placeOf, relationOf } from "./relations.js";

/**
 * @import { Masks } from "./masks.js"
 * @import { Dims, Relation } from "./relations.js"
 * @typedef {{ masks: Map<number, Masks>, unknown: Set<number> }} Field by operation; unknown: where the field ends
 *   because nobody knows what they read
 */

export class Fields {
  #operations;
  /** @type {(Dims | null)[]} */
  #dims;
  /** @type {Map<string, Relation | null>} */
  #relations = new Map();
  /** @type {number[][]} */
  #readers;

  /** @param {NetworkOperation[]} operations */
  constructor(operations) {
    this.#operations = operations;
    this.#dims = operations.map(({ shape }) => dimsOf(shape));
    this.#readers = operations.map(() => []);
    for (const { index, sources } of operations)
      for (const source of new Set(sources)) this.#readers[source].push(index);
  }

  /** Those that read its output. @param {number} operation */
  readersOf = (operation) => this.#readers[operation];

  /** @param {number} operation @param {number} position among its sources */
  relation(operation, position) {
    const key = `${operation} ${position}`;
    const { sources } = this.#operations[operation];
    if (!this.#relations.has(key)) {
      const { shape } = this.#operations[sources[position]];
      this.#relations.set(key, relationOf(this.#operations[operation], position, shape));
    }
    return this.#relations.get(key) ?? null;
  }

  /** All that a cell depends on, itself too. @param {number} operation @param {number[]} cell @returns {Field} */
  receptive(operation, cell) {
    const field = this.#start(operation, cell);
    for (let at = operation; at >= 0; at--) {
      const masks = field.masks.get(at);
      if (masks)
        this.#operations[at].sources.forEach((_, position) => this.#back(field, at, position, masks));
    }
    return field;
  }

  /** All that depends on a cell, itself too. @param {number} operation @param {number[]} cell @returns {Field} */
  projective(operation, cell) {
    const field = this.#start(operation, cell);
    for (let at = operation + 1; at < this.#operations.length; at++)
      this.#operations[at].sources.forEach((source, position) => {
        const masks = field.masks.get(source);
        if (masks) this.#forth(field, at, position, masks);
      });
    return field;
  }

  /** What one operation alone reads of a source for a cell. @param {number} at @param {number} position @param {number[]} cell */
  readBy(at, position, cell) {
    const field = this.#start(at, cell);
    this.#back(field, at, position, field.masks.get(at) ?? []);
    return field.masks.get(this.#operations[at].sources[position]) ?? null;
  }

  /** Which cells of one operation read a cell of a source. @param {number} at @param {number} position @param {number[]} cell */
  reading(at, position, cell) {
    const source = this.#operations[at].sources[position];
    const field = this.#start(source, cell);
    this.#forth(field, at, position, field.masks.get(source) ?? []);
    return field.masks.get(at) ?? null;
  }

  /** @param {number} operation @param {number[]} cell @returns {Field} */
  #start(operation, cell) {
    const dims = this.#dims[operation];
    if (!dims) return { masks: new Map(), unknown: new Set([operation]) };
    const [channel, row, column] = placeOf(cell);
    const masks = /** @type {Masks} */ (Array(dims[0]).fill(null));
    masks[channel] = new Uint8Array(dims[1] * dims[2]);
    masks[channel][row * dims[2] + column] = 1;
    return { masks: new Map([[operation, masks]]), unknown: new Set() };
  }

  /** @param {Field} field @param {number} at @param {number} position @param {Masks} masks */
  #back(field, at, position, masks) {
    const source = this.#operations[at].sources[position];
    const [relation, out, dims] = [this.relation(at, position), this.#dims[at], this.#dims[source]];
    if (!relation || !out || !dims) return void field.unknown.add(at);
    join(field.masks, source, through(masks, out, dims, relation, false));
  }

  /** @param {Field} field @param {number} at @param {number} position @param {Masks} masks */
  #forth(field, at, position, masks) {
    const source = this.#operations[at].sources[position];
    const [relation, out, dims] = [this.relation(at, position), this.#dims[at], this.#dims[source]];
    if (!relation || !out || !dims) return void field.unknown.add(at);
    join(field.masks, at, through(masks, dims, out, relation, true));
  }
}
