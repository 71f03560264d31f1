// What a hand does on the board: where the 1 goes, what a drag writes, and what is said of a result that a move left as it was.
// The reason is held against the definition, product by product.
import assert from "node:assert/strict";
import test from "node:test";

import { changedCells } from "../../convviz/web/board/grid/highlight_changes.js";
import { stepped } from "../../convviz/web/board/grid/drag_number.js";
import { computeStages } from "../../convviz/web/numbers/compute.js";
import { createPageModel } from "../../convviz/web/numbers/page_model.js";
import { isMove, reasonOf, unchanged } from "../../convviz/web/numbers/reason_unchanged.js";
import {
  madeOf,
  resultsOf,
  sentBack,
  unchangedWords,
} from "../../convviz/web/picture/why_result_unchanged.js";
import { oneHot, setAxis, shownOne, singleOne } from "../../convviz/web/rules/change_settings.js";
import { editCell, editedPanels, gesturesOn, givenNumber } from "../../convviz/web/rules/edit_cells.js";
import { UNDO_STROKE } from "../../convviz/web/rules/undo_rules.js";
import { fromLink } from "../../convviz/web/rules/settings_link.js";
import { replaced, tensorsOf } from "../../convviz/web/rules/settings_and_tensors.js";
import { drawer, randomState, truthOf } from "./conv_by_definition.mjs";
import { dataOf } from "./page_model_fixtures.mjs";

const STATES = Number(process.env.CONVVIZ_STATES ?? 150);
const SEED = Number(process.env.CONVVIZ_SEED ?? 1);

const seen = (settings) => ({
  settings,
  stages: computeStages(settings.spec, settings.loss, tensorsOf(settings), settings.transposed),
});
const numbers = (tensor) => tensor && JSON.stringify([tensor.shape, [...tensor.data]]);

/** What one can do in a state, as functions of the settings; what is refused is no move. */
function movesOf(settings, draw) {
  const at = () => draw([0, 1, 2, 3, 4]);
  const panels = Object.keys(editedPanels(settings));
  const edits = panels.map((panel) => [
    `a number of ${panel}`,
    () => editCell(settings, { panel, row: at(), column: at(), value: draw([-3, 0, 1, 2.5]) })[0],
  ]);
  return [
    ...edits,
    ["the 1", () => oneHot(settings, at(), at())[0]],
    ["a single 1", () => singleOne(settings)[0]],
    ["the same input", () => replaced(settings, { input: { kind: "whole" } })],
    ["another kernel", () => replaced(settings, { weight: { kind: draw(["counting", "sobel_y"]) } })],
    ["stride", () => setAxis(settings, "stride", 0, draw([1, 2, 3]))[0]],
    ["padding", () => setAxis(settings, "padding", 0, draw([0, 1, 2]))[0]],
  ];
}

function attempt(move) {
  try {
    return move();
  } catch (error) {
    assert.ok(error.message.length > 10, error.stack);
    return null;
  }
}

/** Every product of all planes that has one of these two cells, as [a cell's index and its number's, falls into the padding]. */
function productsOf({ settings, stages }, changed) {
  const { spec } = settings;
  const [ins, outs] = [spec.in_channels / spec.groups, spec.out_channels / spec.groups];
  const index = (tensor, places) => places.reduce((sum, place, axis) => sum * tensor.shape[axis] + place, 0);
  const found = [];
  for (const { o, k, at, i } of truthOf(settings, stages).taps)
    for (let n = 0; n < spec.batch; n++)
      for (let out = 0; out < spec.out_channels; out++)
        for (let c = 0; c < ins; c++) {
          const cells = {
            weight: [out, c, ...k],
            padded_input: [n, Math.floor(out / outs) * ins + c, ...at],
            grad_output: [n, out, ...o],
          };
          found.push({ of: index(stages[changed], cells[changed]), cells, cut: i === null });
        }
  return {
    found,
    factor: (product, name) => stages[name].data[index(stages[name], product.cells[name])],
  };
}

