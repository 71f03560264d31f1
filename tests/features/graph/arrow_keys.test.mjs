// The arrow keys lead from a box of the graph to the nearest layer first.
import assert from "node:assert/strict";
import test from "node:test";

import { neighbour } from "../../../convviz/features/graph/interactive_drawing.js";

test("up and down lead to the nearest layer, left and right stay in one", () => {
  const box = (id, x, y, above, below) => [id, { id, x, y, above, below }];
  const boxes = new Map([
    box("far", 0, 0, [], ["sum"]),
    box("near", 300, 200, [], ["sum"]),
    box("beside", 100, 300, [], []),
    box("sum", 0, 300, ["far", "near"], []),
  ]);
  const to = (from, key) => neighbour(boxes, boxes.get(from), key)?.id ?? null;
  const found = [
    to("sum", "ArrowUp"),
    to("near", "ArrowDown"),
    to("sum", "ArrowRight"),
    to("sum", "ArrowLeft"),
  ];
  assert.deepEqual(found, ["near", "sum", "beside", null]);
});
