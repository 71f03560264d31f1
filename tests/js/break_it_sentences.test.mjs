// "Break it": every sentence is tried against counter-examples, with predicates and sums of the test's own.
import assert from "node:assert/strict";
import test from "node:test";
import { readFileSync } from "node:fs";

import { computeStages } from "../../convviz/web/numbers/compute.js";
import { TOGGLES, brokenOutcome, brokenResult } from "../../convviz/web/numbers/broken_step.js";
import { brokenOf } from "../../convviz/web/numbers/broken_step_view_model.js";
import { fromPage } from "../../convviz/web/numbers/compute_in_page.js";
import { createPageModel } from "../../convviz/web/numbers/page_model.js";
import { equationsOf } from "../../convviz/web/picture/panels.js";
import { setTransposed } from "../../convviz/web/rules/change_settings.js";
import { FIRST_STATE, fromLink, toLink } from "../../convviz/web/rules/settings_link.js";
import { replaced, tensorsOf } from "../../convviz/web/rules/settings_and_tensors.js";
import { isPossible } from "../../convviz/web/rules/conv_geometry.js";
import { splitCells } from "../../convviz/web/board/grid/right_and_wrong_cells.js";
import { dataOf } from "./page_model_fixtures.mjs";

const WORDS = JSON.parse(
  readFileSync(new URL("../../convviz/facts/data/words/break_it.json", import.meta.url)),
);
const IDS = TOGGLES.map(({ id }) => id);

function shown(settings) {
  const stages = computeStages(settings.spec, settings.loss, tensorsOf(settings), settings.transposed);
  return { stages, broken: brokenOf(settings, stages, equationsOf(settings, stages)) };
}
const at = (link) => {
  const { state, notices } = fromLink(link);
  assert.deepEqual(notices, [], link);
  return shown(state).broken;
};

// Of each sentence a pattern of its words, with anything in place of their arguments; the longest come first.
const PATTERNS = Object.entries(WORDS)
  .sort(([, one], [, two]) => JSON.stringify(two).length - JSON.stringify(one).length)
  .map(([id, words]) => {
    const forms = typeof words === "string" ? [words] : Object.values(words);
    const patterns = forms.map((form) =>
      form.replace(/[.*+?^$()|[\]\\]/g, "\\$&").replace(/\{\w+\}/g, ".+?"),
    );
    return { id, pattern: new RegExp(`^(?:${patterns.join("|")})$`) };
  });

function idOf(text) {
  const found = PATTERNS.find(({ pattern }) => pattern.test(text));
  assert.ok(found, `no sentence: ${text}`);
  return found.id;
}

/** Geometries whose every axis is odd in its own way. */
function* geometries() {
  const axes = product([3, 4, 5, 6, 8], [1, 2, 3, 4, 5], [1, 2, 3], [0, 1, 2], [1, 2]);
  for (let index = 0; index < axes.length; index++)
    for (const other of index % 3 ? [index] : [index, (index * 7 + 13) % axes.length]) {
      const spec = geometryOf(axes[index], axes[other], index);
      if (isPossible(spec)) yield spec;
    }
}
function geometryOf(rows, columns, index) {
  const [input_size, kernel_size, stride, padding, dilation] = rows.map((value, at) => [value, columns[at]]);
  return {
    ...FIRST_STATE.spec,
    ...(index % 11 ? {} : { in_channels: 4, out_channels: 2, groups: 2, batch: 2 }),
    input_size,
    kernel_size,
    stride,
    dilation,
    padding: padding.map((cells) => [cells, index % 5 ? cells : 1]),
    padding_mode: index % 4 ? "zeros" : ["reflect", "replicate", "circular"][index % 3],
  };
}
function product(...lists) {
  return lists.reduce((found, list) => found.flatMap((each) => list.map((one) => [...each, one])), [[]]);
}