function assertReason(stage, before, now, [reason, changed], reported) {
  const { settings } = now;
  const { transposed, loss } = settings;
  const parts = madeOf(stage, settings);
  const other = parts.find((name) => name !== changed && name !== "bias");
  if (reason === "made_of") {
    assert.ok(parts.length, reported);
    for (const part of parts) assert.equal(numbers(now.stages[part]), numbers(before.stages[part]), reported);
  } else if (reason === "given")
    assert.deepEqual([stage, loss], [sentBack(transposed), "weighted_sum"], reported);
  else if (reason === "constant") {
    assert.ok(["sum", "mean"].includes(loss), reported);
    assert.equal(new Set(now.stages[stage].data).size, 1, reported);
  } else if (reason !== "same") {
    const [was, is] = [before, now].map(({ stages }) => stages[changed].data);
    const { found, factor } = productsOf(now, changed);
    const mine = found.filter(({ of }) => was[of] !== is[of]);
    const real = mine.filter((product) => factor(product, other) !== 0);
    assert.ok(
      is.some((value, index) => value !== was[index]),
      reported,
    );
    assert.equal(mine.length > 0, reason !== "unread", reported);
    assert.equal(real.length > 0, reason === "border", reported);
    assert.ok(
      real.every(({ cut }) => cut),
      reported,
    );
  }
}

test("unchanged is said of what is equal number for number, and its reason is true", () => {
  const draw = drawer(SEED);
  const tally = {};
  for (let turn = 0; turn < STATES; turn++) {
    const settings = randomState(draw);
    const before = seen(settings);
    for (const [name, move] of movesOf(settings, draw)) {
      const after = attempt(move);
      if (!after || !isMove(settings, after)) continue;
      const now = seen(after);
      const reported = `state ${turn}, ${name}: ${JSON.stringify(settings)}`;
      const equal = resultsOf(after.transposed).filter(
        (stage) => now.stages[stage] && numbers(before.stages[stage]) === numbers(now.stages[stage]),
      );
      const said = unchanged(before, now);
      assert.deepEqual(Object.keys(said), equal, reported);
      for (const stage of equal) {
        const why = reasonOf(stage, before, now);
        assert.equal(said[stage], unchangedWords(stage, after, ...why), reported);
        assertReason(stage, before, now, why, `${stage} ${why}, ${reported}`);
        tally[why[0]] = (tally[why[0]] ?? 0) + 1;
      }
    }
  }
  for (const reason of ["made_of", "given", "constant", "unread", "zeros", "border", "same"])
    assert.ok(tally[reason] > 0, `${reason} was never met: ${JSON.stringify(tally)}`);
});

/** The results of a moved state that should be what they were, because all that goes into them is. */
function heldResults(before, now) {
  const same = (name) => numbers(before.stages[name]) === numbers(now.stages[name]);
  const { transposed, loss } = now.settings;
  const isGiven = (stage) => stage === sentBack(transposed) && loss === "weighted_sum";
  return resultsOf(transposed).filter((stage) => !isGiven(stage) && madeOf(stage, now.settings).every(same));
}

test("what goes into a result is all that goes into it", () => {
  const draw = drawer(SEED + 1);
  let counted = 0;
  for (let turn = 0; turn < STATES; turn++) {
    const settings = randomState(draw);
    const before = seen(settings);
    for (const [name, move] of movesOf(settings, draw)) {
      const after = attempt(move);
      const rules = (one) => JSON.stringify([one.spec, one.loss]);
      if (!after || rules(after) !== rules(settings)) continue;
      const now = seen(after);
      for (const stage of heldResults(before, now)) {
        const reported = `${stage}, ${name}, state ${turn}: ${JSON.stringify(settings)}`;
        assert.equal(numbers(now.stages[stage]), numbers(before.stages[stage]), reported);
        counted += 1;
      }
    }
  }
  assert.ok(counted > STATES, `${counted}`);
});

test("the sentences name what the page names", () => {
  const at = (link) => fromLink(link).state;
  const said = (link, move) => {
    const before = seen(at(link));
    return unchanged(before, seen(move(before.settings)));
  };
  const edit = (panel, row, column, value) => (settings) =>
    editCell(settings, { panel, row, column, value })[0];
  const first = "v=2";
  assert.deepEqual(said(first, edit("padded_input", 0, 0, 7)), {
    grad_output: "unchanged: you choose what is sent back",
    grad_input: "unchanged: made of grad_output and weight",
    grad_weight: "unchanged: what changed in input meets only zeros of grad_output",
  });
  const cut = said("v=2&padding=1&grad=one_hot:0,0,0,0", edit("weight", 0, 0, 7));
  assert.equal(cut.grad_input, "unchanged: what changed in weight falls into the padding");
  const turned = said("v=2&transposed=1", edit("weight", 0, 0, 7));
  assert.equal(turned.grad_weight, "unchanged: made of grad_output and input");
});

