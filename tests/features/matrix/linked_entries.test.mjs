// Entries of the matrices and cells of the board, linked as the taps of the definition say.
import assert from "node:assert/strict";
import test from "node:test";

import { MatrixLinks } from "../../../convviz/features/matrix/linked_entries.js";
import { geometryOf } from "../../../convviz/web/rules/conv_geometry.js";
import { drawer, randomState, truthOf } from "../../js/conv_by_definition.mjs";

const each = ([rows, columns]) =>
  Array.from({ length: rows * columns }, (_, at) => [Math.floor(at / columns), at % columns]);
const flat = (place, [, width]) => place && place[0] * width + place[1];
const flats = (found, size) => found.map(({ row, column }) => row * size[1] + column).sort((a, b) => a - b);

/** Where the taps of each two channels stand: in entries of matrices, and in cells of the shown planes. */
function standingOf({ spec, taps, padded, windows, ins, outs }, start) {
  const [count, kernel] = [windows[0] * windows[1], spec.kernel_size[0] * spec.kernel_size[1]];
  const size = spec.input_size[0] * spec.input_size[1];
  return taps.flatMap((tap) => {
    const [window, at, k] = [flat(tap.o, windows), flat(tap.at, padded), flat(tap.k, spec.kernel_size)];
    const input = flat(tap.i, spec.input_size);
    return each([outs, ins]).map(([out, channel]) => {
      const column = (row) => (window < start ? null : row * (count - start) + window - start);
      const [given, mine] = [out === outs - 1, channel === ins - 1];
      const [seen, back] = mine ? [at, input] : [null, null];
      return {
        entries: {
          columns: column(channel * kernel + k),
          weight: (out * ins + channel) * kernel + k,
          output: column(out),
          overlap: seen,
          grad_input: back,
          T: given && back !== null ? window * size + back : null,
        },
        cells: {
          output: given ? window : null,
          weight: given && mine ? k : null,
          padded_input: seen,
          grad_input: back,
        },
      };
    });
  });
}

/** The matrices' links of a state, the shapes of what they link, and where its taps stand. */
function matricesOf(truth) {
  const { spec, padded, windows, ins, outs } = truth;
  const plane = { sample: 0, out_channel: spec.out_channels - 1, in_channel: spec.in_channels - 1 };
  const [count, kernel] = [windows[0] * windows[1], spec.kernel_size[0] * spec.kernel_size[1]];
  const start = Math.floor(count / 3); // as if only the later windows were shown
  const channels = (per) => Array.from({ length: per }, (_, index) => (spec.groups - 1) * per + index);
  const links = new MatrixLinks({
    geometry: geometryOf(spec, plane, false),
    in_channels: channels(ins),
    out_channels: channels(outs),
    windows: { start, end: count, step: count - start, of: count },
  });
  const whole = [count, spec.input_size[0] * spec.input_size[1]];
  const shapes = {
    columns: { rows: "kernel", columns: "window", size: [ins * kernel, count - start] },
    weight: { rows: "out", columns: "kernel", size: [outs, ins * kernel] },
    output: { rows: "out", columns: "window", size: [outs, count - start] },
    overlap: { image: "padded", size: padded },
    grad_input: { image: "input", size: spec.input_size },
    // One matrix is never shown in parts.
    ...(!start && { T: { rows: "window", columns: "input", pair: true, size: whole } }),
  };
  const panels = {
    output: windows,
    weight: spec.kernel_size,
    padded_input: padded,
    grad_input: spec.input_size,
  };
  return { links, shapes, panels, standing: standingOf(truth, start) };
}

test("an entry of a matrix and the cells of the board light each other up by the taps behind them", () => {
  const draw = drawer(22);
  const names = { window: "output", kernel: "weight", padded: "padded_input", input: "grad_input" };
  for (let round = 0; round < 40; round++) {
    const truth = truthOf({ ...randomState(draw), transposed: false }, {});
    const { links, shapes, panels, standing } = matricesOf(truth);
    /** Look at everything that a selection lights up. */
    function holds(selection, from, one, at, board) {
      const about = `${JSON.stringify(truth.spec)} ${from} ${one} ${at}`;
      const taps = standing.filter((tap) => tap[from][one] === at);
      const expected = (to, other) =>
        [...new Set(taps.map((tap) => tap[to][other]))]
          .filter((found) => found !== null)
          .sort((a, b) => a - b);
      for (const [other, shape] of Object.entries(shapes))
        assert.deepEqual(
          flats(links.entries(shape, selection), shape.size),
          expected("entries", other),
          about,
        );
      const found = board ? links.boardCells(selection, names) : [];
      for (const [panel, size] of board ? Object.entries(panels) : []) {
        const here = found.filter((cell) => cell.panel === panel);
        assert.deepEqual(flats(here, size), expected("cells", panel), about);
      }
    }
    for (const [panel, size] of Object.entries(panels))
      for (const [at, [row, column]] of each(size).entries())
        holds(links.ofCell({ panel, row, column }), "cells", panel, at, false);
    for (const [one, shape] of Object.entries(shapes))
      for (const [at, place] of each(shape.size).entries())
        holds(links.ofEntry(shape, ...place), "entries", one, at, true);
  }
});