/** Settings of every kind, seen as a window, or one in so many of them: what is said takes a search where nothing shows. */
function* states(every = 1) {
  const numbers = [
    { weight: { kind: "counting" }, grad: { kind: "one_hot", values: [0, 0, 0, 0] } },
    { weight: { kind: "box" }, grad: { kind: "ones" } },
    { weight: { kind: "random" }, grad: { kind: "random" } },
    {
      weight: { kind: "sobel_x" },
      input: { kind: "delta" },
      grad: { kind: "one_hot", values: [9, 9, 9, 9] },
    },
    { weight: { kind: "counting" }, grad: { kind: "values", values: [0], shape: [1, 1, 1, 1] } },
  ];
  let count = 0;
  for (const spec of geometries()) {
    const [given, plane] = [numbers[count++ % numbers.length], { sample: count % 2, out_channel: count % 2 }];
    if (count % every) continue;
    yield replaced(FIRST_STATE, {
      spec,
      ...given,
      input_view: "window",
      plane: { ...plane, in_channel: count % 4 },
    });
  }
}

// The test's own words for a geometry.
const both = (holds) => [0, 1].every(holds);
const reach = (spec, axis) => spec.dilation[axis] * (spec.kernel_size[axis] - 1);
const slack = (spec, axis) =>
  spec.input_size[axis] + spec.padding[axis][0] + spec.padding[axis][1] - reach(spec, axis) - 1;
const left = (spec, axis) => slack(spec, axis) % spec.stride[axis];
const cellsOut = (spec, axis) => Math.floor(slack(spec, axis) / spec.stride[axis]) + 1;
const border = (spec) =>
  [0, 1].flatMap((axis) =>
    spec.padding[axis].map((p) => reach(spec, axis) - (spec.padding_mode === "zeros" ? p : 0)),
  );
const rotated = ({ shape, data }) => {
  const cells = shape[2] * shape[3];
  return data.map((_, index) => data[Math.floor(index / cells) * cells + cells - 1 - (index % cells)]);
};

/** What each sentence claims. */
const CLAIMS = {
  "same.one_weight": ({ spec }) => both((axis) => spec.kernel_size[axis] === 1),
  "same.symmetric": (_, { weight }) => String(rotated(weight)) === String(weight.data),
  "same.zero": (_, { grad_output }) => grad_output.data.every((value) => value === 0),
  "same.sums": (settings, stages) =>
    !Object.keys(CLAIMS).some(
      (id) =>
        ["same.one_weight", "same.symmetric", "same.zero"].includes(id) &&
        settings.broken === "I01" &&
        CLAIMS[id](settings, stages),
    ),
  "same.no_zeros": ({ spec }) => both((axis) => spec.stride[axis] === 1),
  "same.undilated": ({ spec }) => both((axis) => spec.stride[axis] === 1),
  "same.one_cell": ({ spec }) => both((axis) => cellsOut(spec, axis) === 1),
  "same.one_line": ({ spec }) =>
    both((axis) => spec.stride[axis] === 1 || cellsOut(spec, axis) === 1) &&
    !both((axis) => spec.stride[axis] === 1) &&
    !both((axis) => cellsOut(spec, axis) === 1),
  "same.border": ({ spec }) => spec.padding_mode === "zeros" && border(spec).every((side) => side === 0),
  "same.one_tap": ({ spec }) => spec.padding_mode !== "zeros" && both((axis) => reach(spec, axis) === 0),
  "same.no_remainder": ({ spec }) => both((axis) => left(spec, axis) === 0),
  "same.no_window": ({ spec }) => both((axis) => left(spec, axis) === 0),
  "same.dilation": ({ spec }) =>
    both((axis) => left(spec, axis) < spec.dilation[axis]) && !both((axis) => left(spec, axis) === 0),
  "same.unpadded": ({ spec }) => spec.padding.flat().every((cells) => cells === 0),
  "because.I01": ({ spec }) => !both((axis) => spec.kernel_size[axis] === 1),
  "because.I07": ({ spec }) => !both((axis) => spec.stride[axis] === 1 || cellsOut(spec, axis) === 1),
  "because.I10": ({ spec }) => !both((axis) => left(spec, axis) === 0),
  "because.border": ({ spec }) =>
    spec.padding_mode === "zeros" && Math.min(...border(spec)) >= 0 && Math.max(...border(spec)) > 0,
  "because.border_of_copies": ({ spec }) =>
    spec.padding_mode !== "zeros" && !both((axis) => reach(spec, axis) === 0),
  "because.crop": ({ spec }) => Math.max(...border(spec)) <= 0 && Math.min(...border(spec)) < 0,
  "because.around": ({ spec }) => Math.min(...border(spec)) < 0 && Math.max(...border(spec)) > 0,
  "because.W02": ({ spec }) => !both((axis) => spec.stride[axis] === 1 || cellsOut(spec, axis) === 1),
  "because.W06": ({ spec }) => spec.padding.flat().some((cells) => cells > 0),
  "because.W07": ({ spec }) => !both((axis) => left(spec, axis) < spec.dilation[axis]),
};

