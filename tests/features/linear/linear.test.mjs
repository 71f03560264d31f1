// The tab Linear: what is typed in it, and what it sets on the board.
import assert from "node:assert/strict";
import test from "node:test";

import { onBoard, withTyped } from "../../../convviz/features/linear/tab.js";
import { BASE_STATE } from "../../../convviz/web/rules/settings_link.js";

test("a typed number takes the place of the one before it in its cell", () => {
  const cell = { tensor: "weight", row: 1, column: 0 };
  const one = withTyped([], cell, 2);
  const two = withTyped(one, { ...cell, column: 1 }, 5);
  assert.deepEqual(withTyped(two, cell, -1), [
    ["weight", 1, 1, 5],
    ["weight", 1, 0, -1],
  ]);
});

test("the board gets the weight as a kernel of one cell, whatever geometry was there", () => {
  const spec = {
    ...BASE_STATE.spec,
    in_channels: 4,
    out_channels: 4,
    groups: 2,
    dilation: [2, 1],
    padding_mode: "reflect",
    batch: 2,
  };
  const made = onBoard(
    { ...BASE_STATE, spec, transposed: true },
    {
      weight: [
        [1, 2, 3],
        [4, 5, 6],
      ],
      bias: [7, 8],
    },
  );
  assert.deepEqual(made, {
    spec: {
      ...spec,
      in_channels: 3,
      out_channels: 2,
      groups: 1,
      kernel_size: [1, 1],
      stride: [1, 1],
      padding: [
        [0, 0],
        [0, 0],
      ],
      dilation: [1, 1],
    },
    transposed: false,
    weight: { kind: "values", values: [1, 2, 3, 4, 5, 6], shape: [2, 3, 1, 1] },
    bias: { kind: "values", values: [7, 8], shape: [2] },
  });
});
