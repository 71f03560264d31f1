// The board's pure parts: the size of a cell, the role of a cell in words. Importing them must not need a page.
import assert from "node:assert/strict";
import test from "node:test";

import { Board } from "../../convviz/web/board/board.js";
import { cellSize } from "../../convviz/web/board/layout/band_list.js";
import { roleOf } from "../../convviz/web/board/grid/grid_marks.js";
import { WeightSlider } from "../../convviz/web/controls/weight_slider.js";

test("board and slider load without a page", () => {
  for (const render of [Board, WeightSlider]) assert.equal(typeof render, "function");
});

test("cells are as large as the widest row allows, within what can be read", () => {
  assert.equal(cellSize([{ cells: 10, rest: 0 }], 400), 40);
  assert.equal(cellSize([{ cells: 10, rest: 100 }], 400), 30);
  assert.equal(cellSize([{ cells: 10, rest: 0 }], 399), 39, "whole pixels");
  assert.equal(
    cellSize(
      [
        { cells: 4, rest: 0 },
        { cells: 10, rest: 0 },
      ],
      400,
    ),
    40,
    "one size for all rows",
  );
  assert.equal(cellSize([{ cells: 1, rest: 0 }], 4000), 48, "not larger");
  assert.equal(cellSize([{ cells: 10, rest: 0 }], 280), 28, "just fits");
  assert.equal(cellSize([{ cells: 10, rest: 0 }], 279), 32, "the row wraps, so its cells need not be tiny");
  assert.equal(cellSize([{ cells: 10, rest: 500 }], 360), 32, "even the rest alone is too wide");
  assert.equal(cellSize([{ cells: 0, rest: 0 }], 400), 48, "only large panels, which have their own size");
});

test("no board is wider than its page unless its rows wrap", () => {
  for (let width = 200; width < 2000; width += 7) {
    for (const cells of [1, 5, 19, 37, 60]) {
      const size = cellSize([{ cells, rest: 120 }], width);
      assert.ok(Number.isInteger(size) && size >= 28 && size <= 48);
      assert.ok(size * cells + 120 <= width || (width - 120) / cells < 28);
    }
  }
});

test("a cell's role in words, of which data has none", () => {
  const spec = { rows: "pdidpr", columns: "dip", unread_rows: [3, 5], unread_columns: [1], label: "" };
  const words = [...spec.rows].map((_, row) =>
    [...spec.columns].map((_, column) => roleOf({ ...spec, editable: false }, row, column)),
  );
  assert.deepEqual(words, [
    ["padding", "padding, never read", "padding"],
    ["", "zero inserted by the stride, never read", "padding"],
    ["zero inserted by the stride", "zero inserted by the stride, never read", "padding"],
    ["never read", "zero inserted by the stride, never read", "padding, never read"],
    ["padding", "padding, never read", "padding"],
    ["padding for the remainder, never read", "padding for the remainder, never read", "padding, never read"],
  ]);
});