test("each sentence is true of the setting that it is said of, over all states", () => {
  const met = new Map();
  for (const settings of states(4))
    for (const broken of IDS) {
      const made = replaced(settings, { broken });
      const { stages, broken: brokenStep } = shown(made);
      const about = `${toLink(made)}: ${brokenStep.sentence}`;
      const id = idOf(brokenStep.sentence);
      const reason = id.startsWith("same.")
        ? id
        : idOf(brokenStep.sentence.replace(/^.*?, because (.*)\.$/, "$1"));
      assert.ok(CLAIMS[reason](made, stages), about);
      met.set(reason, (met.get(reason) ?? 0) + 1);
      assert.equal(brokenStep.differs, !["same", "elsewhere"].includes(id.split(".")[0]), about);
      assert.equal(brokenStep.alike, /^same\.(?!view|large)/.test(id), about);
      if (id === "elsewhere") assert.ok(made.spec.batch > 1 || made.spec.in_channels > 1, about);
    }
  assert.deepEqual(
    Object.keys(CLAIMS).filter((id) => !met.has(id)),
    [],
    "a sentence that no state was found for",
  );
});

test("a mistake that shows nowhere offers a setting at which it shows, and nothing else is asked for", () => {
  for (const settings of states(17))
    for (const broken of IDS) {
      const made = replaced(settings, { broken });
      const { broken: brokenStep } = shown(made);
      if (brokenStep.differs) {
        assert.deepEqual(brokenStep.offers, []);
        continue;
      }
      assert.equal(brokenStep.offers.length, 1, `${toLink(made)}: ${brokenStep.sentence}`);
      for (const { changes, words } of brokenStep.offers) {
        const after = shown(replaced(made, changes)).broken;
        assert.ok(after.differs, `${toLink(made)}: ${brokenStep.sentence} [${words}] → ${after.sentence}`);
      }
    }
});

test("a result of another shape is said with both, and what is offered with what it sets", () => {
  assert.match(at("v=2&view=window&broken=I16").sentence, /^The result is 1×1, not 5×5, because/);
  const cropped = at("v=2&kernel=2&padding=1,2&size=5&view=window&broken=I16").sentence; // before the input they are equal
  assert.match(cropped, /because grad_output is not cropped where the padding is larger than d\(K − 1\)\.$/);
  for (const [link, words] of [
    ["v=2&view=window&weight=box&broken=I01", "weights 1, 2, 3 …"],
    ["v=2&view=window&broken=I07", "stride 2"],
    ["v=2&broken=W06", "padding 1"],
  ])
    assert.equal(at(link).offers[0].words, words, link);
});

test("with several planes the count is that of all, and of the one that is shown", () => {
  const brokenStep = at("v=2&in_channels=2&out_channels=2&view=window&broken=I01");
  assert.equal(
    brokenStep.sentence,
    "16 of all 50 numbers of grad_input are wrong (8 in this plane), because the kernel slides as it is, not rotated by 180°.",
  );
  assert.equal(brokenStep.hidden, "8 of 25 numbers are wrong.");
  const other = at("v=2&batch=2&view=window&broken=I01&plane=1,0,0"); // the single 1 is in the first sample
  assert.match(other.sentence, /^This plane is right. In others, 8 numbers of grad_input are wrong, because/);
  assert.deepEqual([other.differs, other.alike, other.offers[0].changes.plane.sample], [false, false, 0]);
  assert.equal(other.hidden, "This plane is right. In another, numbers are wrong.");
});

