// How large cells and digits are: every digit stays where there is the room, and the tracks of bands never ask for more.
import assert from "node:assert/strict";
import test from "node:test";

import {
  SMALLEST,
  digitSize,
  leastCell,
  widthOf,
  zeroSize,
} from "../../convviz/web/board/grid/digit_size.js";
import {
  GAP,
  LADDER,
  fitCells,
  leastLine,
  linesOf,
  tracksFor,
} from "../../convviz/web/board/layout/screen_layout.js";

const MINUS = "\u2212";
/** A panel of so many cells, whose widest number is this. */
const term = (rows, columns, number, least = 60) => ({
  rows,
  columns,
  least,
  before: 28,
  around: 22,
  unbroken: 0,
  breaks: 0,
  digits: leastCell(widthOf(number)),
});

test("a number is as wide as its letters, and the least cell has room for it", () => {
  for (const number of ["0", "16", "143", `${MINUS}140`, "0.25", "1.4e5"]) {
    const cell = leastCell(widthOf(number));
    assert.ok(Math.abs(digitSize(widthOf(number), cell) - SMALLEST) < 0.6, number);
    assert.equal(digitSize(widthOf(number), { ...cell, width: cell.width - 2 }), 0, `${number}, too narrow`);
    assert.equal(digitSize(widthOf(number), { ...cell, height: cell.height - 1 }), 0, `${number}, too low`);
    for (const width of LADDER) {
      const size = digitSize(widthOf(number), { width, height: width });
      assert.ok(size * widthOf(number) <= width, `${number} leaves a cell of ${width}`);
    }
  }
  assert.ok(widthOf(`${MINUS}140`) > widthOf("140"));
  assert.ok(widthOf("0.25") < widthOf("0025"));
});

test("a zero is smaller than the other numbers, where it can be read so", () => {
  for (let size = 7; size <= 40; size++) {
    assert.ok(zeroSize(size) >= Math.min(size, SMALLEST), `${size}: too small to read`);
    assert.ok(zeroSize(size, true) >= Math.min(size, 24), `${size}: the last row`);
    assert.ok(size < 1.2 * SMALLEST ? zeroSize(size) <= size : zeroSize(size) < 0.85 * size, `${size}`);
  }
});

test("a band that begins with the 1 that is dragged shows it largest, where nothing else gets smaller", () => {
  for (let kernel = 1; kernel <= 5; kernel++)
    for (let size = kernel; size <= 8; size++)
      for (const [width, height] of [
        [1310, 270],
        [900, 200],
        [340, 160],
      ]) {
        const about = `kernel ${kernel}, size ${size}, ${width} x ${height}`;
        const out = size - kernel + 1;
        const others = [
          term(kernel, kernel, "9"),
          term(size, size, "9"),
          term(size + kernel, size + kernel, "1"),
        ];
        const plain = fitCells([term(out, out, "1"), ...others], { width, height }, false);
        const terms = [{ ...term(out, out, "1"), dragged: true }, ...others];
        const [first, ...rest] = fitCells(terms, { width, height }, false);
        assert.deepEqual(rest, plain.slice(1), about);
        assert.ok(first.height >= plain[0].height && first.height <= 1.6 * plain[0].height, about);
        const wide = terms.map(
          (each, at) => each.before + Math.max([first, ...rest][at].width * each.columns, each.least),
        );
        const all = wide.reduce((sum, each) => sum + each, GAP * (terms.length - 1));
        assert.ok(all <= Math.max(width, 0) || first.height === plain[0].height, `${about}: it fits`);
        if (kernel === 3 && size === 5 && width === 1310)
          assert.ok(first.height >= 1.4 * plain[0].height, about);
      }
});

test("every digit stays where the room allows, in each geometry", () => {
  for (let kernel = 1; kernel <= 5; kernel++)
    for (let size = kernel; size <= 8; size++)
      for (let padding = 0; padding <= 2; padding++)
        for (const number of ["9", "143", `${MINUS}140`]) {
          const padded = size + 2 * padding;
          const out = padded - kernel + 1;
          const terms = [
            term(padded, padded, "4"),
            term(kernel, kernel, `${MINUS}9`),
            term(out, out, number),
            term(out, out, "1"),
          ];
          const room = { width: leastLine(terms), height: 22 + padded * leastCell(0).height };
          const about = `kernel ${kernel}, size ${size}, padding ${padding}, ${number}`;
          const cells = fitCells(terms, room, false);
          cells.forEach((cell, index) => {
            const { digits, columns, rows } = terms[index];
            assert.ok(cell.width >= digits.width && cell.height >= digits.height, about);
            assert.ok(rows * cell.height + 22 <= room.height, about);
            assert.ok(columns * cell.width <= room.width, about);
          });
          const wider = fitCells(terms, { width: room.width * 2, height: room.height * 2 }, false);
          assert.ok(wider[0].height >= cells[0].height, `${about}: more room, larger cells`);
          const without = fitCells(terms, { ...room, height: room.height - padded }, false);
          assert.ok(without[0].height < leastCell(0).height, `${about}: no room, no digit`);
        }
});

