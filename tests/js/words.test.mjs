// Every sentence about a cell, over random states, for every cell of every panel: what it counts or excludes is counted
// again in the products of the definition, one by one.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";

import { isUnread } from "../../convviz/board/js/board/grid_marks.js";
import { formatNumber } from "../../convviz/board/js/base/format.js";
import { fromPage } from "../../convviz/board/js/numbers/from_page.js";
import { createPageModel } from "../../convviz/board/js/numbers/model.js";
import { backwardWords } from "../../convviz/board/js/picture/cell_words.js";
import { createLinks } from "../../convviz/board/js/picture/links.js";
import { fromLoss } from "../../convviz/board/js/picture/loss_words.js";
import { createPairing, stampLinks } from "../../convviz/board/js/picture/stamps.js";
import { createTerms } from "../../convviz/board/js/picture/terms.js";
import { becauseWords, topicsOf } from "../../convviz/board/js/picture/topics.js";
import { createTrayMemory } from "../../convviz/board/js/picture/tray.js";
import { noteOf } from "../../convviz/board/js/picture/words.js";
import { fromLink, toLink } from "../../convviz/board/js/rules/link.js";
import { replaced } from "../../convviz/board/js/rules/settings.js";
import { isPossible } from "../../convviz/board/js/rules/spec.js";

const STATES = Number(process.env.CONVVIZ_STATES ?? 120);
const SEED = Number(process.env.CONVVIZ_SEED ?? 1);
const SUMS = ["output", "grad_input", "grad_padded_input", "grad_weight"];
const sentencesIn = (/** @type {string} */ name) =>
  JSON.parse(readFileSync(new URL(`../../convviz/facts/words/${name}.json`, import.meta.url), "utf8"));

// -- states

