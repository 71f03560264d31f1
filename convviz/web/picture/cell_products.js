// A cell's products over channels and samples, with their numbers.

import { planesOf } from "./find_linked_cells.js";
import { eachCell, upTo } from "../rules/shapes_and_indices.js";

/**
 * @typedef {{ planes: any, thumbs: any }} Planes shown planes, and small pictures
 * @typedef {Place & { value: number | undefined, shown: boolean }} Factor value: if known; shown: in the
 *   shown plane
 */

/**
 * Returns a plane's numbers and where they start, or null where its small picture leaves cells out.
 * @param {any} spec @param {Planes} numbers @param {number[]} at
 * @returns {{ values: ArrayLike<number>, start: number } | null}
 */
export function findPlane(spec, numbers, at) {
  const { name, thumbs, rows, columns } = spec;
  if (!thumbs || (spec.at[0] === at[0] && spec.at[1] === at[1]))
    return { values: numbers.planes[name], start: 0 };
  if (thumbs.rows !== rows.length || thumbs.columns !== columns.length) return null;
  const index = thumbs.planes.findIndex(
    (/** @type {any} */ plane) => plane.at[0] === at[0] && plane.at[1] === at[1],
  );
  return { values: numbers.thumbs[name], start: index * rows.length * columns.length };
}

export class CellProducts {
  #geometry;
  #links;
  #specOf;
  #numbers;

  /** @param {Links} links @param {(panel: string) => any} specOf @param {Planes} numbers */
  constructor(links, specOf, numbers) {
    this.#links = links;
    this.#geometry = links.geometry;
    this.#specOf = specOf;
    this.#numbers = numbers;
  }

  /** @param {string} panel @param {number[]} at @param {number} row @param {number} column */
  #numberOf(panel, at, row, column) {
    const found = findPlane(this.#specOf(panel), this.#numbers, at);
    return found?.values[found.start + row * this.#specOf(panel).columns.length + column];
  }

  /** From grad_output itself: its small pictures may be complete. @param {Place} one @param {number[]} at */
  #numberOfCopy(one, at) {
    const copy = this.#links.copyIn("grad_output", one);
    return copy && this.#specOf("grad_output")
      ? this.#numberOf("grad_output", at, copy.row, copy.column)
      : undefined;
  }

  /** Where the page shows it: stamps use weight and grad_output. @param {Place} one @returns {Place} */
  present(one) {
    const panel = { rotated_weight: "weight", padded_grad_output: "grad_output" }[one.panel];
    return this.#specOf(one.panel) || !panel ? one : (this.#links.copyIn(panel, one) ?? one);
  }

  /** @param {Place} one @param {number[]} plane @returns {Factor} */
  #factorOf(one, plane) {
    const { panel, row, column } = this.present(one);
    const at = this.#specOf(panel)?.at;
    if (!at) return { panel, row, column, value: undefined, shown: false }; // a figure without that panel
    const value = this.#numberOf(panel, plane, row, column) ?? this.#numberOfCopy(one, plane);
    return { panel, row, column, value, shown: at[0] === plane[0] && at[1] === plane[1] };
  }

  /** @param {Place} cell @returns {Factor[][]} */
  #ofBias(cell) {
    // A transposed layer's grad_output is called input.
    const panel = this.#geometry.transposed ? "input" : "grad_output";
    const spec = this.#specOf(panel);
    if (!spec) return [];
    return upTo(this.#geometry.batch).flatMap((sample) =>
      eachCell(spec.rows.length, spec.columns.length, (row, column) => {
        const value = this.#numberOf(panel, [sample, cell.column], row, column);
        return [{ panel, row, column, value, shown: sample === spec.at[0] && cell.column === spec.at[1] }];
      }),
    );
  }

  /**
   * Lists the terms of a cell, each by its factors, without structural zeros.
   * @param {Place} cell @returns {Factor[][]}
   */
  of(cell) {
    if (cell.panel === "grad_bias") return this.#ofBias(cell);
    const list = this.#links.terms(cell);
    const found = planesOf(this.#links.geometry, cell.panel, !this.#specOf("rotated_weight")).flatMap(
      ([kernelPlane, imagePlane]) =>
        list.map(({ kernel, image }) => {
          const factors = [this.#factorOf(kernel, kernelPlane), this.#factorOf(image, imagePlane)];
          // grad_output first
          return kernel.panel === "rotated_weight" ? factors.reverse() : factors;
        }),
    );
    if (cell.panel === (this.#geometry.transposed ? "grad_input" : "output") && this.#specOf("bias")) {
      const column = this.#geometry.transposed ? this.#geometry.plane.c : this.#geometry.plane.o;
      found.push([{ panel: "bias", row: 0, column, shown: true, value: this.#numbers.planes.bias[column] }]);
    }
    return found;
  }
}
