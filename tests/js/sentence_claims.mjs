// What each sentence about a cell claims: a function of what it says (its arguments, and which form it has), of the truth,
// and of the cell that it is said of.
import assert from "node:assert/strict";
import { formatNumber } from "../../convviz/web/base/format.js";
import { different, same } from "./conv_by_definition.mjs";

const AXES = [0, 1];
const number = (text) => Number(String(text).replace("−", "-"));
const places = (text) => [...text.matchAll(/\[(\d+),(\d+)\]/g)].map((found) => found.slice(1).map(Number));
const placeOf = ({ row, column }) => [Number(row), Number(column)];
const many = ({ form, count }) => (form === "one" ? 1 : Number(count));

/** The taps of a cell that meet a pixel, and how many meet padding. */
export const real = (truth, cell) => truth.of(cell).filter(({ i }) => i);
export const dropped = (truth, cell) => truth.of(cell).length - real(truth, cell).length;
/** The taps of the pixel that stands in a cell of padded_input, its copies' among them. */
export function readsOf(truth, { at }) {
  const pixel = truth.pixelAt(at);
  return pixel ? truth.of({ panel: "grad_input", at: pixel }) : [];
}
/** Whether stamps of one channel lie over each other anywhere: some cell is met by two. */
export function overlap({ taps }) {
  const met = taps.filter(({ i }) => i).map(({ at }) => at);
  return different(met) < met.length;
}

const copies = (truth, pixel) => truth.cells.filter((cell) => same(truth.pixelAt(cell), pixel)).length;

/** Of a pixel: how many windows read it, or how often it and its copies are read, in how many channels, and its terms. */
function readsAre(said, truth, cell) {
  const copied = said.id.startsWith("cell.copies");
  const reads = readsOf(truth, cell);
  const counted = copied ? reads.length : different(reads.map(({ o }) => o));
  const terms = Number(said.terms ?? many(said));
  return (
    many(said) === counted &&
    terms === reads.length * truth.outs &&
    Number(said.channels ?? 1) === truth.outs &&
    copied === copies(truth, truth.pixelAt(cell.at)) > 1
  );
}

/** Of a weight: in how many windows of how many samples it meets a pixel, and its terms. */
function productsAre(said, truth, cell) {
  const met = real(truth, cell);
  const terms = Number(said.terms ?? many(said));
  return (
    many(said) === different(met.map(({ o }) => o)) &&
    terms === met.length * truth.spec.batch &&
    Number(said.samples ?? 1) === truth.spec.batch
  );
}

/** Cells of the kernel as the windows come one after the other: backwards. A list may leave some out in the middle. */
function inOrder({ cells }, truth, cell) {
  const [found, list] = [real(truth, cell).map(({ k }) => k), places(cells)];
  const backwards = ([row, column], [next, across]) => next < row || (next === row && across < column);
  return (
    found.length > 1 &&
    list.slice(0, -1).every((place, index) => same(place, found[index])) &&
    same(list.at(-1), found.at(-1)) &&
    found.slice(1).every((k, index) => backwards(found[index], k))
  );
}

function oneStamp({ cells, channels }, truth, cell) {
  const found = real(truth, cell);
  return Number(channels ?? 1) === truth.outs && found.length === 1 && same(places(cells)[0], found[0].k);
}

/** A cell of grad_output, which at stride 1 stands in the band to the weight as well. */
function sent({ spec }, { panel, at }) {
  assert.ok(panel === "grad_output" || spec.stride.every((step) => step === 1), panel);
  return { panel: "grad_output", at };
}

/** The output cell whose gradient stands in a cell of the dilated or padded grad_output, or null. */
function outputAt({ spec, folds, windows }, { panel, at }) {
  const found = at.map((place, axis) => {
    const reach = spec.dilation[axis] * (spec.kernel_size[axis] - 1);
    const before = panel === "padded_grad_output" ? reach - (folds ? 0 : spec.padding[axis][0]) : 0;
    return (place - before) / spec.stride[axis];
  });
  const inside = found.every((place, axis) => Number.isInteger(place) && place >= 0 && place < windows[axis]);
  return inside ? found : null;
}

/** How the loss is called on its two sides: a transposed convolution is one read backwards. */
const lossPanels = ({ transposed }) => (transposed ? ["grad_input", "input"] : ["output", "grad_output"]);

