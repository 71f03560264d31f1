// The width of a plane's widest number is kept for its numbers: not over another face.
import assert from "node:assert/strict";
import { test } from "node:test";
import { measureFace, widestOf, widthOf } from "../../convviz/web/board/grid/digit_size.js";

/** @param {number} width of every letter, at 100 pixels */
function setFace(width) {
  const node = { append() {}, remove() {}, setAttribute() {}, style: {} };
  const pen = { font: "", measureText: () => ({ width }) };
  const document = { createElementNS: () => node, createElement: () => ({ getContext: () => pen }) };
  const getComputedStyle = () => ({ fontWeight: 400, fontFamily: `face ${width}` });
  Object.assign(globalThis, { Node: class {}, document, getComputedStyle });
  measureFace(/** @type {any} */ (node));
}

test("the widest number is measured anew in another face", () => {
  const shorts = ["0", "12.5", "\u22123"];
  assert.equal(widestOf(shorts), widthOf("12.5"));
  for (const width of [50, 80]) {
    setFace(width);
    assert.equal(widthOf("12.5"), (4 * width) / 100);
    assert.equal(widestOf(shorts), widthOf("12.5"));
    assert.equal(widestOf(shorts), widestOf([...shorts]));
  }
  assert.equal(widestOf([]), 0);
});