/** The largest side of cells with which terms fit into a room, tried one by one. */
function largestSide(terms, { width, height }, wraps) {
  const fits = LADDER.filter((side) => {
    const cells = terms.map(({ digits }) => ({ width: Math.max(side, digits.width), height: side }));
    const lines = linesOf(terms, cells, wraps ? width : Infinity);
    const all = lines.reduce((sum, line) => sum + line.height + GAP, -GAP);
    return all <= height && lines.every((line) => line.width <= width);
  });
  return fits.at(-1) ?? 0;
}

test("no larger side of the ladder would fit", () => {
  const rooms = [
    { width: 1310, height: 270.4 },
    { width: 900, height: 600 },
    { width: 340, height: 420 },
    { width: 220.5, height: 700 },
  ];
  let tried = 0;
  for (let kernel = 1; kernel <= 5; kernel++)
    for (let size = kernel; size <= 18; size += 3) {
      const terms = [
        term(size, size, "4"),
        term(kernel, kernel, "9", 90),
        term(size - kernel + 1, size, "1"),
      ];
      for (const room of rooms) {
        for (const wraps of [false, true]) {
          const most = largestSide(terms, room, wraps);
          if (most < leastCell(0).height) continue; // not all numbers have room
          tried += 1;
          const about = `kernel ${kernel}, size ${size}, ${room.width} x ${room.height}, wraps: ${wraps}`;
          assert.equal(fitCells(terms, room, wraps)[0].height, most, about);
        }
      }
    }
  assert.ok(tried > 100, `${tried} of 240`);
});

test("a line of terms has its gaps, signs and names", () => {
  assert.equal(
    leastLine([term(3, 3, "1", 90), term(5, 5, "1", 10)]),
    28 + 90 + GAP + 28 + 5 * leastCell(0).height,
  );
});

test("tracks have what their numbers need, the favoured one first, and never more than there is", () => {
  const tracks = [
    { least: 200, share: 0.76 },
    { least: 300, share: 1 },
  ];
  assert.deepEqual(tracksFor(tracks, -1, 10, 890), [380, 500], "by shares");
  assert.deepEqual(tracksFor(tracks, -1, 10, 521), [211, 300], "no share is below a need");
  assert.deepEqual(tracksFor(tracks, 1, 10, 450), [140, 300]);
  assert.deepEqual(tracksFor(tracks, 1, 10, 250), [0, 250]);
  assert.deepEqual(tracksFor(tracks, -1, 10, 260), [100, 150]);
  assert.deepEqual(tracksFor([{ least: 0, share: 1 }], -1, 10, 260), [260]);
  const third = { least: 0, share: 1 };
  assert.deepEqual(tracksFor([third, third, third], -1, 0, 100), [33, 34, 33], "whole pixels, all of them");
  const firm = [
    { ...tracks[0], bare: 50 },
    { ...tracks[1], bare: 100 },
  ];
  assert.deepEqual(tracksFor(firm, -1, 10, 520), [210, 300]);
  assert.deepEqual(
    tracksFor(firm, -1, 10, 160),
    [50, 100],
    "what it has in colours alone, before the numbers",
  );
  assert.deepEqual(tracksFor(firm, -1, 10, 85), [25, 50], "and never more than there is");
});

test("a name that its cells leave in one line asks for the height of one line", () => {
  const square = { ...term(12, 12, "4"), around: 38, unbroken: 90, breaks: 16 };
  const needed = 12 * leastCell(widthOf("4")).height + 22;
  assert.deepEqual(fitCells([square], { width: 400, height: needed }, false), [{ width: 12, height: 12 }]);
  const [bare] = fitCells([{ ...square, unbroken: 145 }], { width: 400, height: needed }, false);
  assert.ok(bare.height < 12, "the same height with a name of two lines");
});
