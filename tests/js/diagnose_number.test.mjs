// Why a number is wrong: the definition says what is true, and the recipes what a mistake makes of it;
// tests/browser/test_mistakes_match_python.py holds these against Python's.
import assert from "node:assert/strict";
import test from "node:test";
import { readFileSync, readdirSync } from "node:fs";

import { computeStages } from "../../convviz/web/numbers/compute.js";
import { formatLong, formatNumber, fullNumber, parseNumber } from "../../convviz/web/base/format.js";
import {
  mistakenGradient,
  mistakenNumber,
  mistakenProducts,
} from "../../convviz/web/numbers/compute_mistake.js";
import { createDiagnosis } from "../../convviz/web/numbers/diagnose_number.js";
import { typedAgrees } from "../../convviz/web/numbers/typed_number.js";
import { isKnown } from "../../convviz/web/rules/recipe_steps.js";
import { fromLink } from "../../convviz/web/rules/settings_link.js";
import { tensorsOf } from "../../convviz/web/rules/settings_and_tensors.js";
import { drawer, randomState, same, truthOf } from "./conv_by_definition.mjs";

const FOLDER = new URL("../../convviz/facts/data/mistakes/", import.meta.url);
const MISTAKES = readdirSync(FOLDER).map((name) => JSON.parse(readFileSync(new URL(name, FOLDER), "utf8")));
const ORDER = JSON.parse(readFileSync(new URL("../diagnosable_mistakes.json", FOLDER), "utf8")).likeliest;
const WORDS = JSON.parse(readFileSync(new URL("../words/wrong_number_reasons.json", FOLDER), "utf8"));
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
  for (let round = 0; round < 150; round++) {
    const settings = randomState(draw);
    const stages = computeStages(settings.spec, settings.loss, tensorsOf(settings), settings.transposed);
    const truth = truthOf(settings, stages);
    const find = createDiagnosis(MISTAKES, settings, stages);
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
        met.transposed += Number(!typedAgrees(typed, right));
      } else {
        assert.equal(named, !typedAgrees(typed, right), about);
        met[panel] += Number(named);
      }
      assert.ok(panel === "grad_input" || found.every(({ way }) => way === 0), "the tab has no such panel");
    }
  }
  for (const [name, count] of Object.entries(met)) assert.ok(count > 10, `${name}: ${count}`);
});

const RESULTS = ["output", "grad_input", "grad_weight", "grad_bias"];

/** Pictures of a convolution with a bias, and of each result one cell: its indices, and its number. */
function* asked(seed, rounds) {
  const draw = drawer(seed);
  for (let round = 0; round < rounds; round++) {
    const drawn = { ...randomState(draw), transposed: false };
    const bias = { kind: "values", values: [1, -2, 3], shape: [3] };
    const settings = { ...drawn, bias };
    const stages = computeStages(settings.spec, settings.loss, tensorsOf(settings), false);
    const find = createDiagnosis(MISTAKES, settings, stages);
    const truth = truthOf(settings, stages);
    for (const panel of RESULTS) {
      const at = stages[panel].shape.map((size) => draw([...Array(size).keys()]));
      yield {
        draw,
        settings,
        stages,
        truth,
        panel,
        at,
        right: read(stages[panel], at),
        find: find.bind(null, panel, at),
      };
    }
  }
}

/** What a way makes of some numbers, whole; null where it cannot be computed. */
function made(of, way, spec, given) {
  if (of !== "output") return mistakenGradient(of, way, spec, given);
  const products = mistakenProducts(of, way, spec);
  const count = products ? products.shape.reduce((total, size) => total * size, 1) : 0;
  const data = Array.from({ length: count }, (_, index) => mistakenNumber(of, products, given, index));
  return products && { shape: products.shape, data };
}

/** A number of a tensor that may have come out in another shape; null where it has none. */
function numberAt(tensor, shape, at) {
  if (!tensor) return null;
  if (shape.length === 1) {
    if (tensor.data.length === 1) return tensor.data[0];
    return String(tensor.shape) === String(shape) ? tensor.data[at[0]] : null;
  }
  const there = tensor.shape.length === 4 && at.every((each, axis) => each < tensor.shape[axis]);
  return there && tensor.shape[0] === shape[0] && tensor.shape[1] === shape[1] ? read(tensor, at) : null;
}

/** Whether each choice of a way does something in this geometry, seen in numbers that hide nothing. */
function isWhole(of, way, spec, given) {
  const whole = made(of, way, spec, given);
  return Object.keys(way).every((step) => {
    const less = made(
      of,
      Object.fromEntries(Object.entries(way).filter(([name]) => name !== step)),
      spec,
      given,
    );
    if (!whole || !less || String(whole.shape) !== String(less.shape)) return true;
    return whole.data.some((each, index) => Math.abs(each - less.data[index]) > 1e-9);
  });
}

