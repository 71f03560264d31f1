// @ts-check
// Which entries of the matrices belong together, and with which cells of the board. All of it follows from the taps.
import { axisTaps } from "../rules/taps.js";

/**
 * One tap: the numbers of a window, of a kernel cell, of a cell of the padded input and of a cell of the input (null on a
 * padding zero), each counted row by row.
 * @typedef {{ window: number, kernel: number, padded: number, input: number | null }} Tap
 * What is pointed at: taps, in these output and input channels, counted as the rows of the matrices count them.
 * @typedef {{ taps: Tap[], outs: number[], ins: number[] }} Selection
 * What the rows or columns of a matrix count; an image counts "padded" or "input" over both of its axes.
 * @typedef {"out" | "kernel" | "window" | "input" | "one"} Axis
 * @typedef {{ rows?: Axis, columns?: Axis, image?: "padded" | "input", pair?: boolean, size: [number, number] }} Shape
 *   `pair`: it belongs to the shown input and output channel alone
 */

const PARTS = { window: "o", kernel: "k", padded: "at", input: "i" };
const WINDOWS = ["output", "grad_output"];
const KERNELS = ["weight", "grad_weight"];

/** @param {number} count */
const first = (count) => [...Array(count).keys()];

/** @param {any} data of the tab */
export function createMatrixLinks(data) {
  const { geometry, in_channels, out_channels, windows } = data;
  const axes = [axisTaps(geometry, 0), axisTaps(geometry, 1)];
  const padded = geometry.input_size.map(
    (size, axis) => size + geometry.padding[axis][0] + geometry.padding[axis][1],
  );
  const widths = {
    window: geometry.output_size[1],
    kernel: geometry.kernel_size[1],
    padded: padded[1],
    input: geometry.input_size[1],
  };
  const cells = geometry.kernel_size[0] * geometry.kernel_size[1];
  const shown = { out: out_channels.indexOf(geometry.plane.o), in: in_channels.indexOf(geometry.plane.c) };
  const all = { outs: first(out_channels.length), ins: first(in_channels.length) };

  /** The row and the column of a cell. @param {string} part @param {number} flat */
  const place = (part, flat) => [Math.floor(flat / widths[part]), flat % widths[part]];

  /** All taps with these numbers. @param {Partial<Tap>} wanted @returns {Tap[]} */
  function find(wanted) {
    const parts = Object.entries(wanted).map(([part, flat]) => [
      PARTS[part],
      place(part, /** @type {number} */ (flat)),
    ]);
    const [rows, columns] = axes.map((taps, axis) =>
      taps.filter((tap) => parts.every(([part, at]) => tap[part] === at[axis])),
    );
    return rows.flatMap((row) =>
      columns.map((column) => ({
        window: row.o * widths.window + column.o,
        kernel: row.k * widths.kernel + column.k,
        padded: row.at * widths.padded + column.at,
        input: row.i === null || column.i === null ? null : row.i * widths.input + column.i,
      })),
    );
  }

  /** What an entry says about the taps behind it. @param {Shape} shape @param {number} row @param {number} column */
  function meaning(shape, row, column) {
    if (shape.image) return { [shape.image]: row * shape.size[1] + column };
    const found = /** @type {any} */ ({});
    for (const [axis, index] of /** @type {[Axis, number][]} */ ([
      [shape.rows, row],
      [shape.columns, column],
    ])) {
      if (axis === "kernel") Object.assign(found, { kernel: index % cells, in: Math.floor(index / cells) });
      else if (axis === "window") found.window = index + windows.start;
      else if (axis !== "one") found[axis] = index;
    }
    return found;
  }

  /** Everything that goes with an entry. @param {Shape} shape @param {number} row @param {number} column @returns {Selection} */
  function ofEntry(shape, row, column) {
    const { out, in: channel, ...wanted } = meaning(shape, row, column);
    return {
      taps: find(wanted),
      outs: out !== undefined ? [out] : shape.pair ? [shown.out] : all.outs,
      ins: channel !== undefined ? [channel] : shape.pair || shape.image ? [shown.in] : all.ins,
    };
  }

  /** Everything that goes with a cell of the board; null where no matrix has it. @param {any} cell @returns {Selection | null} */
  function ofCell({ panel, row, column }) {
    const flat = (part) => row * widths[part] + column;
    const start = geometry.gradient_padding;
    const stretched = { dilated_grad_output: [0, 0], padded_grad_output: start }[panel];
    if (stretched) {
      const at = [row, column].map((index, axis) => (index - stretched[axis]) / geometry.stride[axis]);
      const data = at.every(
        (index, axis) => Number.isInteger(index) && index >= 0 && index < geometry.output_size[axis],
      );
      return data ? ofCell({ panel: "grad_output", row: at[0], column: at[1] }) : null;
    }
    if (WINDOWS.includes(panel))
      return { taps: find({ window: flat("window") }), outs: [shown.out], ins: all.ins };
    if (KERNELS.includes(panel))
      return { taps: find({ kernel: flat("kernel") }), outs: [shown.out], ins: [shown.in] };
    if (panel === "rotated_weight")
      return { taps: find({ kernel: cells - 1 - flat("kernel") }), outs: [shown.out], ins: [shown.in] };
    if (panel === "padded_input" || panel === "grad_padded_input")
      return { taps: find({ padded: flat("padded") }), outs: all.outs, ins: [shown.in] };
    if (panel === "grad_input" || panel === "input")
      return { taps: find({ input: flat("input") }), outs: all.outs, ins: [shown.in] };
    return null;
  }

  /** The entries of a matrix that belong to what is pointed at. @param {Shape} shape @param {Selection} selection */
  function entries(shape, { taps, outs, ins }) {
    if (shape.pair && !outs.includes(shown.out)) return [];
    if ((shape.pair || shape.image) && !ins.includes(shown.in)) return [];
    const [height, width] = shape.size;
    const indices = (axis, tap) => {
      if (axis === "out") return outs;
      if (axis === "kernel") return ins.map((channel) => channel * cells + tap.kernel);
      return [axis === "one" ? 0 : axis === "window" ? tap.window - windows.start : (tap.input ?? -1)];
    };
    const found = new Set();
    for (const tap of taps) {
      if (shape.image) found.add(tap[shape.image]);
      else {
        for (const row of indices(shape.rows, tap)) {
          for (const column of indices(shape.columns, tap)) {
            if (row >= 0 && row < height && column >= 0 && column < width) found.add(row * width + column);
          }
        }
      }
    }
    found.delete(null); // a padding zero stands in no cell of the input
    return [...found].map((flat) => ({ row: Math.floor(flat / width), column: flat % width }));
  }

  /**
   * The board's cells behind an entry, those of the shown planes only.
   * @param {Selection} selection @param {{ window?: string, kernel?: string, padded?: string, input?: string }} panels
   */
  function boardCells({ taps, outs, ins }, panels) {
    const visible = {
      window: outs.includes(shown.out),
      kernel: outs.includes(shown.out) && ins.includes(shown.in),
      padded: ins.includes(shown.in),
      input: ins.includes(shown.in),
    };
    const found = new Map();
    for (const [part, panel] of Object.entries(panels)) {
      for (const tap of visible[part] ? taps : []) {
        if (tap[part] === null) continue;
        const [row, column] = place(part, tap[part]);
        found.set(`${panel} ${tap[part]}`, { panel, row, column });
      }
    }
    return [...found.values()];
  }

  /**
   * The one cell of the board that shows an entry's own number; null where the board shows another plane.
   * @param {Shape} shape @param {{ part: string, panel: string }} own @param {number} row @param {number} column
   */
  function boardCell(shape, own, row, column) {
    const meant = meaning(shape, row, column);
    const other = (channel, of) => channel !== undefined && channel !== of;
    if (other(meant.out, shown.out) || other(meant.in, shown.in)) return null;
    const at = place(own.part, meant[own.part]);
    const offset =
      { input: own.panel === "padded_input" ? 1 : 0, padded: own.panel === "grad_input" ? -1 : 0 }[
        own.part
      ] ?? 0;
    const [r, c] = at.map((index, axis) => index + offset * geometry.padding[axis][0]);
    if (
      own.panel === "grad_input" &&
      !(r >= 0 && r < geometry.input_size[0] && c >= 0 && c < geometry.input_size[1])
    )
      return null;
    return { panel: own.panel, row: r, column: c };
  }

  return { place, find, meaning, ofEntry, ofCell, entries, boardCells, boardCell };
}
