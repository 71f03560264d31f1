// How well the tab My numbers names what is pasted: every mistake of the catalogue in random geometries, in each format;
// then random wrong arrays, of which each reason is checked anew. node --import ./tests/js/read_folders.mjs benchmarks/pasted_numbers.mjs [geometries] [arrays]
import { readFileSync, readdirSync } from "node:fs";
import { computeStages } from "../convviz/web/numbers/compute.js";
import { replaced, tensorsOf } from "../convviz/web/rules/settings_and_tensors.js";
import { explain, mistakesOf, resultBy, rightOf } from "../convviz/features/pasted/explain_numbers.js";
import { readNumbers } from "../convviz/features/pasted/read_numbers.js";
import { isNpy, listsOf, readNpy } from "../convviz/features/pasted/read_npy.js";
import { drawer, randomState } from "../tests/js/conv_by_definition.mjs";
import { falseReasons } from "../tests/js/reasons_checked_anew.mjs";
import { PRINT, npyOf } from "../tests/js/printed_numbers.mjs";

const FOLDER = new URL("../convviz/facts/data/mistakes/", import.meta.url);
const MISTAKES = readdirSync(FOLDER).map((name) => JSON.parse(readFileSync(new URL(name, FOLDER), "utf8")));
const RESULTS = ["output", "grad_input", "grad_weight", "grad_bias"];
const [geometries, arrays] = [Number(process.argv[2] ?? 200), Number(process.argv[3] ?? 2000)];
const twelveDigits = (value) => Number(value.toPrecision(12));

/** A convolution of random numbers, with something to divide by. */
function example(draw) {
  for (;;) {
    const state = replaced(randomState(draw), { transposed: false });
    const settings = replaced(state, {
      input: { kind: "random" },
      weight: { kind: "random" },
      seed: draw([...Array(1000).keys()]),
    });
    const stages = computeStages(settings.spec, settings.loss, tensorsOf(settings));
    if (stages.grad_output.data.some((value) => value !== 0)) return { settings, stages };
  }
}

function read(format, tensor) {
  if (format !== "npy") return readNumbers(PRINT[format](tensor), "result");
  const file = npyOf(tensor);
  if (!isNpy(file)) throw new Error("no .npy");
  return readNumbers(listsOf(readNpy(file)));
}

/** By more than any print rounds. */
function isApart(tensor, right) {
  const most = right.data.reduce((size, value) => Math.max(size, Math.abs(value)), 1e-4);
  return tensor.data.some((value, at) => !(Math.abs(value - right.data[at]) <= 1e-4 * Math.max(1, most)));
}

const FORMATS = [...Object.keys(PRINT), "npy"];

/** One wrong result, printed in one of the formats and read back. */
function tryMistake(met, asked, mistake, tensor, format) {
  const verdict = explain(read(format, tensor), asked, MISTAKES);
  const ids = verdict.mistakes.map((found) => found.mistake.id);
  met.asked++;
  met.hidden += Number(verdict.right);
  met.passed += Number(verdict.right && isApart(tensor, verdict.tensor));
  met.named += Number(ids.includes(mistake.id));
  met.first += Number(ids[0] === mistake.id);
  met.coincide += Number(ids.length > 1);
  if (!verdict.right && !ids.includes(mistake.id))
    met.other.push(`${mistake.id} ${format} ${JSON.stringify(asked.settings.spec)}`);
}

/** In every format, by one of its ways. */
function tryFormats(met, asked, mistake, way) {
  const made = resultBy(asked.of, way, asked.settings.spec, asked.stages);
  if (!made) return;
  const tensor = { shape: made.tensor.shape, data: made.tensor.data.map(twelveDigits) };
  for (const format of tensor.data.length ? FORMATS : ["lists"])
    tryMistake(met, asked, mistake, tensor, format);
}

function everyMistake() {
  const draw = drawer(39);
  const met = { asked: 0, named: 0, first: 0, hidden: 0, passed: 0, coincide: 0, other: [] };
  for (let round = 0; round < geometries; round++) {
    const { settings, stages } = example(draw);
    for (const of of RESULTS)
      for (const mistake of mistakesOf(MISTAKES, of))
        tryFormats(met, { settings, stages, of }, mistake, draw(mistake.ways));
  }
  const { other, ...counts } = met;
  console.log("mistakes", JSON.stringify(counts), "not named:", other.length);
  for (const line of other.slice(0, 10)) console.log("  ", line);
}

/** Something random, or something near the right numbers. */
function wrongArray(draw, right) {
  const any = () => draw([-3, -2, -1, -0.5, 0, 0.25, 1, 2, 3.5, 7]);
  const data = [...right.data].map(twelveDigits);
  const cell = () => draw([...data.keys()]);
  const kind = draw(["noise", "cells", "scaled_cells", "shuffled", "shape", "constant"]);
  if (kind === "noise") return { shape: right.shape, data: data.map(any) };
  if (kind === "constant") return { shape: right.shape, data: data.fill(any()) };
  if (kind === "shuffled") return { shape: right.shape, data: data.map(() => data[cell()]) };
  if (kind === "shape") {
    const shape = right.shape.map((size) => Math.max(1, size + draw([-1, 0, 0, 1])));
    return {
      shape,
      data: Array.from({ length: shape.reduce((a, b) => a * b, 1) }, () =>
        draw([0, 1]) ? any() : data[cell()],
      ),
    };
  }
  for (let times = draw([1, 1, 2, 3]); times; times--) {
    const at = cell();
    data[at] = kind === "cells" ? any() : twelveDigits(data[at] * draw([2, -1, 0.5, 0, 1.0001]));
  }
  return { shape: right.shape, data };
}

/** What was said, by kind. */
const saidOf = ({ right, mistakes, near, closest }) => [
  ...(right ? ["right"] : []),
  ...mistakes.map(() => "mistake"),
  ...near.map(({ kind }) => kind),
  ...(closest ? ["closest"] : []),
];

function randomArrays() {
  const draw = drawer(2000);
  const kinds = {};
  const falses = [];
  for (let round = 0; round < arrays; round++) {
    const asked = { ...example(draw), of: draw(RESULTS) };
    const right = rightOf(asked);
    const format = draw(Object.keys(PRINT));
    const pasted = read(format, wrongArray(draw, right));
    const verdict = explain(pasted, asked, MISTAKES);
    for (const name of saidOf(verdict)) kinds[name] = (kinds[name] ?? 0) + 1;
    for (const reason of falseReasons(verdict, pasted, asked))
      falses.push(`${reason} ${format} ${asked.of} ${JSON.stringify(asked.settings.spec)}`);
  }
  console.log("random arrays", arrays, JSON.stringify(kinds), "false reasons:", falses.length);
  for (const line of falses.slice(0, 10)) console.log("  ", line);
}

const started = Date.now();
everyMistake();
randomArrays();
console.log(`${((Date.now() - started) / 1000).toFixed(1)} s`);
