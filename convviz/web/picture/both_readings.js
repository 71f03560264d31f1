// The steps of both readings at once: product by product, in the order in which stamps land. Each lands on a
// cell of the result, over which the window of the other reading stops; stamps that add 0 are left out.
import { sourceCell } from "./cell_copies.js";
import { Links } from "./find_linked_cells.js";
import { axisTaps } from "../rules/taps.js";
import { eachCell, pointAt, upTo } from "../rules/shapes_and_indices.js";

/**
 * `from` and `kernel` are its factors as the stamp has them, `seen` and `rotated` as the window has them;
 * `to`: where it lands; `folded`: where a border's gradient goes then.
 * @typedef {Record<"from" | "kernel" | "seen" | "rotated" | "to", Place> & { folded: Place | null }} BothWays
 */

export class Readings {
  /** @type {Geometry} */
  #geometry;
  /** @type {Links} */
  #links;
  /** @type {string} */
  #result;
  #steps;
  zeros; // stamps that add 0
  stamps;

  /**
   * @param {Geometry} geometry @param {string} result
   * @param {ArrayLike<number>[]} gradients planes of grad_output to it; none: unknown, no stamp is left out
   */
  constructor(geometry, result, gradients) {
    [this.#geometry, this.#result, this.#links] = [geometry, result, new Links(geometry)];
    const [rows, columns] = geometry.output_size;
    this.stamps = rows * columns;
    const isZero = upTo(this.stamps).map((o) =>
      Boolean(gradients.length && gradients.every((plane) => plane[o] === 0)),
    );
    this.zeros = isZero.filter(Boolean).length;
    const all = productsOf(geometry);
    const others = all.filter(([o]) => !isZero[o]);
    this.#steps = others.length ? others : all; // of nothing but zeros, even they are steps
  }

  get count() {
    return this.#steps.length;
  }

  /** The stamps before it, and of its own the kernel's cells up to it. @param {number} position */
  upTo(position) {
    const [stamps, cell] = this.#steps[position];
    return { stamps, cells: cell + 1 };
  }

  /** @param {number} position @returns {BothWays} */
  at(position) {
    const { output_size, kernel_size, stride, dilation, padding } = this.#geometry;
    const [stamp, cell] = this.#steps[position];
    const from = { panel: "grad_output", ...pointAt(stamp, output_size[1]) };
    const kernel = { panel: "weight", ...pointAt(cell, kernel_size[1]) };
    const [row, column] = [0, 1].map(
      (axis) =>
        [from.row, from.column][axis] * stride[axis] + [kernel.row, kernel.column][axis] * dilation[axis],
    );
    const border = { panel: "grad_padded_input", row, column };
    const inside = { panel: "grad_input", row: row - padding[0][0], column: column - padding[1][0] };
    const folds = this.#result === border.panel;
    const source = folds ? sourceCell(this.#geometry, border) : null;
    const copy = (/** @type {string} */ panel, /** @type {Place} */ of) =>
      /** @type {Place} */ (this.#links.copyIn(panel, of)); // a product that lands is in a window
    return {
      from,
      kernel,
      to: folds ? border : inside,
      folded: source && { panel: "grad_input", ...source },
      seen: copy("padded_grad_output", from),
      rotated: copy("rotated_weight", kernel),
    };
  }
}

/**
 * A stamp and a cell of the kernel each, in reading order; what falls on the padding is no product.
 * @param {Geometry} geometry @returns {[number, number][]}
 */
function productsOf(geometry) {
  const [down, across] = [0, 1].map((axis) => landingOf(geometry, axis));
  const cells = eachCell(...geometry.kernel_size, (row, column) => [row, column]);
  return eachCell(...geometry.output_size, (row, column, o) =>
    cells.flatMap(([k, other], cell) =>
      down[row][k] && across[column][other] ? [/** @type {[number, number]} */ ([o, cell])] : [],
    ),
  ).flat();
}

/** By output and kernel's cell: whether it lands. @param {Geometry} geometry @param {number} axis */
function landingOf(geometry, axis) {
  /** @type {boolean[][]} */
  const landing = Array.from({ length: geometry.output_size[axis] }, () => []);
  for (const { o, k, i } of axisTaps(geometry, axis)) landing[o][k] = i !== null;
  return landing;
}