test("a number is answered with every mistake that gives it and with no other", () => {
  const met = new Set();
  for (const { settings, stages, panel, at, right, find } of asked(21, 90)) {
    const { spec } = settings;
    const hidesNothing = (tensor, seed) =>
      tensor && { ...tensor, data: tensor.data.map((_, index) => Math.sin((index + 1) * seed) * 7) };
    const names = ["input", "weight", "bias", "grad_output"];
    const reals = Object.fromEntries(
      names.map((name, seed) => [name, hidesNothing(stages[name], seed + 1.3)]),
    );
    const numbers = MISTAKES.filter(
      ({ id, of }) => ORDER.includes(id) && of.split(", ").includes(panel),
    ).flatMap(({ id, ways }) =>
      ways
        .filter((way) => isKnown(way))
        .map((way) => ({
          id,
          way,
          number: numberAt(made(panel, way, spec, stages), stages[panel].shape, at),
        }))
        .filter(({ number }) => number !== null && !typedAgrees(number, right))
        .filter(({ way }) => isWhole(panel, way, spec, reals)),
    );
    for (const number of new Set(numbers.map((each) => each.number))) {
      const said = find(number)
        .filter(({ why }) => why === "mistake")
        .map(({ id }) => id);
      const fits = new Set(numbers.filter((each) => typedAgrees(number, each.number)).map(({ id }) => id));
      const about = `${JSON.stringify(spec)} ${panel} ${at} ${number}`;
      assert.deepEqual(
        said,
        ORDER.filter((id) => fits.has(id)),
        about,
      );
      for (const id of said) met.add(id);
    }
  }
  assert.deepEqual(
    ORDER.filter((id) => !met.has(id)),
    [],
    "are met in no cell",
  );
});

/** The factors of every product of a number, by the definition; the bias is one without a second. */
function termsOf({ truth, settings, stages, panel, at }) {
  const { taps, spec, value, ins, outs } = truth;
  const [first, second, ...place] = at;
  const upTo = (count) => [...Array(count).keys()];
  const groupOf = (channel, own, others) => upTo(others).map((j) => Math.floor(channel / own) * others + j);
  const real = (part, cell) => taps.filter((tap) => tap.i && same(tap[part], cell));
  const number = (name, cell, plane) => value(name, cell, plane);
  if (panel === "grad_bias")
    return upTo(spec.batch).flatMap((n) =>
      cellsOf(truth.windows).map((o) => [number("grad_output", o, [n, first])]),
    );
  if (panel === "output") {
    const sums = groupOf(second, outs, ins).flatMap((c) =>
      real("o", place).map(({ k, i }) => [
        number("weight", k, [second, c % ins]),
        number("input", i, [first, c]),
      ]),
    );
    return [...sums, [stages.bias.data[second]]];
  }
  if (panel === "grad_input")
    return groupOf(second, ins, outs).flatMap((o) =>
      real("i", place).map((tap) => [
        number("grad_output", tap.o, [first, o]),
        number("weight", tap.k, [o, second % ins]),
      ]),
    );
  const channel = Math.floor(first / outs) * ins + second;
  return upTo(settings.spec.batch).flatMap((n) =>
    real("k", place).map(({ o, i }) => [
      number("grad_output", o, [n, first]),
      number("input", i, [n, channel]),
    ]),
  );
}
const cellsOf = ([rows, columns]) =>
  Array.from({ length: rows * columns }, (_, at) => [Math.floor(at / columns), at % columns]);

const STEPS = { right: [0, 1], left: [0, -1], below: [1, 0], above: [-1, 0] };
const total = (terms) =>
  terms.reduce((sum, term) => sum + term.reduce((product, each) => product * each, 1), 0);
const textOf = (term) =>
  term
    .map((each, place) => (place && each < 0 ? `(${formatLong(each)})` : formatLong(each)))
    .join(" \u00b7 ");

/** Whether more than a single wrong sign gives a number: another one, or two products of which each is missing or twice. */
function hasOtherSlips(terms, right, typed) {
  const products = terms.map((term) => total([term])).filter(Boolean);
  const off = (change) => typedAgrees(typed, right + change);
  if (products.filter((product) => off(-2 * product)).length > 1) return true;
  return products.some((one, at) =>
    products.slice(0, at).some((other) => [one + other, one - other].some((by) => off(by) || off(-by))),
  );
}