function differenceIs(_, truth, { at }) {
  const [made, back] = lossPanels(truth).map((name) => truth.value(name, at));
  return Math.abs(made - truth.value("target", at) - back) < 1e-9;
}

/** Of a cell of the shown sample's output. */
function shareOf(truth, at) {
  const [made] = lossPanels(truth);
  const { data } = truth.stages[made];
  const size = data.length / truth.spec.batch;
  const sample = Array.from(data.slice(truth.n * size, (truth.n + 1) * size));
  const most = Math.max(...sample);
  const power = (value) => Math.exp(value - most);
  const share = power(truth.value(made, at)) / sample.map(power).reduce((sum, each) => sum + each, 0);
  return { share, most };
}

function shareIs(said, truth, { at }) {
  const [, back] = lossPanels(truth);
  const { share } = shareOf(truth, at);
  return (
    Number(said.count ?? 1) === truth.spec.batch &&
    same(placeOf(said), at) &&
    Math.abs(number(said.share) - share) < 0.005001 &&
    number(said.target) === truth.value("target", at) &&
    said.gradient === formatNumber(truth.value(back, at))
  );
}

/** A share is left out where no digit of it is left, and that is because another output is larger. */
function noShareIs(said, truth, cell) {
  const [made] = lossPanels(truth);
  const { share, most } = shareOf(truth, cell.at);
  return shareIs(said, truth, cell) && share < 1e-6 && truth.value(made, cell.at) < most - 10;
}

function turnedIs(said, truth, { at }) {
  const [from, size] = [placeOf(said), truth.spec.kernel_size];
  return (
    truth.value("weight", from) === truth.value("rotated_weight", at) &&
    AXES.every((axis) => from[axis] === size[axis] - 1 - at[axis])
  );
}

const stepsAre = ({ stride: stated }, { spec: { stride } }) =>
  stated === (stride[0] === stride[1] ? `${stride[0]}` : stride.join(" × "));
/** Whether the stride puts zeros between two outputs. */
const stretched = ({ spec, windows }) => AXES.some((axis) => spec.stride[axis] > 1 && windows[axis] > 1);
/** Whether any window reads a line of padded_input. */
const isRead = ({ taps }, axis, line) => taps.some(({ at }) => at[axis] === line);

/** Whether windows read some cell at the edge of what gets the gradient less often than the kernel has cells. */
function edgeIsReadLess({ cells }, truth) {
  const [panel, size] = truth.folds
    ? ["grad_padded_input", truth.padded]
    : ["grad_input", truth.spec.input_size];
  const edge = truth.cells.filter(
    (at) =>
      AXES.every((axis) => at[axis] < size[axis]) &&
      AXES.some((axis) => [0, size[axis] - 1].includes(at[axis])),
  );
  const [rows, columns] = truth.spec.kernel_size;
  return (
    Number(cells) === rows * columns && edge.some((at) => truth.of({ panel, at }).length < rows * columns)
  );
}

/** Whether some row or column of windows lies wholly in the padding. */
const windowsInPadding = ({ spec, taps, windows }) =>
  AXES.some((axis) =>
    [...Array(windows[axis]).keys()].some((o) =>
      taps
        .filter((tap) => tap.o[axis] === o)
        .every(({ at }) => {
          const place = at[axis] - spec.padding[axis][0];
          return place < 0 || place >= spec.input_size[axis];
        }),
    ),
  );

/** Whether no window reads what the stride leaves over at the end of padded_input. */
const remainderIsUnread = (truth) =>
  AXES.every((axis) => {
    const { padded, spec } = truth;
    const rest = (padded[axis] - spec.dilation[axis] * (spec.kernel_size[axis] - 1) - 1) % spec.stride[axis];
    return [...Array(rest).keys()].every((line) => !isRead(truth, axis, padded[axis] - 1 - line));
  });

/** Whether as many lines of a transposed convolution's output are reached by nothing as a sentence says. */
const bareAre = ({ lines }, truth) =>
  ["row", "column"].every((name, axis) => {
    const stated = Number(lines.match(new RegExp(`(\\d+) ${name}`))?.[1] ?? 0);
    const all = [...Array(truth.spec.input_size[axis]).keys()];
    return stated === all.filter((line) => !isRead(truth, axis, line + truth.spec.padding[axis][0])).length;
  });

