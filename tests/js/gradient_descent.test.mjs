// What Learn says of a step: recounted by the definition, near a lowest point too, where a loss of many digits cannot tell.
import assert from "node:assert/strict";
import test from "node:test";
import { readFileSync } from "node:fs";

import { Descent } from "../../convviz/web/controls/descent_history.js";
import { verdictOn } from "../../convviz/web/controls/descent_verdict.js";
import { computeStages } from "../../convviz/web/numbers/compute.js";
import {
  RATES,
  gradientStep,
  safeChoice,
  slopeAt,
  withLowestPoint,
} from "../../convviz/web/numbers/gradient_step.js";
import { fromLink, toLink } from "../../convviz/web/rules/settings_link.js";
import { replaced, tensorsOf } from "../../convviz/web/rules/settings_and_tensors.js";
import { drawer, randomState, truthOf } from "./conv_by_definition.mjs";

// More states, others, and how often each sentence was recounted: CONVVIZ_STATES=5000 CONVVIZ_SEED=2 CONVVIZ_TALLY=1.
const STATES = Number(process.env.CONVVIZ_STATES ?? 120);
const SEED = Number(process.env.CONVVIZ_SEED ?? 1);
const WORDS = JSON.parse(
  readFileSync(new URL("../../convviz/facts/data/words/gradient_descent.json", import.meta.url), "utf8"),
);
const PATTERNS = Object.entries(WORDS)
  .filter(([id]) => ["hint", "steep", "rose", "rose.other", "endless", "flat", "lowest"].includes(id))
  .map(([id, words]) => [
    id,
    new RegExp(`^${words.replace(/[.½]/g, "\\$&").replace(/\{(\w+)\}/g, "(?<$1>.+?)")}$`),
  ]);

function read(text) {
  if (!text) return { id: "" };
  const found = PATTERNS.map(([id, pattern]) => ({ id, hit: pattern.exec(text) })).find(({ hit }) => hit);
  assert.ok(found, `no sentence: ${text}`);
  return { id: found.id, ...found.hit.groups };
}
const number = (text) => Number(text.replaceAll("−", "-"));

function shown(settings) {
  const { spec, loss, transposed } = settings;
  return { settings, numbers: { stages: computeStages(spec, loss, tensorsOf(settings), transposed) } };
}

/** Which planes of input, weight and output meet. */
function* planesOf({ batch, in_channels, out_channels }, ins, outs) {
  for (let n = 0; n < batch; n++)
    for (let o = 0; o < out_channels; o++)
      for (let j = 0; j < ins; j++)
        yield [n * in_channels + Math.floor(o / outs) * ins + j, o * ins + j, n * out_channels + o];
}

/** A layer's output by the definition, with other weights. */
function outputs({ settings, numbers: { stages } }, weight, bias) {
  const { taps, spec, transposed, ins, outs } = truthOf(settings, stages);
  const [given, made] = transposed ? [stages.grad_output, stages.grad_input] : [stages.input, stages.output];
  const index = ({ shape }, plane, [row, column]) => (plane * shape[2] + row) * shape[3] + column;
  const data = made.data.map(
    (_, at) => bias?.[Math.floor(at / (made.shape[2] * made.shape[3])) % made.shape[1]] ?? 0,
  );
  for (const [c, plane, o] of planesOf(spec, ins, outs))
    for (const tap of taps.filter(({ i }) => i)) {
      const [to, from] = transposed
        ? [index(made, c, tap.i), index(given, o, tap.o)]
        : [index(made, o, tap.o), index(given, c, tap.i)];
      data[to] += given.data[from] * weight[index(stages.weight, plane, tap.k)];
    }
  return data;
}

const total = (data, term) => data.reduce((sum, value, at) => sum + term(value, at), 0);

/** How a loss changes with a rate, without taking the difference of two losses; and half the squares of what it adds up. */
function changeOf(there) {
  const {
    settings,
    numbers: { stages },
  } = there;
  const moves = outputs(there, stages.grad_weight.data, stages.grad_bias?.data);
  const made = outputs(there, stages.weight.data, stages.bias?.data);
  const target = tensorsOf(settings).target.data;
  const slope = total(moves, (move, at) => move * (made[at] - target[at]));
  const curvature = total(moves, (move) => move * move);
  const terms = outputs(
    shown(
      replaced(settings, {
        input: { kind: "values", values: unsignedInput(there), shape: inputOf(there).shape },
      }),
    ),
    stages.weight.data.map(Math.abs),
    stages.bias?.data.map(Math.abs),
  );
  const size = total(terms, (term, at) => (term + Math.abs(target[at])) ** 2) / 2;
  if (settings.loss === "half_squared_error")
    return { lowest: slope / curvature, by: (lr) => -lr * slope + (lr * lr * curvature) / 2, size };
  const cells = made.length / settings.spec.batch;
  const sample = (n) => Array.from(made.slice(n * cells, (n + 1) * cells));
  const by = (lr) =>
    Array.from({ length: settings.spec.batch }, (_, n) => {
      const logits = sample(n);
      const most = Math.max(...logits);
      const all = total(logits, (each) => Math.exp(each - most));
      const grown = total(
        logits,
        (each, at) => (Math.exp(each - most) / all) * Math.expm1(-lr * moves[n * cells + at]),
      );
      return (
        Math.log1p(grown) + total(logits, (_, at) => target[n * cells + at] * lr * moves[n * cells + at])
      );
    }).reduce((sum, each) => sum + each, 0) / settings.spec.batch;
  return { lowest: null, by, size: Math.sqrt(2 * size) + 1 };
}
const inputOf = ({ settings, numbers: { stages } }) =>
  settings.transposed ? stages.grad_output : stages.input;