/** Numbers that are the same at every run. */
function drawer(seed) {
  let word = seed >>> 0;
  const next = () => {
    word = (word + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(word ^ (word >>> 15), word | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  return (choices) => choices[Math.floor(next() * choices.length)];
}

/** A state of any kind, of few cells. */
function randomState(draw) {
  const transposed = draw([false, false, true]);
  const mode = transposed ? "zeros" : draw(["zeros", "zeros", "reflect", "replicate", "circular"]);
  const groups = draw([1, 1, 1, 2, 3]);
  for (;;) {
    const pair = (choices) => (draw([true, false]) ? Array(2).fill(draw(choices)) : [draw(choices), draw(choices)]);
    const sides = () => [draw([0, 1, 1, 2, 3]), draw([0, 1, 1, 2, 3])];
    const even = draw([0, 0, 1, 2]);
    const spec = {
      version: 1, input_size: pair([1, 2, 3, 4, 5, 6]), kernel_size: pair([1, 2, 3, 3, 4]), stride: pair([1, 1, 2, 3]),
      padding: draw([true, false]) ? [[even, even], [even, even]] : [sides(), sides()], dilation: pair([1, 1, 2]), groups,
      in_channels: groups * draw([1, 1, 2]), out_channels: groups * draw([1, 1, 2, 3]), padding_mode: mode, batch: draw([1, 1, 2]),
    };
    if (!isPossible(spec) || spec.out_channels > 8) continue;
    const loss = draw(["weighted_sum", "weighted_sum", "sum", "mean", "half_squared_error", "cross_entropy"]);
    const at = () => draw([0, 1, 2, 3]);
    const grad = draw([{ kind: "random" }, { kind: "ones" }, { kind: "one_hot", values: [at(), at(), at(), at()] },
      { kind: "one_hot", values: [0, 0, at(), at()] }, { kind: "values", values: [1, 5], shape: [1, 2, 1, 1] }]);
    const base = fromLink(draw(["v=1", "v=2"])).state;
    return replaced(base, {
      spec, loss, grad, transposed, target: loss === "cross_entropy" ? { kind: "one_hot" } : draw([{ kind: "random" }, { kind: "zeros" }]),
      weight: draw([{ kind: "sobel_x" }, { kind: "counting" }, { kind: "random" }]), input: { kind: "random" },
      bias: draw([null, { kind: "values", values: [1, -2, 3], shape: [3] }]), input_view: draw(["window", "stamps"]),
      plane: draw([{ sample: 0, out_channel: 0, in_channel: at() }, { sample: at(), out_channel: at(), in_channel: at() }]),
    });
  }
}

// -- truth

/** Which line of the input stands on a place of the padded one; null for a zero. The modes as numpy's pad defines them. */
function lineAt(place, size, mode) {
  if (place >= 0 && place < size) return place;
  if (mode === "zeros") return null;
  if (mode === "replicate") return place < 0 ? 0 : size - 1;
  const period = mode === "circular" ? size : Math.max(2 * size - 2, 1);
  const turned = ((place % period) + period) % period;
  return turned < size ? turned : period - turned;
}

/** Every product of one plane with another: o, k as [row, column], the padded cell and the pixel, or null on padding. */
function tapsOf({ spec }) {
  const lines = [0, 1].map((axis) => {
    const [before, after] = spec.padding[axis];
    const [size, kernel, stride, dilation] = ["input_size", "kernel_size", "stride", "dilation"].map((name) => spec[name][axis]);
    const found = [];
    for (let start = 0, o = 0; start + dilation * (kernel - 1) < before + size + after; start += stride, o++) {
      for (let k = 0; k < kernel; k++) {
        const at = start + k * dilation;
        found.push({ o, k, at, i: lineAt(at - before, size, spec.padding_mode) });
      }
    }
    return found;
  });
  return lines[0].flatMap((down) => lines[1].map((right) => ({
    o: [down.o, right.o], k: [down.k, right.k], at: [down.at, right.at],
    i: down.i === null || right.i === null ? null : [down.i, right.i],
  })));
}

const same = (one, other) => Boolean(one && other) && one[0] === other[0] && one[1] === other[1];
const different = (places) => new Set(places.map(String)).size;

/** All that is known of a state by the definition. */
function truthOf(settings, stages) {
  const { spec, plane, transposed } = settings;
  const taps = tapsOf(settings);
  const [ins, outs] = [spec.in_channels / spec.groups, spec.out_channels / spec.groups];
  const { sample: n, out_channel: o, in_channel: c } = plane;
  const channels = Array.from({ length: outs }, (_, j) => Math.floor(c / ins) * outs + j);
  const at = (tensor, ...index) => tensor.data[index.reduce((place, one, axis) => place * tensor.shape[axis] + one, 0)];
  const pixelAt = (cell) => {
    const found = [0, 1].map((axis) => lineAt(cell[axis] - spec.padding[axis][0], spec.input_size[axis], spec.padding_mode));
    return found.includes(null) ? null : found;
  };
  const padded = [0, 1].map((axis) => spec.padding[axis][0] + spec.input_size[axis] + spec.padding[axis][1]);
  const cells = Array.from({ length: padded[0] * padded[1] }, (_, index) => [Math.floor(index / padded[1]), index % padded[1]]);
  const outputs = [0, 1].map((axis) => Math.max(...taps.map((tap) => tap.o[axis])) + 1);
  return {
    settings, spec, stages, taps, ins, outs, n, o, c, at, pixelAt, padded, cells, outputs, transposed,
    folds: spec.padding_mode !== "zeros",
    /** The taps that a cell of a sum adds up in one channel, or that a cell is a factor of. */
    of(panel, cell) {
      if (panel === "output" || panel === "grad_output") return taps.filter((tap) => same(tap.o, cell));
      if (panel === "grad_weight" || panel === "weight") return taps.filter((tap) => same(tap.k, cell));
      return taps.filter((tap) => same(panel === "grad_input" ? tap.i : tap.at, cell));
    },
    /** How often each pixel's gradient is not 0 by a product. */
    notZero: (reads) => reads.flatMap(({ o, k }) => channels.map((channel) =>
      at(stages.grad_output, n, channel, ...o) * at(stages.weight, channel, c % ins, ...k))).filter((value) => value !== 0).length,
    value: (name, [row, column], first, second) => at(stages[name], first, second, row, column),
    factors: { output: ins, grad_weight: spec.batch, grad_input: outs, grad_padded_input: outs },
  };
}

// -- what a sentence claims: by its id a function of its arguments (a form's name is `form`), the truth and the cell

const number = (text) => Number(String(text).replace("−", "-"));
const places = (text) => [...text.matchAll(/\[(\d+),(\d+)\]/g)].map(([, row, column]) => [Number(row), Number(column)]);
const reached = (truth, { panel, at }) => truth.of(panel, at);
const pixelReads = (truth, { at }) => {
  const pixel = truth.pixelAt(at);
  return pixel ? truth.of("grad_input", pixel) : [];
};
const copies = (truth, pixel) => truth.cells.filter((cell) => same(truth.pixelAt(cell), pixel)).length;
const overlap = (truth) => truth.cells.some((cell) => truth.of("grad_padded_input", cell).filter(({ i }) => i).length > 1);
const many = ({ form, count }) => (form === "one" ? 1 : Number(count));

/** Of a pixel: how many windows or reads there are, in how many channels, and how many terms. */
function readsAre(said, truth, cell, copied) {
  const reads = pixelReads(truth, cell);
  const counted = copied ? reads.length : different(reads.map(({ o }) => o));
  const terms = said.terms ?? many(said);
  return many(said) === counted && Number(terms) === reads.length * truth.outs && (said.channels ? Number(said.channels) === truth.outs : truth.outs === 1)
    && copied === copies(truth, truth.pixelAt(cell.at)) > 1 && (!copied || Number(said.places) === copies(truth, truth.pixelAt(cell.at)));
}

function productsAre(said, truth, cell) {
  const met = reached(truth, cell).filter(({ i }) => i);
  const terms = said.terms ?? many(said);
  return many(said) === different(met.map(({ o }) => o)) && Number(terms) === met.length * truth.spec.batch && Number(said.samples ?? 1) === truth.spec.batch;
}

const dropped = (truth, cell) => reached(truth, cell).filter(({ i }) => !i).length;
const real = (truth, cell) => reached(truth, cell).filter(({ i }) => i);
const inOrder = (truth, cell, list) => {
  const found = real(truth, cell).map(({ k }) => k);
  const [first, last] = [list.slice(0, -1), list.at(-1)];
  return found.length > 1 && first.every((place, index) => same(place, found[index])) && same(last, found.at(-1))
    && found.every((k, index) => !index || k[0] < found[index - 1][0] || (k[0] === found[index - 1][0] && k[1] < found[index - 1][1]));
};
const shown = (truth, name) => (name === "weight" ? [truth.o, truth.c % truth.ins] : [truth.n, truth.o]);

const CLAIMS = {
  "cell.windows": (said, truth, cell) => readsAre(said, truth, cell, false),
  "cell.windows.channels": (said, truth, cell) => readsAre(said, truth, cell, false),
  "cell.copies": (said, truth, cell) => readsAre(said, truth, cell, true),
  "cell.copies.channels": (said, truth, cell) => readsAre(said, truth, cell, true),
  "cell.not_zero": (said, truth, cell) => many(said) === truth.notZero(pixelReads(truth, cell)),
  "cell.all_zero": (_, truth, cell) => truth.notZero(pixelReads(truth, cell)) === 0,
  "cell.unread": (_, truth, cell) => pixelReads(truth, cell).length === 0,
  "cell.products": productsAre,
  "cell.products.samples": productsAre,
  "cell.in_padding": (said, truth, cell) => many(said) === dropped(truth, cell),
  "cell.unread_weight": (_, truth, cell) => real(truth, cell).length === 0,
  "cell.grad_output": ({ value }, truth, cell) => value === formatNumber(truth.value("grad_output", cell.at, truth.n, truth.o)) && real(truth, cell).length > 0,
  "cell.dropped": (said, truth, cell) => many(said) === dropped(truth, cell),
  "cell.stamps_nothing": (_, truth, cell) => real(truth, cell).length === 0,
  "cell.rotated_weight": ({ row, column }, truth, cell) =>
    truth.value("weight", [Number(row), Number(column)], ...shown(truth, "weight")) === truth.at(truth.stages.rotated_weight, truth.c, truth.o % truth.outs, ...cell.at)
    && [row, column].every((place, axis) => Number(place) === truth.spec.kernel_size[axis] - 1 - cell.at[axis]),
  "cell.copied_gradient": ({ row, column }, truth, cell) => same([Number(row), Number(column)], outputAt(truth, cell)),
  "cell.no_window": (_, truth, cell) => outputAt(truth, cell) === null && truth.value(cell.panel, cell.at, truth.n, truth.o) === 0,
  "cell.difference": (_, truth, { at }) => {
    const [made, back] = truth.transposed ? ["grad_input", "input"] : ["output", "grad_output"];
    const plane = truth.transposed ? [truth.n, truth.c] : [truth.n, truth.o];
    return Math.abs(truth.value(made, at, ...plane) - truth.value("target", at, ...plane) - truth.value(back, at, ...plane)) < 1e-9;
  },
  "cell.target.cross_entropy": ({ count, share, target, gradient, row, column }, truth, { at }) => {
    const [made, back, channel] = truth.transposed ? ["grad_input", "input", truth.c] : ["output", "grad_output", truth.o];
    const size = truth.stages[made].data.length / truth.spec.batch;
    const sample = [...truth.stages[made].data.slice(truth.n * size, (truth.n + 1) * size)];
    const most = Math.max(...sample);
    const total = sample.reduce((sum, value) => sum + Math.exp(value - most), 0);
    const right = Math.exp(truth.value(made, at, truth.n, channel) - most) / total;
    return Number(count ?? 1) === truth.spec.batch && same([Number(row), Number(column)], at) && Math.abs(number(share) - right) <= 0.00501
      && number(target) === truth.value("target", at, truth.n, channel) && gradient === formatNumber(truth.value(back, at, truth.n, channel));
  },
  "pairs.copies": ({ cells }, truth, { at }) => Number(cells) === copies(truth, at) && copies(truth, at) > 1,
  "pairs.none": (_, truth, cell) => real(truth, cell).length === 0,
  "pairs.one": ({ cells }, truth, cell) => truth.outs === 1 && real(truth, cell).length === 1 && same(places(cells)[0], real(truth, cell)[0].k),
  "pairs.one.channels": ({ cells, channels }, truth, cell) =>
    Number(channels) === truth.outs && real(truth, cell).length === 1 && same(places(cells)[0], real(truth, cell)[0].k),
  "pairs.point": (_, truth) => overlap(truth),
  "pairs.stamps": ({ cells }, truth, cell) => inOrder(truth, cell, places(cells)),
  "pairs.window": ({ cells }, truth, cell) => inOrder(truth, cell, places(cells)),
  "because.rotated": (_, { spec }) => Math.max(...spec.kernel_size) > 1,
  "because.swapped": (said, truth) => Number(said.out_channels) === truth.outs && Number(said.in_channels) === truth.ins && truth.outs + truth.ins > 2,
  "because.inserted": ({ stride }, truth) => stepsAre(stride, truth) && stretched(truth),
  "because.border": ({ cells }, truth) => Number(cells) === truth.spec.kernel_size[0] * truth.spec.kernel_size[1] && edge(truth).some((reads) => reads.length < Number(cells)),
  "because.remainder": ({ stride }, truth) => stepsAre(stride, truth) && [0, 1].some((axis) => !truth.taps.some(({ at }) => at[axis] === truth.padded[axis] - 1)),
  "because.folded": ({ mode }, truth) => mode === truth.spec.padding_mode && truth.cells.length > truth.spec.input_size[0] * truth.spec.input_size[1],
  "padding.zeros": (_, truth) => stretched(truth),
  "padding.cropped": ({}, truth) => truth.outputs.some((count, axis) =>
    Array.from({ length: count }, (_, o) => truth.taps.filter((tap) => tap.o[axis] === o)).some((window) => window.every(({ at }) => {
      const place = at[axis] - truth.spec.padding[axis][0];
      return place < 0 || place >= truth.spec.input_size[axis];
    }))),
  "stamps.dropped": (_, { taps }) => taps.some(({ i }) => !i),
  "stamps.remainder": (_, truth) => truth.spec.padding.every(([before, after], axis) => {
    const rest = (truth.padded[axis] - truth.spec.dilation[axis] * (truth.spec.kernel_size[axis] - 1) - 1) % truth.spec.stride[axis];
    return !truth.taps.some(({ at }) => at[axis] >= before + truth.spec.input_size[axis] + after - rest);
  }),
  "layer.bare": (said, truth) => !truth.settings.bias && bare(said, truth),
  "layer.bare_bias": (said, truth) => Boolean(truth.settings.bias) && bare(said, truth),
};

const stepsAre = (told, { spec: { stride } }) => told === (stride[0] === stride[1] ? String(stride[0]) : stride.join(" × "));
const stretched = ({ spec, outputs }) => outputs.some((count, axis) => spec.stride[axis] > 1 && count > 1);
const edge = (truth) => {
  const [name, size] = truth.folds ? ["grad_padded_input", truth.padded] : ["grad_input", truth.spec.input_size];
  const lines = [0, 1].flatMap((axis) => [0, size[axis] - 1].flatMap((line) =>
    Array.from({ length: size[1 - axis] }, (_, other) => (axis ? [other, line] : [line, other]))));
  return lines.map((cell) => truth.of(name, cell));
};
const bare = ({ lines }, truth) => [["row", 0], ["column", 1]].every(([name, axis]) => {
  const told = Number(lines.match(new RegExp(`(\\d+) ${name}`))?.[1] ?? 0);
  return told === truth.spec.input_size[axis] - different(truth.taps.map(({ at }) => at[axis] - truth.spec.padding[axis][0])
    .filter((line) => line >= 0 && line < truth.spec.input_size[axis]));
});

/** The output cell whose gradient stands in a cell of the dilated or padded grad_output, or null. */
function outputAt({ spec, folds, outputs }, { panel, at }) {
  const found = at.map((place, axis) => {
    const before = panel === "padded_grad_output" ? spec.dilation[axis] * (spec.kernel_size[axis] - 1) - (folds ? 0 : spec.padding[axis][0]) : 0;
    return (place - before) / spec.stride[axis];
  });
  return found.every((place, axis) => Number.isInteger(place) && place >= 0 && place < outputs[axis]) ? found : null;
}

// -- sentences are read as they are written

const escaped = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
const NUMBERS = ["count", "places", "channels", "terms", "samples", "row", "column", "out_channels", "in_channels"];

/** A sentence as a pattern, whose groups are its arguments. */
function patternOf(id, words) {
  const met = new Set();
  return escaped(words).replace(/\\\{(\w+)\\\}/g, (_, name) => {
    if (met.has(name)) return `\\k<${name}>`;
    met.add(name);
    return `(?<${name}>${NUMBERS.includes(name) || id === "pairs.copies" && name === "cells" ? "\\d+" : ".+?"})`;
  });
}

const CHECKED = { picture: /^(cell\.|pairs\.|padding\.(zeros|cropped)$|stamps\.|layer\.bare)/, because: /^because\./ };
const FORMS = Object.entries(CHECKED).flatMap(([file, ids]) => Object.entries(sentencesIn(file)).filter(([id]) => ids.test(id)).flatMap(([id, text]) =>
  Object.entries(typeof text === "string" ? { other: text } : text).map(([form, words]) => {
    const pattern = patternOf(id, words);
    return { id, form, first: new RegExp(`^(?:${pattern})(?: |$)`), anywhere: new RegExp(pattern, "gi") };
  })));

/** What a text says, sentence by sentence; a sentence that nobody knows is an error. */
function readAll(text) {
  const found = [];
  for (let rest = text.trim(); rest; ) {
    const hits = FORMS.map(({ id, form, first }) => ({ id, form, hit: first.exec(rest) })).filter(({ hit }) => hit);
    assert.ok(hits.length, `nobody checks: ${rest}`);
    const longest = hits.reduce((one, other) => (other.hit[0].length > one.hit[0].length ? other : one));
    found.push({ id: longest.id, form: longest.form, ...longest.hit.groups });
    rest = rest.slice(longest.hit[0].length);
  }
  return found;
}

/** What of a text is known, wherever it stands: notes have more to say than what is counted here. */
const readSome = (text) => FORMS.filter(({ id }) => /^(padding|stamps|layer)/.test(id))
  .flatMap(({ id, form, anywhere }) => [...text.matchAll(anywhere)].map(({ groups }) => ({ id, form, ...groups })));

// -- all sentences of one state

/** @param {(said: any, truth: any, cell: any, right: boolean) => void} tell of each sentence whether it is right */
function recount(settings, tell) {
  const model = createPageModel({ state: settings, colorscales: { light: [], dark: [] }, plotly: null }, fromPage);
  const [structure, numbers, { stages }] = [model.get("structure"), model.get("values"), model.shown().numbers];
  const truth = truthOf(settings, stages);
  const panels = new Map(structure.equations.flatMap(({ items }) => items.filter(({ key }) => key)).reverse().map((item) => [item.name, item]));
  const valueAt = (panel, row, column) => (panels.has(panel) ? numbers.planes[panel][row * panels.get(panel).columns.length + column] : undefined);
  const links = createLinks(structure.geometry);
  const terms = createTerms(links, (name) => panels.get(name), numbers);
  const hold = (said, cell) => {
    assert.ok(CLAIMS[said.id], `nobody checks ${said.id}`);
    tell(said, truth, cell, Boolean(CLAIMS[said.id](said, truth, cell)));
  };
  const check = (id, cell, right, said = {}) => tell({ id, ...said }, truth, cell, right);
  let aside = "";
  const pairing = createPairing({ aside: (text) => (aside = text) });
  const band = structure.equations.find(({ name }) => name === "input").items.filter(({ key }) => key)
    .map((item) => ({ spec: () => item, grid: { numbered: () => true }, veil: { badges: () => {} } }));

  for (const [panel, item] of panels) {
    if (["bias", "grad_bias"].includes(panel)) continue;
    for (let row = 0; row < item.rows.length; row++) for (let column = 0; column < item.columns.length; column++) {
      const cell = { panel, row, column, at: [row, column] };
      const text = SUMS.includes(panel) || settings.transposed ? "" : backwardWords(links, terms, cell, valueAt);
      const made = SUMS.includes(panel) ? null : fromLoss(settings.loss, structure.geometry, cell, valueAt);
      const ofLoss = made && (made.words !== "output − target" || made.difference.length) ? made.words : "";
      const said = [...readAll(text), ...(ofLoss === "output − target" ? [{ id: "cell.difference", form: "other" }] : readAll(ofLoss))];
      for (const each of said) hold(each, cell);
      const ids = said.map(({ id }) => id);
      // What is not said must not be missing.
      if (!settings.transposed && panel === "padded_input" && !ids.includes("cell.unread")) {
        const reads = pixelReads(truth, cell);
        if (!ids.some((id) => /zero/.test(id))) check("cell.not_zero unsaid", cell, truth.notZero(reads) === reads.length * truth.outs);
      }
      if (!settings.transposed && panel === "weight" && !ids.includes("cell.unread_weight") && !ids.includes("cell.in_padding")) {
        check("cell.in_padding unsaid", cell, dropped(truth, cell) === 0);
      }
      if (!settings.transposed && panel === "grad_output" && !ids.includes("cell.stamps_nothing") && !ids.includes("cell.dropped")) {
        check("cell.dropped unsaid", cell, dropped(truth, cell) === 0);
      }
      if (["grad_input", "grad_padded_input"].includes(panel)) {
        pairing.forget();
        pairing.show(cell, () => band, links);
        const told = readAll(aside);
        for (const each of told) hold(each, cell);
        if (told[0].id.startsWith("pairs.one") && told.length === 1) check("pairs.point unsaid", cell, !overlap(truth));
      }
      if (SUMS.includes(panel)) {
        const products = terms.of(cell).filter(([one]) => one.panel !== "bias");
        const added = panel === "grad_input" ? real(truth, cell) : panel === "grad_padded_input" ? reached(truth, cell) : real(truth, cell);
        // Where there is none, the page says that there is nothing but padding, or that nothing reads or reaches the cell.
        const why = ["output", "grad_weight"].includes(panel) ? "sum.padding" : "sum.nothing";
        if (!products.length) check(why, cell, (reached(truth, cell).length > 0) === (why === "sum.padding"));
        check("sum", cell, products.length === added.length * truth.factors[panel], { count: products.length });
        const [first, second] = item.at;
        const total = terms.of(cell).reduce((sum, factors) => sum + factors.reduce((product, { value }) => product * value, 1), 0);
        check("sum =", cell, Math.abs(total - truth.value(panel, cell.at, first, second)) <= 1e-9 * (1 + Math.abs(total)), { total });
      }
      if (["padded_input", "grad_padded_input", "grad_input"].includes(panel)) {
        check("cell.unread role", cell, isUnread(item, row, column) === (reached(truth, cell).length === 0));
      }
      if (panel === "grad_output") {
        const stamped = stampLinks(structure.geometry, truth.folds ? "grad_padded_input" : "grad_input", [row, column]).filter((link) => link.panel === "weight");
        check("step.stamps", cell, stamped.length === reached(truth, cell).length && stamped.filter((link) => !link.real).length === dropped(truth, cell));
      }
    }
  }
  for (const { name, view, items } of structure.equations) {
    for (const each of readSome(noteOf(settings, name, view))) hold(each, { panel: name });
    for (const topic of topicsOf(name, items.filter(({ key }) => key), structure.geometry)) {
      for (const each of readAll(becauseWords(topic, structure.geometry))) hold(each, { panel: name });
    }
  }
  if (!settings.transposed) recountTray(truth, structure.geometry, numbers, check);
}

/** The tray, full from the beginning: what a pixel gets from a 1 at each place of grad_output, all else 0. */
function recountTray(truth, geometry, numbers, check) {
  const { spec } = truth;
  for (let row = 0; row < spec.input_size[0]; row++) for (let column = 0; column < spec.input_size[1]; column++) {
    const memory = createTrayMemory();
    memory.begin(true);
    const tray = memory.see(geometry, numbers, { row, column });
    tray?.rows.forEach((line, down) => line.forEach((value, across) => {
      const place = [down / spec.stride[0], across / spec.stride[1]];
      const taps = truth.of("grad_input", [row, column]).filter(({ o }) => same(o, place));
      const right = taps.reduce((sum, { k }) => sum + truth.value("weight", k, truth.o, truth.c % truth.ins), 0);
      const cell = { panel: "grad_input", at: [row, column] };
      check("tray", cell, place.every(Number.isInteger) ? Math.abs(Number(value) - right) < 1e-9 : value === "gap", { place, value });
    }));
  }
}

test("every count and every all, only and no that is said of a cell is true", () => {
  const draw = drawer(SEED);
  /** @type {Record<string, { states: Set<string>, cells: number, wrong: number, first: string }>} */
  const tally = {};
  // The places that were wrong once come first.
  const links = [
    "v=1", "v=2&out_channels=3", "v=1&batch=2", "v=2&padding=1&mode=replicate", "v=2&padding=2&mode=circular", "v=2&groups=2&in_channels=2&out_channels=2",
    "v=2&transposed=1&size=6&stride=2&padding=1&view=stamps", "v=2&kernel=1&mode=reflect", "v=2&size=2&padding=3&view=stamps",
  ];
  const states = [...links.map((link) => fromLink(link).state), ...Array.from({ length: STATES }, () => randomState(draw))];
  states.forEach((settings, index) => recount(settings, (said, truth, cell, right) => {
    const kept = (tally[said.id] ??= { states: new Set(), cells: 0, wrong: 0, first: "" });
    kept.states.add(String(index));
    kept.cells += 1;
    kept.wrong += Number(!right);
    if (!right) kept.first ||= `${toLink(settings)} ${cell.panel}[${cell.at}]: ${JSON.stringify(said)}`;
  }));
  if (process.env.CONVVIZ_TALLY) {
    for (const [id, { states, cells, wrong, first }] of Object.entries(tally).sort()) console.log(`${id}\t${states.size}\t${cells}\t${wrong}\t${first}`);
  }
  assert.deepEqual(Object.entries(tally).filter(([, { wrong }]) => wrong).map(([id, { wrong, first }]) => `${id}, ${wrong} times, ${first}`), []);
  assert.deepEqual(Object.keys(CLAIMS).filter((id) => !tally[id]), [], "each sentence was met");
});