test("the stamps know no such step, and offer the window", () => {
  const brokenStep = at("v=2&view=stamps&broken=I07&stride=2&size=7");
  assert.deepEqual(
    [brokenStep.differs, brokenStep.alike, Object.keys(brokenStep.planes), brokenStep.offers[0].words],
    [false, false, [], "show the window"],
  );
  const next = replaced(
    fromLink("v=2&view=stamps&broken=I07&stride=2&size=7").state,
    brokenStep.offers[0].changes,
  );
  assert.equal(shown(next).broken.differs, true);
});

test("the sign that does not hold stands before the result, or between it and the window", () => {
  const { state } = fromLink("v=2&view=window&broken=I01");
  const stages = computeStages(state.spec, state.loss, tensorsOf(state));
  const equations = equationsOf(state, stages);
  assert.equal(brokenOf(state, stages, equations).before, "grad_input");
  const row = equations.find(({ name }) => name === "input");
  const stamps = equationsOf({ ...state, input_view: "stamps" }, stages).find(({ name }) => name === "input");
  const window = row.items.slice(
    0,
    row.items.findIndex((item) => item.symbol === "="),
  );
  const one = { ...row, items: [...stamps.items, { symbol: "=", note: "" }, ...window] };
  const brokenStep = brokenOf(
    state,
    stages,
    equations.map((each) => (each === row ? one : each)),
  );
  assert.equal(brokenStep.before, "padded_grad_output");
  assert.equal(at("v=2&padding=1&broken=W06").before, "grad_weight");
  assert.equal(at("v=2&padding=1&mode=reflect&view=window&broken=I01").before, "grad_padded_input");
});

test("of a border of copies both gradients are split, and a shape that cannot be folded leaves nothing", () => {
  const { planes } = at("v=2&padding=1&mode=reflect&view=window&broken=I01");
  assert.deepEqual(Object.keys(planes).sort(), ["grad_input", "grad_padded_input", "rotated_weight"]);
  assert.deepEqual([planes.grad_padded_input.rows, planes.grad_input.rows], [7, 5]);
  const cut = at("v=2&padding=1&mode=reflect&view=window&broken=I16");
  assert.deepEqual([cut.planes.grad_padded_input.rows, cut.planes.grad_input.rows], [3, 0]);
});

test("the wrong numbers are the count that is said, and the cells that are split", () => {
  for (const settings of states()) {
    if (settings.spec.input_size[0] !== 6) continue;
    for (const toggle of TOGGLES) {
      const made = replaced(settings, { broken: toggle.id });
      const stages = computeStages(made.spec, made.loss, tensorsOf(made));
      const { kind, here, plane, right } = brokenOutcome(made, stages, toggle);
      if (kind !== "wrong") continue;
      const values = Array(right[0] * right[1]).fill(0);
      const split = splitCells({ values, rows: right[0], columns: right[1], limit: 1, scale: [] }, plane);
      assert.equal(split.length, here, `${toLink(made)} ${brokenResult(made, toggle)}`);
    }
  }
});

