// @ts-check
// The products that a cell adds up, over all channels and samples, with their numbers: the sum writes them
// out, and sentences count them.

import { planesOf } from "./links.js";

/**
 * @import { Cell, Links } from "./links.js"
 * @typedef {{ planes: any, thumbs: any }} Planes the numbers of the shown planes, and of the small pictures
 * @typedef {Cell & { value: number | undefined, shown: boolean }} Factor value: where the page has it; shown:
 *   whether its plane is the shown one
 */

/**
 * The list that holds a plane's numbers and the place where they start; null when the page does not have
 * them, because a large plane's small picture leaves cells out.
 * @param {any} spec of the panel @param {Planes} numbers @param {number[]} at the plane's indices
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

/** What finds the products of a cell. */
export class Terms {
  #geometry;
  #links;
  #specOf;
  #numbers;

  /**
   * @param {Links} links @param {(panel: string) => any} specOf the structure of a shown panel
   * @param {Planes} numbers
   */
  constructor(links, specOf, numbers) {
    this.#links = links;
    this.#geometry = links.geometry;
    this.#specOf = specOf;
    this.#numbers = numbers;
  }

  /**
   * A number of any plane, if the page has it.
   * @param {string} panel @param {number[]} at @param {number} row @param {number} column
   */
  #numberOf(panel, at, row, column) {
    const found = findPlane(this.#specOf(panel), this.#numbers, at);
    return found?.values[found.start + row * this.#specOf(panel).columns.length + column];
  }

  /**
   * The same number of grad_output itself: padding and zeros can make a plane too
   * large for its small pictures.
   * @param {Cell} one @param {number[]} at
   */
  #numberOfCopy(one, at) {
    const copy = this.#links.copyIn("grad_output", one);
    return copy && this.#specOf("grad_output")
      ? this.#numberOf("grad_output", at, copy.row, copy.column)
      : undefined;
  }

  /**
   * A factor where the page shows it: told as stamps, the gradient is made of weight
   * and grad_output themselves.
   * @param {Cell} one @returns {Cell}
   */
  present(one) {
    const panel = { rotated_weight: "weight", padded_grad_output: "grad_output" }[one.panel];
    return this.#specOf(one.panel) || !panel ? one : (this.#links.copyIn(panel, one) ?? one);
  }

  /** @param {Cell} one @param {number[]} plane @returns {Factor} */
  #factorOf(one, plane) {
    const { panel, row, column } = this.present(one);
    const at = this.#specOf(panel).at;
    const value = this.#numberOf(panel, plane, row, column) ?? this.#numberOfCopy(one, plane);
    return { panel, row, column, value, shown: at[0] === plane[0] && at[1] === plane[1] };
  }

  /** What the bias's gradient adds up. @param {Cell} cell @returns {Factor[][]} */
  #ofBias(cell) {
    // A transposed convolution's own grad_output is what the convolution that it reads
    // the other way calls input.
    const panel = this.#geometry.transposed ? "input" : "grad_output";
    const spec = this.#specOf(panel);
    const places = [...Array(spec.rows.length * spec.columns.length).keys()];
    return [...Array(this.#geometry.batch).keys()].flatMap((sample) =>
      places.map((place) => {
        const [row, column] = [Math.floor(place / spec.columns.length), place % spec.columns.length];
        const value = this.#numberOf(panel, [sample, cell.column], row, column);
        return [{ panel, row, column, value, shown: sample === spec.at[0] && cell.column === spec.at[1] }];
      }),
    );
  }

  /**
   * Every product of a cell, over all channels or samples; without those that are zero by construction.
   * @param {Cell} cell @returns {Factor[][]}
   */
  of(cell) {
    if (cell.panel === "grad_bias") return this.#ofBias(cell);
    const list = this.#links.terms(cell);
    const found = planesOf(this.#links.geometry, cell.panel, !this.#specOf("rotated_weight")).flatMap(
      ([kernelPlane, imagePlane]) =>
        list.map(({ kernel, image }) => {
          const factors = [this.#factorOf(kernel, kernelPlane), this.#factorOf(image, imagePlane)];
          // With grad_output first, as in the formula.
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
