// The index formula, i = o * stride - padding + k * dilation: once in Python (axis_taps.py), and once here.

/**
 * @import { SpecWithOutput } from "./conv_geometry.js"
 * @typedef {{ o: number, k: number, i: number | null, at: number }} Tap i: null on padding
 */

/**
 * Returns the input's row or column that this position copies, or null for a padding zero.
 * @param {number} position from the input's first row @param {number} size @param {string} mode
 */
export function sourceOf(position, size, mode) {
  if (position >= 0 && position < size) return position;
  if (mode === "reflect") return position < 0 ? -position : 2 * (size - 1) - position;
  if (mode === "replicate") return position < 0 ? 0 : size - 1;
  if (mode === "circular") return ((position % size) + size) % size;
  return null;
}

/**
 * Output row o gets weight row k times input row i, which is row `at` of the padded input.
 * @param {SpecWithOutput} geometry @param {number} axis @returns {Tap[]}
 */
export function axisTaps(geometry, axis) {
  const [size, kernel, stride] = [
    geometry.input_size[axis],
    geometry.kernel_size[axis],
    geometry.stride[axis],
  ];
  const [padding, dilation] = [geometry.padding[axis][0], geometry.dilation[axis]];
  const taps = [];
  for (let o = 0; o < geometry.output_size[axis]; o++) {
    for (let k = 0; k < kernel; k++) {
      const position = o * stride - padding + k * dilation;
      taps.push({ o, k, i: sourceOf(position, size, geometry.padding_mode), at: position + padding });
    }
  }
  return taps;
}

/** Copies in the border included. @param {Geometry} geometry @param {number[]} pixel */
export function windowsOn(geometry, pixel) {
  const counts = pixel.map((at, axis) => axisTaps(geometry, axis).filter(({ i }) => i === at).length);
  return counts[0] * counts[1];
}