test("what is drawn as made with the mistake gives the wrong numbers beside it", () => {
  const tried = new Set();
  for (const settings of states(3)) {
    const { spec } = settings;
    if (spec.in_channels > 1 || spec.padding_mode !== "zeros" || spec.input_size[0] > 5) continue;
    for (const { id, of, guilty } of TOGGLES) {
      const made = replaced(settings, { broken: id });
      const { stages, broken } = shown(made);
      const [wrong, result] = [broken.planes[guilty], broken.planes[of]];
      if (!wrong?.from || !result?.rows) continue;
      const used = (name) =>
        name === guilty ? wrong : { values: stages[name].data, columns: stages[name].shape.at(-1) };
      const [left, right, apart, step] =
        of === "grad_input"
          ? [wrong, used("rotated_weight"), spec.dilation, [1, 1]]
          : [used("padded_input"), used("dilated_grad_output"), [1, 1], spec.dilation];
      const rows = right.values.length / right.columns;
      const values = result.values.map((_, index) => {
        const [top, start] = [Math.floor(index / result.columns), index % result.columns];
        let sum = 0;
        for (let row = 0; row < rows; row++)
          for (let column = 0; column < right.columns; column++) {
            const y = top * step[0] + row * apart[0];
            const x = start * step[1] + column * apart[1];
            sum += left.values[y * left.columns + x] * right.values[row * right.columns + column];
          }
        return sum;
      });
      values.forEach((value, index) =>
        assert.ok(Math.abs(value - result.values[index]) < 1e-9, `${toLink(made)} ${index}`),
      );
      tried.add(id);
    }
  }
  assert.deepEqual([...tried].sort(), ["I07", "I10", "I16", "W02", "W06"]);
});

test("a result of another shape is drawn in it: what is missing, and what is too much", () => {
  const right = { values: [1, 2, 3, 4], rows: 2, columns: 2, limit: 4, scale: [] };
  const smaller = splitCells(right, { rows: 1, columns: 1, values: [1], wrong: [false] });
  assert.deepEqual(smaller, [
    { row: 0, column: 1, right: 2, wrong: null },
    { row: 1, column: 0, right: 3, wrong: null },
    { row: 1, column: 1, right: 4, wrong: null },
  ]);
  const larger = splitCells(right, { rows: 3, columns: 1, values: [1, 7, 5], wrong: [false, true, true] });
  assert.deepEqual(
    larger.map(({ row, column, right: ours, wrong }) => [row, column, ours, wrong]),
    [
      [0, 0, 1, 1],
      [0, 1, 2, null],
      [1, 0, 3, 7],
      [1, 1, 4, null],
      [2, 0, null, 5],
    ],
  );
  assert.equal(splitCells(right, { rows: 0, columns: 0, values: [], wrong: [] }).length, 4);
});

test("it is part of a link; what cannot be is left out in a sentence", () => {
  const { state } = fromLink("v=2&stride=2&size=7&broken=I07");
  assert.equal(state.broken, "I07");
  assert.equal(toLink(state), "v=2&size=7&stride=2&broken=I07");
  for (const [link, brokenStep] of [
    ["v=2&broken=I02", /broken is one of I01, .*got 'I02'/],
    ["v=2&broken=<b>", /broken is one of/],
    ["v=2&broken=I01&transposed=1", /broken=I01 is left out: a transposed convolution/],
  ]) {
    const { state: made, notices } = fromLink(link);
    assert.equal(made.broken, "", link);
    assert.match(notices.join(" "), brokenStep, link);
  }
  assert.equal(setTransposed(state, true)[0].broken, "");
  assert.equal(shown(setTransposed(state, true)[0]).broken, null);
});

test("breaking is one step back, and a reset mends it", () => {
  const model = createPageModel(dataOf(FIRST_STATE), fromPage, () => 0);
  const broken = () => [model.settings().broken, model.get("values").broken.id];
  model.send({ type: "break", changes: { broken: "W02" } });
  assert.deepEqual(broken(), ["W02", "W02"]);
  model.send({ type: "break", changes: model.get("values").broken.offers[0].changes });
  assert.deepEqual([...broken(), model.settings().spec.stride], ["W02", "W02", [2, 2]]);
  assert.equal(model.get("values").broken.differs, true);
  model.send({ type: "undo" });
  model.send({ type: "undo" });
  assert.deepEqual(broken(), ["", ""]);
  model.send({ type: "redo" });
  assert.deepEqual(broken(), ["W02", "W02"]);
  model.send({ type: "reset" });
  assert.deepEqual(broken(), ["", ""]);
});
