// Each weight is a slider in its cell: its keys, and where it stands.
import assert from "node:assert/strict";
import test from "node:test";

import { LOOKS, pathsOf } from "../../convviz/web/board/grid/cell_sliders.js";
import { keyed } from "../../convviz/web/board/grid/drag_number.js";
import { editedPanels, gesturesOn } from "../../convviz/web/rules/edit_cells.js";
import { fromLink } from "../../convviz/web/rules/settings_link.js";
import { drawer } from "./conv_by_definition.mjs";

const STATES = Number(process.env.CONVVIZ_STATES ?? 150);
const SEED = Number(process.env.CONVVIZ_SEED ?? 1);

test("a weight takes a slider's keys, any other number those with Alt", () => {
  const press = (name, slides, from = 2) => {
    const keys = name.split("+");
    const [altKey, shiftKey] = [keys.includes("Alt"), keys.includes("Shift")];
    return keyed(from, { key: keys.at(-1), altKey, shiftKey }, slides);
  };
  const taken = { ArrowUp: 3, ArrowDown: 1, "Shift+ArrowUp": 2.1, PageUp: 5, PageDown: -1, Home: -9, End: 9 };
  for (const [name, value] of Object.entries(taken)) {
    assert.equal(press(name, true), value, name);
    assert.equal(press(name, false), null, `${name} walks through other panels`);
  }
  for (const slides of [true, false]) {
    assert.equal(press("Alt+ArrowDown", slides), 1);
    assert.equal(press("Alt+Shift+ArrowDown", slides), 1.9);
    for (const name of ["Alt+Home", "Alt+PageUp", "Alt+ArrowLeft", "Enter", "5"])
      assert.equal(press(name, slides), null, name);
  }
  assert.equal(press("End", true, 120), 120, "as it was, where it is beyond");
});

test("the kernel slides, wherever it is shown, and nothing else", () => {
  for (const link of ["v=2", "v=2&transposed=1", "v=2&loss=half_squared_error", "v=2&bias=1"]) {
    const { state } = fromLink(link);
    const slid = Object.keys(editedPanels(state)).filter((panel) => gesturesOn(state)(panel).slides);
    assert.deepEqual(slid, ["weight"], link);
    assert.ok(gesturesOn(state)("weight").dragged, link);
  }
});

/** Where the rectangles of a path lie: left, top, width, height. */
const rectanglesOf = (path) =>
  [...path.matchAll(/M([-\d.]+) ([-\d.]+)h([-\d.]+)v([-\d.]+)h/g)].map((found) => found.slice(1).map(Number));

test("a slider in a cell stands at its number, on one scale for all, from zero", () => {
  const draw = drawer(SEED);
  for (let turn = 0; turn < STATES; turn++) {
    const columns = draw([1, 2, 3, 7]);
    const numbersOf = draw([
      [0, 1, 2, 9],
      [-2, 0, 0.5, 1],
      [-40, 3, 17],
      [0.1, 0.2],
      [0, Number.NaN, 1],
    ]);
    const values = Array.from({ length: columns * draw([1, 3, 7]) }, () => draw(numbersOf));
    for (const look of Object.values(LOOKS)) {
      const reported = `${columns} columns of ${values}`;
      // One that lies, as it would stand: zero at the bottom.
      const upright = ([x, y, wide, tall]) =>
        look.lies
          ? [
              x - (x % 40) + (y % 40),
              Math.round(100 * (y - (y % 40) + 38.6 - (x % 40) - wide)) / 100,
              tall,
              wide,
            ]
          : [x, y, wide, tall];
      const parts = pathsOf(values, columns, look);
      const [tracks, fills, zeros, knobs] = parts.map((path) => rectanglesOf(path).map(upright));
      const finite = values.flatMap((value, index) => (Number.isFinite(value) ? [index] : []));
      const isSigned = values.some((value) => value < 0);
      assert.deepEqual(
        [tracks.length, fills.length, knobs.length],
        [values.length, finite.length, finite.length],
      );
      assert.equal(zeros.length, isSigned ? values.length : 0, reported);
      const most = Math.max(0, ...finite.map((index) => Math.abs(values[index])));
      const reach = most < 1 && finite.length === values.length ? 1 : Math.max(3, Math.ceil(most));
      finite.forEach((index, at) => {
        const [x, y, wide, tall] = tracks[index];
        assert.deepEqual(
          [Math.floor(x / 40), Math.floor(y / 40)],
          [index % columns, Math.floor(index / columns)],
        );
        assert.ok((x % 40) + wide <= 40 && (y % 40) + tall <= 40, reported);
        const unit = tall / (isSigned ? 2 * reach : reach);
        const [, top, , height] = fills[at];
        assert.ok(Math.abs(height - Math.abs(values[index]) * unit) < 0.02, reported);
        const zero = y + (isSigned ? tall / 2 : tall);
        assert.ok(Math.abs((values[index] < 0 ? top : top + height) - zero) < 0.02, reported);
        const [, knob, , thick] = knobs[at];
        const tip = zero - values[index] * unit;
        assert.ok(
          knob >= y - 0.01 && knob + thick <= y + tall + 0.01,
          `${reported}: a handle stays in its cell`,
        );
        assert.ok(Math.abs(knob + thick / 2 - tip) <= thick / 2 + 0.02, reported);
      });
    }
  }
});
