// What the tab Stack says of its geometry: each reason is one without which it would be otherwise.
import assert from "node:assert/strict";
import test from "node:test";

import { layersOf } from "../../convviz/web/numbers/layer_stack.js";
import { FIRST_STATE } from "../../convviz/web/rules/settings_link.js";
import { checkerboardWords, endWords, fieldWords } from "../../convviz/web/tabs/stack/geometry_sentences.js";

const specOf = (kernel, stride, dilation) => ({
  kernel_size: [kernel, kernel],
  stride: [stride, stride],
  dilation: [dilation, dilation],
});

test("a checkerboard and holes have the reason that a count at other numbers confirms", () => {
  const cases = [
    // kernel, stride, dilation; of a checkerboard; of the holes between what two layers read
    [3, 2, 1, "the kernel, 3, is no multiple of the stride, 2. Some", ""],
    [
      4,
      2,
      2,
      "stride 2 and dilation 2 share the factor 2:",
      "10 of these 19 rows and columns, because the di",
    ],
    [3, 2, 2, "no multiple of the stride, 2. A multiple", "7 of these 13 rows and columns, because the di"],
    [1, 2, 2, "the kernel, 1, is no multiple of the stride, 2. A multiple alone would not", ""],
    [5, 1, 3, "because the stride is 1.", "9 of these 25 rows and columns, because the dilation is 3"],
    [2, 3, 1, "the kernel, 2, is no multiple", "4 of these 5 rows and columns, because the stride is 3"],
    [2, 4, 2, "A multiple alone", "4 of these 11 rows and columns, because the stride is 4 and the dil"],
  ];
  for (const [kernel, stride, dilation, board, holes] of cases) {
    const spec = specOf(kernel, stride, dilation);
    const about = `kernel ${kernel}, stride ${stride}, dilation ${dilation}`;
    const [, ...told] = fieldWords(spec, 2);
    assert.ok(checkerboardWords(spec)[0].includes(board), `${about}: ${checkerboardWords(spec)}`);
    assert.ok(told.join().includes(holes) && told.length === Number(Boolean(holes)), `${about}: ${told}`);
  }
});

test("one output at kernel 5 and dilation 3 reads 5 of the 13 rows and columns that it spans", () => {
  const [field, holes] = fieldWords(specOf(5, 1, 3), 1);
  assert.match(field, /sees an area of 13 \u00d7 13 pixels, border included/);
  assert.match(holes, /^It reads only 5 of these 13 rows and columns, because the dilation is 3:/);
});

test("there is no other layer because a dilated kernel is too wide, or too little is left to copy", () => {
  const wide = { ...FIRST_STATE.spec, ...specOf(5, 1, 3), input_size: [20, 20] };
  const kernel = /layer 2: the kernel spans 13 \u00d7 13 and .* border included: 8 \u00d7 8\.$/;
  assert.match(endWords(layersOf(wide, 4)), kernel);
  const [padding, padding_mode] = [
    [
      [2, 2],
      [2, 2],
    ],
    "reflect",
  ];
  const copied = { ...FIRST_STATE.spec, ...specOf(2, 4, 1), padding, padding_mode };
  const copies = /layer 2: a border of 2 by reflect .* layer 1 leaves, 2 \u00d7 2\.$/;
  assert.match(endWords(layersOf(copied, 4)), copies);
});