const unsignedInput = (there) => [...inputOf(there).data].map(Math.abs);

/** As printed: two digits, or three decimals. */
const near = (one, other) => Math.abs(one - other) <= Math.max(0.06 * Math.abs(other), 0.000501);

/** What each sentence claims, of the place before, the rate taken there, and the place now. */
const CLAIMS = {
  hint: ({ lowest, twice }, _, here) =>
    near(number(lowest), changeOf(here).lowest) && near(number(twice), 2 * changeOf(here).lowest),
  steep: (_, __, here) => safeChoice(here.settings) === null,
  rose: ({ before, after, twice, lr }, there) =>
    before !== after && number(lr) > number(twice) && changeOf(there).by(number(lr)) > 0,
  "rose.other": ({ before, after, lr }, there) => before !== after && changeOf(there).by(number(lr)) > 0,
  endless: (_, __, { settings }) => !["half_squared_error", "cross_entropy"].includes(settings.loss),
  flat: (_, __, here) => RATES.every((lr) => changeOf(here).by(lr) === 0),
  lowest: ({ dtype }, _, here) => {
    const { by, size, lowest } = changeOf(here);
    const rates = lowest === null || !Number.isFinite(lowest) ? RATES : [lowest, ...RATES];
    return dtype === "float64" && rates.every((lr) => -by(lr) <= 2e-14 * size);
  },
  "": (_, __, { settings }) => settings.loss === "cross_entropy",
};

/** Steps of Learn, and of each what is said after it. */
function* steps(state, rate, count) {
  const descent = new Descent();
  let [before, here] = [null, shown(replaced(state, { dtype: "float64", lr: rate }))];
  for (let step = 0; step <= count; step++) {
    descent.arrive(here);
    const slope = slopeAt(here.settings, here.numbers.stages);
    const verdict = verdictOn(here, descent, () => slope);
    yield { step, before, here, verdict };
    if (verdict.ends) return;
    descent.leave({ lr: rate, lowest: slope.lowest });
    const [made] = gradientStep(here.settings, here.numbers.stages, rate);
    [before, here] = [here, shown(made)];
    if (!Number.isFinite(here.numbers.stages.loss)) return; // the board refuses it
  }
}

test("no loss is said to rise at its lowest point, where rounding moves it up and down", () => {
  for (const [link, most] of [
    ["v=2&kernel=1", 24],
    ["v=2&size=4&kernel=2", 318],
    ["v=2&transposed=1", 606],
    ["v=2&batch=2", 806],
    ["v=2&input=ramp", 1248],
  ]) {
    const state = withLowestPoint(fromLink(link).state);
    for (const { step, verdict } of steps(state, safeChoice(state), most))
      assert.equal(verdict.rose, false, `${link}, step ${step}: ${verdict.text}`);
  }
});

test("a rise that lasts is said, and Play ends where nothing can be learned", () => {
  const state = withLowestPoint(fromLink("v=2&kernel=1").state);
  const [, first] = [...steps(state, 0.05, 1)];
  assert.match(first.verdict.text, /^The loss rose from .* to .*, because η = 0.05 jumps over the valley/);
  const last = [...steps(state, safeChoice(state), 300)].at(-1);
  assert.deepEqual([read(last.verdict.text).id, last.verdict.ends], ["lowest", true]);
  const none = [
    ...steps(replaced(state, { input: { kind: "values", values: [0], shape: [1, 1, 1, 1] } }), 1, 9),
  ].at(-1);
  assert.deepEqual([none.step, read(none.verdict.text).id], [0, "flat"]);
  const small = { kind: "values", values: [1e-12], shape: [1, 1, 1, 1] }; // its gradients are small, and not 0
  const [still] = [...steps(replaced(state, { input: small }), 1, 0)];
  assert.equal(read(still.verdict.text).id, "lowest", still.verdict.text);
  for (const { step, before, here, verdict } of steps(state, 5, 400))
    assert.ok(step === 0 || CLAIMS.rose(read(verdict.text), before, here), `step ${step}: ${verdict.text}`);
});

test("what is said of a step is true of it, over all states", () => {
  const draw = drawer(SEED);
  const met = new Map();
  for (let round = 0; round < STATES; round++) {
    const drawn = {
      ...randomState(draw),
      loss: draw(["half_squared_error", "half_squared_error", "cross_entropy", "cross_entropy", "sum"]),
    };
    const state = replaced(drawn, {});
    const safe = safeChoice(state) ?? RATES[0];
    const rate = draw(drawn.loss === "cross_entropy" ? RATES : [safe, safe, draw(RATES)]);
    for (const { step, before, here, verdict } of steps(state, rate, draw([4, 20, 120]))) {
      const said = read(verdict.text);
      const right = CLAIMS[said.id](said, before, here);
      const [all, wrong] = met.get(said.id) ?? [0, 0];
      met.set(said.id, [all + 1, wrong + Number(!right)]);
      if (!process.env.CONVVIZ_TALLY)
        assert.ok(right, `${toLink(state)} at ${rate}, step ${step}: ${verdict.text}`);
    }
  }
  if (process.env.CONVVIZ_TALLY)
    for (const [id, [all, wrong]] of met) console.log(`${all} ${wrong} false ${id}`);
  for (const id of Object.keys(CLAIMS).filter((each) => each !== "steep"))
    assert.ok(met.has(id), `never said: ${id}`);
});
