// Random states of few cells, and every product of theirs one by one, from the definition of a convolution alone.
import { fromLink } from "../../convviz/web/rules/settings_link.js";
import { replaced } from "../../convviz/web/rules/settings_and_tensors.js";
import { isPossible } from "../../convviz/web/rules/conv_geometry.js";

/** A function that draws from choices, and draws the same at every run. @param {number} seed */
export function drawer(seed) {
  let word = seed >>> 0;
  return (choices) => {
    word = (word + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(word ^ (word >>> 15), word | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return choices[Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * choices.length)];
  };
}

/** A geometry of any kind that conv2d takes. */
function randomSpec(draw, transposed) {
  const groups = draw([1, 1, 1, 2, 3]);
  const padding_mode = transposed ? "zeros" : draw(["zeros", "zeros", "reflect", "replicate", "circular"]);
  const pair = (choices) =>
    draw([true, false]) ? Array(2).fill(draw(choices)) : [draw(choices), draw(choices)];
  for (;;) {
    const even = draw([0, 0, 1, 2]);
    const sides = () => [draw([0, 1, 1, 2, 3]), draw([0, 1, 1, 2, 3])];
    const spec = {
      version: 1,
      batch: draw([1, 1, 2]),
      groups,
      padding_mode,
      in_channels: groups * draw([1, 1, 2]),
      out_channels: groups * draw([1, 1, 2]),
      input_size: pair([1, 2, 3, 4, 5, 6]),
      kernel_size: pair([1, 2, 3, 3, 4]),
      stride: pair([1, 1, 2, 3]),
      dilation: pair([1, 1, 2]),
      padding: draw([true, false])
        ? [
            [even, even],
            [even, even],
          ]
        : [sides(), sides()],
    };
    if (isPossible(spec)) return spec;
  }
}

/** A state of any kind. @param {ReturnType<typeof drawer>} draw */
export function randomState(draw) {
  const transposed = draw([false, false, true]);
  const loss = draw(["weighted_sum", "weighted_sum", "sum", "mean", "half_squared_error", "cross_entropy"]);
  const at = () => draw([0, 1, 2, 3]);
  return replaced(fromLink(draw(["v=1", "v=2"])).state, {
    spec: randomSpec(draw, transposed),
    transposed,
    loss,
    input: { kind: "random" },
    target: loss === "cross_entropy" ? { kind: "one_hot" } : draw([{ kind: "random" }, { kind: "zeros" }]),
    grad: draw([
      { kind: "random" },
      { kind: "ones" },
      { kind: "one_hot", values: [at(), at(), at(), at()] },
      { kind: "one_hot", values: [0, 0, at(), at()] },
      { kind: "values", values: [1, 5], shape: [1, 2, 1, 1] },
    ]),
    weight: draw([{ kind: "sobel_x" }, { kind: "counting" }, { kind: "random" }]),
    bias: draw([null, { kind: "values", values: [1, -2, 3], shape: [3] }]),
    input_view: draw(["window", "stamps"]),
    plane: draw([
      { sample: 0, out_channel: 0, in_channel: at() },
      { sample: at(), out_channel: at(), in_channel: at() },
    ]),
  });
}

/** Which line of the input stands on a place of the padded one; null for a zero. The modes are those of numpy's pad. */
function lineAt(place, size, mode) {
  if (place >= 0 && place < size) return place;
  if (mode === "zeros") return null;
  if (mode === "replicate") return place < 0 ? 0 : size - 1;
  const period = mode === "circular" ? size : Math.max(2 * size - 2, 1);
  const turned = ((place % period) + period) % period;
  return turned < size ? turned : period - turned;
}

/** Every product of two planes: output cell o, kernel cell k, padded cell `at`, and its pixel i, or null on padding. */
function tapsOf(spec) {
  const [rows, columns] = [0, 1].map((axis) => {
    const [before, after] = spec.padding[axis];
    const size = spec.input_size[axis];
    const last = before + size + after - spec.dilation[axis] * (spec.kernel_size[axis] - 1);
    const found = [];
    for (let start = 0, o = 0; start < last; start += spec.stride[axis], o++) {
      for (let k = 0; k < spec.kernel_size[axis]; k++) {
        const at = start + k * spec.dilation[axis];
        found.push({ o, k, at, i: lineAt(at - before, size, spec.padding_mode) });
      }
    }
    return found;
  });
  const cell = (down, right, name) => [down[name], right[name]];
  return rows.flatMap((down) =>
    columns.map((right) => ({
      o: cell(down, right, "o"),
      k: cell(down, right, "k"),
      at: cell(down, right, "at"),
      i: down.i === null || right.i === null ? null : cell(down, right, "i"),
    })),
  );
}

export const same = (one, other) => Boolean(one && other) && one[0] === other[0] && one[1] === other[1];
export const different = (places) => new Set(places.map(String)).size;

/** All that the definition knows of a state. */
export function truthOf(settings, stages) {
  const {
    spec,
    plane: { sample: n, out_channel: o, in_channel: c },
    transposed,
  } = settings;
  const taps = tapsOf(spec);
  const [ins, outs] = [spec.in_channels / spec.groups, spec.out_channels / spec.groups];
  const padded = [0, 1].map((axis) => spec.padding[axis][0] + spec.input_size[axis] + spec.padding[axis][1]);
  const channels = Array.from({ length: outs }, (_, j) => Math.floor(c / ins) * outs + j);
  const planes = {
    weight: [o, c % ins],
    rotated_weight: [c, o % outs],
    grad_weight: [o, c % ins],
    ...Object.fromEntries(
      ["output", "grad_output", "padded_grad_output", "dilated_grad_output"].map((name) => [name, [n, o]]),
    ),
    ...Object.fromEntries(
      ["input", "padded_input", "grad_input", "grad_padded_input"].map((name) => [name, [n, c]]),
    ),
    target: transposed ? [n, c] : [n, o],
  };
  /** A number of the shown plane, or of another one. */
  const value = (name, at, plane = planes[name]) => {
    const { shape, data } = stages[name];
    return data[[...plane, ...at].reduce((place, index, axis) => place * shape[axis] + index, 0)];
  };
  const pixelAt = (cell) => {
    const { padding, input_size, padding_mode } = spec;
    const found = cell.map((place, axis) => lineAt(place - padding[axis][0], input_size[axis], padding_mode));
    return found.includes(null) ? null : found;
  };
  return {
    settings,
    spec,
    transposed,
    stages,
    taps,
    ins,
    outs,
    n,
    padded,
    value,
    pixelAt,
    folds: spec.padding_mode !== "zeros",
    windows: [0, 1].map((axis) => Math.max(...taps.map((tap) => tap.o[axis])) + 1),
    cells: Array.from({ length: padded[0] * padded[1] }, (_, at) => [
      Math.floor(at / padded[1]),
      at % padded[1],
    ]),
    /** The taps of one channel that a cell adds up, or is a factor of. */
    of({ panel, at }) {
      const part =
        { output: "o", grad_output: "o", weight: "k", grad_weight: "k", grad_input: "i" }[panel] ?? "at";
      return taps.filter((tap) => same(tap[part], at));
    },
    /** How many products of these taps are not 0, over all channels of the group. */
    notZero: (reads) =>
      reads.flatMap((tap) =>
        channels.filter(
          (channel) =>
            value("grad_output", tap.o, [n, channel]) * value("weight", tap.k, [channel, c % ins]) !== 0,
        ),
      ).length,
  };
}
