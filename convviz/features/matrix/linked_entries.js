// Which entries of the matrices belong together, and with which cells of the board: all from the taps.
import { outputCell } from "../../web/picture/cell_copies.js";
import { axisTaps } from "../../web/rules/taps.js";
import { pointAt, upTo } from "../../web/rules/shapes_and_indices.js";

/**
 * One tap: the numbers of a window, of a kernel cell, of a cell of the padded input and of a cell of the
 * input (null on a padding zero), each counted row by row.
 * @typedef {{ window: number, kernel: number, padded: number, input: number | null }} Tap
 * @typedef {Partial<Tap> & { out?: number, in?: number }} Meaning what an entry says of its taps and channels
 * What is pointed at: taps, in these output and input channels, counted as the rows of the matrices count
 *   them.
 * @typedef {{ taps: Tap[], outs: number[], ins: number[] }} Selection
 * What the rows or columns of a matrix count; an image counts "padded" or "input" over both of its axes.
 * @typedef {"out" | "kernel" | "window" | "input" | "one"} Axis
 * @typedef {{ rows?: Axis, columns?: Axis, image?: "padded" | "input", pair?: boolean, size: Pair
 *   }} Shape
 *   `pair`: it belongs to the shown input and output channel alone
 */

const PARTS = { window: "o", kernel: "k", padded: "at", input: "i" };
const PANELS = {
  window: ["output", "grad_output"],
  kernel: ["weight", "grad_weight", "rotated_weight"],
  padded: ["padded_input", "grad_padded_input"],
  input: ["input", "grad_input"],
};

export class MatrixLinks {
  #geometry;
  #windows;
  #axes;
  #widths;
  #cells;
  #shown;
  #all;

  /** @param {import("./views.js").MatrixData} data */
  constructor(data) {
    const { geometry, windows, out_channels, in_channels } = data;
    const { input_size, output_size, kernel_size, padding, plane } = geometry;
    [this.#geometry, this.#windows] = [geometry, windows];
    this.#axes = [axisTaps(geometry, 0), axisTaps(geometry, 1)];
    this.#widths = {
      window: output_size[1],
      kernel: kernel_size[1],
      padded: input_size[1] + padding[1][0] + padding[1][1],
      input: input_size[1],
    };
    this.#cells = kernel_size[0] * kernel_size[1];
    this.#shown = { out: out_channels.indexOf(plane.o), in: in_channels.indexOf(plane.c) };
    this.#all = { outs: upTo(out_channels.length), ins: upTo(in_channels.length) };
  }

