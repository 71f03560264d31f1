// Shapes, and places in reading order.

/** @param {number} count */
export const upTo = (count) => [...Array(count).keys()];

/** @param {number[]} shape */
export const countOf = (shape) => shape.reduce((product, size) => product * size, 1);

/** @param {number[]} shape @param {number[]} at */
export const flatIndex = (shape, at) => at.reduce((place, each, axis) => place * shape[axis] + each, 0);

/** Reverses flatIndex: returns the indices of a flat index. @param {number[]} shape @param {number} index */
export const indicesAt = (shape, index) =>
  shape.map((size, axis) => Math.floor(index / countOf(shape.slice(axis + 1))) % size);

/** @param {number} index @param {number} columns @returns {Point} */
export const pointAt = (index, columns) => ({ row: Math.floor(index / columns), column: index % columns });

/**
 * Calls `make` for every cell in reading order and returns the results.
 * @template Made @param {number} rows @param {number} columns
 * @param {(row: number, column: number, index: number) => Made} make
 */
export const eachCell = (rows, columns, make) =>
  upTo(rows * columns).map((index) => make(Math.floor(index / columns), index % columns, index));

/** @param {Tensor} tensor with four axes @param {number[]} at its leading indices */
export function planeOf({ shape, data }, [first, second]) {
  const cells = shape[2] * shape[3];
  const start = (first * shape[1] + second) * cells;
  return data.subarray(start, start + cells);
}

/** The data with every plane turned by 180°. @param {Tensor} tensor */
export function halfTurned({ shape, data }) {
  const cells = shape[2] * shape[3];
  return data.map((_, index) => data[index - 2 * (index % cells) + cells - 1]);
}

/** @param {number[] | Float32Array | Float64Array} values @param {number} columns */
export const rowsOf = (values, columns) =>
  upTo(values.length / columns).map((row) => Array.from(values.slice(row * columns, (row + 1) * columns)));

/** @param {Iterable<number>} numbers */
export function largestOf(numbers) {
  let most = 0;
  for (const number of numbers) if (Math.abs(number) > most) most = Math.abs(number);
  return most;
}