/** Whether a number is what a reason says. */
function isTrue(question, terms, typed, { why, places, terms: said, added }) {
  const { stages, panel, at, right } = question;
  const pairs = terms.filter((term) => term.length === (panel === "grad_bias" ? 1 : 2));
  if (why === "sign") return typedAgrees(typed, -right);
  if (why.startsWith("count")) return typed === pairs.length;
  if (why === "unweighted") {
    const names = { output: ["weight", "input"], grad_input: ["grad_output", "weight"] };
    const kept = (names[panel] ?? ["grad_output", "input"]).indexOf(added);
    return typedAgrees(typed, total(terms.map((term) => (term.length === 2 ? [term[kept]] : term))));
  }
  if (why === "neighbour")
    return places.every((where) => {
      const moves = where.split("_").map((name) => STEPS[name]);
      const there = at.map(
        (each, axis) => each + moves.reduce((sum, move) => sum + (move[axis - 2] ?? 0), 0),
      );
      return typedAgrees(typed, read(stages[panel], there));
    });
  const times = { missing: -1, twice: 1, flipped: -2 }[why];
  const numbers = new Map(terms.map((term) => [textOf(term), total([term])]));
  if (why === "flipped" && hasOtherSlips(terms, right, typed)) return false;
  // Of what is no product none is spoken of.
  const called = said.every((text) => text.includes(" \u00b7 ") || !WORDS[`if.${why}`].includes("product"));
  return (
    called && said.length > 0 && said.every((text) => typedAgrees(typed, right + times * numbers.get(text)))
  );
}

test("no reason is given that is not true", () => {
  const kinds = new Set();
  for (const question of asked(22, 90)) {
    const { draw, right, find, settings, panel, at } = question;
    const terms = termsOf(question);
    const near = right + draw([-3, -2, -1, 1, 2, 3]);
    const term = terms.length ? total([draw(terms)]) : 1;
    for (const typed of [
      near,
      -right,
      2 * right,
      draw([-7, 0, 1, 4, 9]),
      right - term,
      right + term,
      right - 2 * term,
    ]) {
      for (const reason of find(typed).filter(({ why }) => why !== "mistake")) {
        kinds.add(reason.why);
        const about = `${JSON.stringify(settings.spec)} ${panel} ${at} ${typed} ${JSON.stringify(reason)}`;
        assert.ok(isTrue(question, terms, typed, reason), about);
      }
    }
  }
  for (const why of ["unweighted", "count", "sign", "neighbour", "missing", "twice", "flipped"])
    assert.ok(kinds.has(why), why);
});

test("a number agrees at every size with what its cell prints, and with nothing a hundredth apart", () => {
  for (let power = -6; power < 9; power++) {
    for (const sign of [1, -1]) {
      const number = sign * 1.2345678 * 10 ** power;
      if (power > -6) assert.ok(typedAgrees(parseNumber(fullNumber(number, "float32")), number), number);
      if (power < 6) assert.ok(typedAgrees(parseNumber(formatNumber(number)), number), formatNumber(number));
      if (power > -4) assert.ok(!typedAgrees(number * 1.01, number), `${number * 1.01} for ${number}`);
      assert.ok(!typedAgrees(-number, number) || power < -5, -number);
    }
  }
  assert.ok(
    typedAgrees(0.666, 2 / 3) && typedAgrees(0.67, 2 / 3) && !typedAgrees(0.001, 0.0006),
    "of a few digits",
  );
  assert.ok(
    typedAgrees(44410, 44410.25) && !typedAgrees(44000, 44410.25) && !typedAgrees(44411, 44410),
    "large",
  );
  const link = "v=2&size=64&kernel=5x2&stride=6&padding=3x0,3&dilation=2x1&batch=3&input=ramp";
  const settings = fromLink(link).state;
  const stages = computeStages(settings.spec, settings.loss, tensorsOf(settings), false);
  const find = createDiagnosis(MISTAKES, settings, stages);
  const rotated = (typed) => find("output", [2, 0, 5, 10], typed).some(({ id }) => id === "F01");
  assert.deepEqual([10743.5, 10808, 10700].map(rotated), [true, false, false]);
});

test("the right number, a cell that is gone and a tensor that is given have no reasons", () => {
  const draw = drawer(12);
  for (let round = 0; round < 60; round++) {
    const settings = randomState(draw);
    const stages = computeStages(settings.spec, settings.loss, tensorsOf(settings), settings.transposed);
    const find = createDiagnosis(MISTAKES, settings, stages);
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
    assert.ok(WORDS[`if.${id}`], `if.${id} in facts/data/words/wrong_number_reasons.json`);
  }
});