  /** @param {string} part @param {number} flat */
  place(part, flat) {
    return [Math.floor(flat / this.#widths[part]), flat % this.#widths[part]];
  }

  /** @param {Partial<Tap>} wanted @returns {Tap[]} */
  find(wanted) {
    const parts = Object.entries(wanted).map(([part, flat]) => [
      PARTS[part],
      this.place(part, /** @type {number} */ (flat)),
    ]);
    const [rows, columns] = this.#axes.map((taps, axis) =>
      taps.filter((tap) => parts.every(([part, at]) => tap[part] === at[axis])),
    );
    return rows.flatMap((row) =>
      columns.map((column) => ({
        window: row.o * this.#widths.window + column.o,
        kernel: row.k * this.#widths.kernel + column.k,
        padded: row.at * this.#widths.padded + column.at,
        input: row.i === null || column.i === null ? null : row.i * this.#widths.input + column.i,
      })),
    );
  }

  /** @param {Shape} shape @param {number} row @param {number} column @returns {Meaning} */
  meaning(shape, row, column) {
    if (shape.image) return { [shape.image]: row * shape.size[1] + column };
    const found = /** @type {Meaning} */ ({});
    for (const [axis, index] of /** @type {[Axis, number][]} */ ([
      [shape.rows, row],
      [shape.columns, column],
    ])) {
      if (axis === "kernel")
        Object.assign(found, { kernel: index % this.#cells, in: Math.floor(index / this.#cells) });
      else if (axis === "window") found.window = index + this.#windows.start;
      else if (axis !== "one") found[axis] = index;
    }
    return found;
  }

  /** @param {Shape} shape @param {number} row @param {number} column @returns {Selection} */
  ofEntry(shape, row, column) {
    const { out, in: channel, ...wanted } = this.meaning(shape, row, column);
    return {
      taps: this.find(wanted),
      outs: out !== undefined ? [out] : shape.pair ? [this.#shown.out] : this.#all.outs,
      ins: channel !== undefined ? [channel] : shape.pair || shape.image ? [this.#shown.in] : this.#all.ins,
    };
  }

  /** @param {Place} cell @returns {Selection | null} null: the cell is in no matrix */
  ofCell(cell) {
    const { panel, row, column } = cell;
    const flat = (part) => row * this.#widths[part] + column;
    if (panel === "dilated_grad_output" || panel === "padded_grad_output") {
      const at = outputCell(this.#geometry, cell);
      return at && this.ofCell({ panel: "grad_output", ...at });
    }
    const [part] = Object.entries(PANELS).find(([, panels]) => panels.includes(panel)) ?? [];
    if (!part) return null;
    const at = panel === "rotated_weight" ? this.#cells - 1 - flat(part) : flat(part);
    const isKernel = part === "kernel";
    return {
      taps: this.find({ [part]: at }),
      outs: isKernel || part === "window" ? [this.#shown.out] : this.#all.outs,
      ins: part === "window" ? this.#all.ins : [this.#shown.in],
    };
  }

  /** @param {Shape} shape @param {Selection} selection */
  entries(shape, { taps, outs, ins }) {
    const isIn = ins.includes(this.#shown.in);
    if (shape.pair && !outs.includes(this.#shown.out)) return [];
    if ((shape.pair || shape.image) && !isIn) return [];
    const [height, width] = shape.size;
    const { image } = shape;
    const indices = (axis, tap) => this.#indices(axis, tap, outs, ins);
    const flats = taps.flatMap((tap) =>
      image
        ? [tap[image]]
        : indices(shape.rows, tap)
            .filter((row) => row >= 0 && row < height)
            .flatMap((row) =>
              indices(shape.columns, tap)
                .filter((column) => column >= 0 && column < width)
                .map((column) => row * width + column),
            ),
    );
    const found = new Set(flats.filter((flat) => flat !== null));
    return [...found].map((flat) => pointAt(flat, width));
  }

  /** @param {Axis | undefined} axis @param {Tap} tap @param {number[]} outs @param {number[]} ins */
  #indices(axis, tap, outs, ins) {
    if (axis === "out") return outs;
    if (axis === "kernel") return ins.map((channel) => channel * this.#cells + tap.kernel);
    return [axis === "one" ? 0 : axis === "window" ? tap.window - this.#windows.start : (tap.input ?? -1)];
  }

  /**
   * @param {Selection} selection
   * @param {{ window?: string, kernel?: string, padded?: string, input?: string }} panels
   */
  boardCells({ taps, outs, ins }, panels) {
    const [isOut, isIn] = [outs.includes(this.#shown.out), ins.includes(this.#shown.in)];
    const visible = { window: isOut, kernel: isOut && isIn, padded: isIn, input: isIn };
    const found = new Map();
    for (const [part, panel] of Object.entries(panels)) {
      for (const tap of visible[part] ? taps : []) {
        if (tap[part] === null) continue;
        const [row, column] = this.place(part, tap[part]);
        found.set(`${panel} ${tap[part]}`, { panel, row, column });
      }
    }
    return [...found.values()];
  }

  /**
   * Returns the board's cell with the entry's own number, or null where the board does not show it.
   * @param {Shape} shape @param {{ part: string, panel: string }} own @param {number} row @param {number} column
   */
  boardCell(shape, own, row, column) {
    const meant = this.meaning(shape, row, column);
    const other = (channel, of) => channel !== undefined && channel !== of;
    if (other(meant.out, this.#shown.out) || other(meant.in, this.#shown.in)) return null;
    const { part, panel } = own;
    const { padding, input_size } = this.#geometry;
    const into = part === "input" && panel === "padded_input" ? 1 : 0;
    const offset = part === "padded" && panel === "grad_input" ? -1 : into;
    const at = this.place(part, meant[part]).map((index, axis) => index + offset * padding[axis][0]);
    const isInside = at.every((index, axis) => index >= 0 && index < input_size[axis]);
    return panel !== "grad_input" || isInside ? { panel, row: at[0], column: at[1] } : null;
  }
}