/** Whether some cell of the padded grad_output is no output's. */
function zerosAround(truth) {
  const [rows, columns] = truth.stages.padded_grad_output.shape.slice(2);
  const cells = Array.from({ length: rows * columns }, (_, at) => [Math.floor(at / columns), at % columns]);
  return cells.some((at) => !outputAt(truth, { panel: "padded_grad_output", at }));
}

/** Whether grad_output is output, or output less the target where there is one. */
function isOutputLess(target, { stages, transposed }) {
  const [made, back] = lossPanels({ transposed }).map((name) => stages[name].data);
  return made.every(
    (value, index) => Math.abs(value - (target ? stages.target.data[index] : 0) - back[index]) < 1e-9,
  );
}

export const CLAIMS = {
  "cell.windows": readsAre,
  "cell.windows.channels": readsAre,
  "cell.copies": readsAre,
  "cell.copies.channels": readsAre,
  "cell.not_zero": (said, truth, cell) => many(said) === truth.notZero(readsOf(truth, cell)),
  "cell.all_zero": (_, truth, cell) => truth.notZero(readsOf(truth, cell)) === 0,
  "cell.padding": (_, truth, cell) => !truth.pixelAt(cell.at),
  "cell.unread": (_, truth, cell) => truth.pixelAt(cell.at) && readsOf(truth, cell).length === 0,
  "cell.products": productsAre,
  "cell.products.samples": productsAre,
  "cell.in_padding": (said, truth, cell) => many(said) === dropped(truth, cell),
  "cell.unread_weight": (_, truth, cell) => real(truth, cell).length === 0,
  "cell.grad_output": ({ value }, truth, cell) =>
    value === formatNumber(truth.value("grad_output", cell.at)) && real(truth, sent(truth, cell)).length > 0,
  "cell.dropped": (said, truth, cell) => many(said) === dropped(truth, sent(truth, cell)),
  "cell.stamps_nothing": (_, truth, cell) => real(truth, sent(truth, cell)).length === 0,
  "cell.rotated_weight": turnedIs,
  "cell.copied_gradient": (said, truth, cell) => same(placeOf(said), outputAt(truth, cell)),
  "cell.no_window": (_, truth, cell) => !outputAt(truth, cell) && truth.value(cell.panel, cell.at) === 0,
  "cell.difference": differenceIs,
  "cell.target.cross_entropy": (said, truth, cell) => shareIs(said, truth, cell) && said.share !== "0",
  "cell.target.cross_entropy.no_share": noShareIs,
  "pairs.copies": ({ cells }, truth, { at }) => Number(cells) === copies(truth, at) && copies(truth, at) > 1,
  "pairs.none": (_, truth, cell) => real(truth, cell).length === 0,
  "pairs.one": oneStamp,
  "pairs.one.channels": oneStamp,
  "pairs.point": (_, truth) => overlap(truth),
  "pairs.stamps": inOrder,
  "pairs.window": inOrder,
  "because.rotated": (_, { spec }) => Math.max(...spec.kernel_size) > 1,
  "because.swapped": ({ out_channels, in_channels }, { ins, outs }) =>
    Number(out_channels) === outs && Number(in_channels) === ins && ins * outs > 1,
  "because.inserted": (said, truth) => stepsAre(said, truth) && stretched(truth),
  "because.border": edgeIsReadLess,
  "because.remainder": (said, truth) =>
    stepsAre(said, truth) && AXES.some((axis) => !isRead(truth, axis, truth.padded[axis] - 1)),
  "because.folded": ({ mode }, { spec, cells }) =>
    mode === spec.padding_mode && cells.length > spec.input_size[0] * spec.input_size[1],
  "caption.layer.zeros": (_, truth) => zerosAround(truth),
  "caption.loss.half_squared_error": (_, truth) => isOutputLess(true, truth),
  "caption.loss.half_squared_error.zeros": (_, truth) => isOutputLess(false, truth),
  "caption.loss.cross_entropy": ({ count }, { spec }) => Number(count ?? 1) === spec.batch,
  "padding.zeros": (_, truth) => stretched(truth),
  "padding.cropped": (_, truth) => windowsInPadding(truth),
  "stamps.dropped": (_, { taps }) => taps.some(({ i }) => !i),
  "stamps.remainder": (_, truth) => remainderIsUnread(truth),
  "layer.bare": (said, truth) => !truth.settings.bias && bareAre(said, truth),
  "layer.bare_bias": (said, truth) => Boolean(truth.settings.bias) && bareAre(said, truth),
};