test("one drag is one step back, however many cells it crosses", () => {
  let now = 0;
  const model = createPageModel(dataOf(fromLink("v=2").state), undefined, () => (now += 5000));
  const place = () => shownOne(model.settings());
  assert.deepEqual(place(), { row: 1, column: 1 });
  const drag = (move, cells) => {
    for (const [row, column] of cells)
      model.send({ type: "select", panel: "grad_output", row, column, move });
  };
  drag(`${UNDO_STROKE}1`, [
    [0, 1],
    [0, 2],
    [2, 2],
  ]);
  drag(`${UNDO_STROKE}2`, [[2, 0]]);
  assert.deepEqual(place(), { row: 2, column: 0 });
  assert.deepEqual(model.get("selected"), { panel: "grad_output", row: 2, column: 0 });
  model.send({ type: "undo" });
  assert.deepEqual(place(), { row: 2, column: 2 });
  model.send({ type: "undo" });
  assert.deepEqual(place(), { row: 1, column: 1 });
  const input = () => givenNumber(model.settings(), "padded_input", 1, 3);
  const before = input();
  for (const value of [before + 1, before + 2, before + 1])
    model.send({ type: "edit", panel: "padded_input", row: 1, column: 3, value, move: `${UNDO_STROKE}3` });
  assert.equal(input(), before + 1);
  model.send({ type: "undo" });
  assert.equal(input(), before);
});

test("the 1 is shown where it stands, in its plane alone", () => {
  const draw = drawer(SEED + 2);
  let found = 0;
  for (let turn = 0; turn < STATES; turn++) {
    const settings = randomState(draw);
    const place = shownOne(settings);
    const { stages } = seen(settings);
    const { data, shape } = stages[sentBack(settings.transposed)];
    const { sample, out_channel, in_channel } = settings.plane;
    const at = [sample, settings.transposed ? in_channel : out_channel];
    if (!place) continue;
    found += 1;
    assert.equal(data[((at[0] * shape[1] + at[1]) * shape[2] + place.row) * shape[3] + place.column], 1);
  }
  assert.ok(found > 5, `${found}`);
});

test("a number that is dragged goes as far as one digit, or as it was", () => {
  assert.equal(stepped(3, 1, false), 4);
  assert.equal(stepped(0.1, 2, true), 0.3);
  assert.equal(stepped(0.3, -1, false), -0.7);
  assert.equal(stepped(8, 40, false), 9);
  assert.equal(stepped(-8, -40, false), -9);
  assert.equal(stepped(120, 3, false), 120);
  assert.equal(stepped(120, -3, false), 117);
});

test("what can be dragged is what can be typed, and it is read where it is written", () => {
  const draw = drawer(SEED + 3);
  const cells = [0, 1, 3].flatMap((row) => [0, 1, 2].map((column) => [row, column]));
  for (let turn = 0; turn < STATES; turn++) {
    const settings = randomState(draw);
    const panels = Object.keys(editedPanels(settings)).filter((panel) => panel !== "bias" || settings.bias);
    for (const panel of panels.filter((each) => gesturesOn(settings)(each).dragged)) {
      for (const [row, column] of cells) {
        const edit = () => editCell(settings, { panel, row, column, value: 7.25 })[0];
        const reported = `${panel} ${row} ${column}: ${JSON.stringify(settings)}`;
        if (Number.isNaN(givenNumber(settings, panel, row, column))) assert.throws(edit, reported);
        else assert.equal(givenNumber(edit(), panel, row, column), 7.25, reported);
      }
    }
  }
});

test("numbers of a loss are not dragged: one of them would end it", () => {
  const state = (link) => fromLink(link).state;
  assert.equal(gesturesOn(state("v=2&grad=ones"))("grad_output").dragged, true);
  assert.equal(gesturesOn(state("v=2&loss=sum"))("grad_output").dragged, false);
  assert.equal(gesturesOn(state("v=2&loss=half_squared_error"))("grad_output").dragged, false);
  assert.equal(
    gesturesOn(state("v=2&loss=half_squared_error&target=values:1x1x1x1:2"))("target").dragged,
    true,
  );
  assert.equal(gesturesOn(state("v=2"))("output").dragged, false);
});

test("what is washed has changed by more than rounding", () => {
  assert.deepEqual(changedCells([1, 2, 3], [1, 2.5, 3.000001], 1e-5), [1]);
  assert.deepEqual(changedCells([1, 2], [1, 2], 0), []);
});
