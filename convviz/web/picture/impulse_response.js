// The tray: one pixel's gradient for each place of a single 1. It only remembers numbers of the board: that
// they are the kernel backwards is to be found; found before, it starts full.

import { axisTaps, windowsOn } from "../rules/taps.js";

/**
 * @import { Planes } from "./cell_products.js"
 * @typedef {{ at: Point, rows: (number | "gap" | null)[][], now: Point }} Tray rows: "gap": no window, null:
 *   not seen; now: of the 1
 */

const MAX_LINES = 9; // rows or columns that are drawn

export function createResponseMemory() {
  let known = ""; // geometry, kernel and pixel
  /** @type {Map<string, number>} */
  let seen = new Map();
  let full = false;

  return {
    /** @param {boolean} begin */
    begin(begin) {
      [known, full] = ["", begin];
    },
    /**
     * @param {Geometry} geometry @param {Planes} numbers @param {Point} pixel
     * @returns {Tray | null} null: no single 1, too large, or read by no window
     */
    see(geometry, { planes, thumbs }, pixel) {
      const {
        plane,
        output_size: [height, width],
        input_size,
        stride,
      } = geometry;
      const gradient = Array.from(planes.grad_output);
      const others = Array.from(thumbs.grad_output ?? []).slice(...channelsOf(geometry));
      const ones = (others.length ? others : gradient).filter((value) => value !== 0);
      const at = gradient.indexOf(1);
      const size = [(height - 1) * stride[0] + 1, (width - 1) * stride[1] + 1];
      if (ones.length !== 1 || at < 0 || Math.max(...size) > MAX_LINES) return null;
      if (!windowsOn(geometry, [pixel.row, pixel.column])) return null; // no window reads it, or it lies outside
      const key = JSON.stringify([geometry, plane, Array.from(planes.weight), pixel.row, pixel.column]);
      if (key !== known) seen = full ? received(geometry, planes.weight, pixel) : new Map();
      known = key;
      const now = { row: Math.floor(at / width) * stride[0], column: (at % width) * stride[1] };
      seen.set(`${now.row},${now.column}`, planes.grad_input[pixel.row * input_size[1] + pixel.column]);
      const rows = Array.from({ length: size[0] }, (_, row) =>
        Array.from(
          { length: size[1] },
          (_, column) =>
            seen.get(`${row},${column}`) ?? (row % stride[0] || column % stride[1] ? "gap" : null),
        ),
      );
      return { at: pixel, rows, now };
    },
  };
}

/** grad_output's planes behind the shown channel. @param {Geometry} geometry @returns {Pair} */
function channelsOf({ plane, output_size: [height, width], out_channels, groups }) {
  const outputs = out_channels / groups;
  const first = plane.n * out_channels + Math.floor(plane.o / outputs) * outputs;
  return [first * height * width, (first + outputs) * height * width];
}

/**
 * The weights with which windows read it.
 * @param {Geometry} geometry @param {ArrayLike<number>} weight @param {Point} pixel
 * @returns {Map<string, number>}
 */
function received(geometry, weight, pixel) {
  const { stride, output_size, kernel_size } = geometry;
  const [down, right] = [pixel.row, pixel.column].map((at, axis) =>
    axisTaps(geometry, axis).filter(({ i }) => i === at),
  );
  const found = new Map();
  for (let row = 0; row < output_size[0]; row++) {
    for (let column = 0; column < output_size[1]; column++) {
      const taps = down
        .filter(({ o }) => o === row)
        .flatMap((one) =>
          right.filter(({ o }) => o === column).map((other) => one.k * kernel_size[1] + other.k),
        );
      found.set(
        `${row * stride[0]},${column * stride[1]}`,
        taps.reduce((sum, tap) => sum + weight[tap], 0),
      );
    }
  }
  return found;
}
