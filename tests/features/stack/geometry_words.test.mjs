// What the tab Stack says of its geometry: each reason is one without which it would be otherwise.
import assert from "node:assert/strict";
import test from "node:test";

import { layersOf } from "../../../convviz/features/stack/layer_stack.js";
import { FIRST_STATE } from "../../../convviz/web/rules/settings_link.js";
import {
  checkerboardWords,
  endWords,
  fieldWords,
  waysWords,
} from "../../../convviz/features/stack/geometry_words.js";
import { drawer, randomState } from "../../js/conv_by_definition.mjs";

// More states, others, and how many were false: CONVVIZ_STATES=20000 CONVVIZ_SEED=2 CONVVIZ_TALLY=1.
const STATES = Number(process.env.CONVVIZ_STATES ?? 800);
const SEED = Number(process.env.CONVVIZ_SEED ?? 1);

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
  const copies = /layer 2: a border of 2 by reflect needs more rows to copy than layer 1 leaves: 2\.$/;
  assert.match(endWords(layersOf(copied, 4)), copies);
});

/** How many lines a layer makes of some, by placing its windows; and whether its border can be copied. */
function counted({ kernel_size, stride, dilation, padding, padding_mode }, axis, size) {
  const span = dilation[axis] * (kernel_size[axis] - 1) + 1;
  const padded = padding[axis][0] + size + padding[axis][1];
  let windows = 0;
  for (let start = 0; start + span <= padded; start += stride[axis]) windows++;
  const needed = { reflect: 1, circular: 0 }[padding_mode]; // lines beyond the border's
  const copied = needed === undefined || Math.max(...padding[axis]) + needed <= size;
  return { span, padded, windows, copied };
}

/** Whether what is said of the layer that does not fit is so. */
function endIsTrue(text, spec, layers) {
  let sizes = spec.input_size;
  for (let layer = 0; layer < layers; layer++)
    sizes = sizes.map((size, axis) => counted(spec, axis, size).windows);
  const next = sizes.map((size, axis) => counted(spec, axis, size));
  const border = text.match(
    /border of (\d+) by (\w+) needs more (rows|columns) to copy than layer (\d+) leaves: (\d+)\./,
  );
  if (border) {
    const [, padding, mode, lines, last, left] = border;
    const axis = ["rows", "columns"].indexOf(lines);
    const said = [Number(padding), mode, Number(last), Number(left)];
    const is = [Math.max(...spec.padding[axis]), spec.padding_mode, layers, sizes[axis]];
    return !next[axis].copied && String(said) === String(is);
  }
  const kernel = text.match(
    /spans (\d+) × (\d+) and .* layer (\d+) leaves, border included: (\d+) × (\d+)\./,
  );
  const is = [next[0].span, next[1].span, layers, next[0].padded, next[1].padded];
  return (
    Boolean(kernel) && String(kernel.slice(1)) === String(is) && next.some(({ windows }) => windows === 0)
  );
}

test("why there is no other layer is true of one axis, with uneven paddings, too", () => {
  const draw = drawer(SEED);
  const [met, wrong] = [
    { border: 0, kernel: 0 },
    { border: 0, kernel: 0 },
  ];
  for (let state = 0; state < STATES; ) {
    const { spec } = randomState(draw);
    const layers = layersOf(spec, 4);
    if (layers.length === 4) continue;
    state++;
    const text = endWords(layers);
    const kind = text.includes("border of") ? "border" : "kernel";
    const right = endIsTrue(text, spec, layers.length);
    met[kind]++;
    wrong[kind] += Number(!right);
    if (!process.env.CONVVIZ_TALLY) assert.ok(right, `${JSON.stringify(spec)}: ${text}`);
  }
  if (process.env.CONVVIZ_TALLY) console.log("said", met, "false", wrong);
  assert.ok(met.border > 20 && met.kernel > 20, JSON.stringify(met));
});

test("of a gradient the number furthest from 0 is named, with its sign, and no smaller one is called the largest", () => {
  const shape = [1, 1, 2, 2];
  const told = (...values) => waysWords({ shape, data: Float64Array.from(values) }, false)[0];
  for (const [values, words] of [
    [
      [3, -18, 7, 0],
      "no pixel’s is further from 0 than that of input[0, 1], −18; the numbers of all pixels add up to −8.",
    ],
    [
      [3, 0, 18, -18],
      "no pixel’s is further from 0 than that of input[1, 0], 18; the numbers of all pixels add up to 3.",
    ],
    [
      [0, 0, 0, 0],
      "no pixel’s is further from 0 than that of input[0, 0], 0; the numbers of all pixels add up to 0.",
    ],
  ])
    assert.equal(told(...values), `**Gradient**: ${words}`);
});
