// Why a number is wrong, in settings that the checker's recipes do not know: the definition alone says what is true.
// tests/browser/test_reasons.py holds the mistakes of the catalogue against Python's recipes.
import assert from "node:assert/strict";
import test from "node:test";
import { readFileSync, readdirSync } from "node:fs";

import { computeStages } from "../../convviz/web/numbers/compute.js";
import { agrees, createReasons } from "../../convviz/web/numbers/reasons.js";
import { tensorsOf } from "../../convviz/web/rules/settings.js";
import { drawer, randomState, same, truthOf } from "./definition.mjs";

const FOLDER = new URL("../../convviz/facts/mistakes/", import.meta.url);
const MISTAKES = readdirSync(FOLDER).map((name) => JSON.parse(readFileSync(new URL(name, FOLDER), "utf8")));
const ORDER = JSON.parse(readFileSync(new URL("../reasons.json", FOLDER), "utf8")).likeliest;
const WORDS = JSON.parse(readFileSync(new URL("../words/reasons.json", FOLDER), "utf8"));
const read = ({ shape, data }, at) => data[at.reduce((place, each, axis) => place * shape[axis] + each, 0)];

/** grad_input and grad_padded_input of the shown plane with the kernel as it is: each window takes the place mirrored in it. */
function notRotated(truth, panel, at) {
  const { taps, spec, value, ins, outs, settings } = truth;
  const { in_channel: c, sample: n } = settings.plane;
  const channels = Array.from({ length: outs }, (_, j) => Math.floor(c / ins) * outs + j);
  const last = spec.kernel_size.map((size) => size - 1);
  return taps
    .filter((tap) => same(panel === "grad_input" ? tap.i : tap.at, at))
    .reduce((sum, { o, k }) => {
      const turned = k.map((each, axis) => last[axis] - each);
      const of = (channel) =>
        value("grad_output", o, [n, channel]) * value("weight", turned, [channel, c % ins]);
      return sum + channels.reduce((total, channel) => total + of(channel), 0);
    }, 0);
}

test("a kernel that is not rotated is named in every geometry, with any border, and never in a transposed one", () => {
  const draw = drawer(11);
  const met = { grad_input: 0, grad_padded_input: 0, transposed: 0 };
  for (let round = 0; round < 300; round++) {
    const settings = randomState(draw);
    const stages = computeStages(settings.spec, settings.loss, tensorsOf(settings), settings.transposed);
    const truth = truthOf(settings, stages);
    const find = createReasons(MISTAKES, settings, stages);
    for (const panel of ["grad_input", "grad_padded_input"]) {
      if (!stages[panel]) continue;
      const [, , height, width] = stages[panel].shape;
      const at = [draw([...Array(height).keys()]), draw([...Array(width).keys()])];
      const cell = [settings.plane.sample, settings.plane.in_channel, ...at];
      const [typed, right] = [notRotated(truth, panel, at), read(stages[panel], cell)];
      const found = find(panel, cell, typed);
      const about = `${JSON.stringify(settings.spec)} ${panel} ${cell} ${typed}`;
      const named = found.some(({ id }) => id === "I01");
      if (settings.transposed) {
        assert.ok(
          found.every(({ why }) => why !== "mistake"),
          `the catalogue is about another thing: ${about}`,
        );
        met.transposed += Number(!agrees(typed, right));
      } else {
        assert.equal(named, !agrees(typed, right), about);
        met[panel] += Number(named);
      }
      assert.ok(panel === "grad_input" || found.every(({ way }) => way === 0), "the tab has no such panel");
    }
  }
  for (const [name, count] of Object.entries(met)) assert.ok(count > 10, `${name}: ${count}`);
});

test("the right number, a cell that is gone and a tensor that is given have no reasons", () => {
  const draw = drawer(12);
  for (let round = 0; round < 60; round++) {
    const settings = randomState(draw);
    const stages = computeStages(settings.spec, settings.loss, tensorsOf(settings), settings.transposed);
    const find = createReasons(MISTAKES, settings, stages);
    for (const panel of ["output", "grad_input", "grad_weight"]) {
      const at = [0, 0, 0, 0];
      assert.deepEqual(find(panel, at, read(stages[panel], at)), [], panel);
      assert.deepEqual(find(panel, [0, 0, 99, 0], 1), [], "gone");
    }
    assert.deepEqual(find("weight", [0, 0, 0, 0], 1234), [], "given");
  }
});

test("a mistake that a number is held against is one of the catalogue, once, and has its clause", () => {
  assert.equal(new Set(ORDER).size, ORDER.length);
  for (const id of ORDER) {
    assert.ok(MISTAKES.find((each) => each.id === id)?.ways.length, id);
    assert.ok(WORDS[`if.${id}`], `if.${id} in facts/words/reasons.json`);
  }
});
