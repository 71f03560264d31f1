// Each thing that is said of pasted numbers, checked by loops of its own.
import { mistakenGradient, mistakenProducts } from "../../convviz/web/numbers/compute_mistake.js";

const places = (shape) =>
  shape.reduce(
    (all, size) => all.flatMap((at) => Array.from({ length: size }, (_, index) => [...at, index])),
    [[]],
  );
const flat = (shape, at) => at.reduce((place, index, axis) => place * shape[axis] + index, 0);
const SLACK = 6e-5;

/** A sum over the recipe's products; the output has its bias. */
function tensorBy(of, way, spec, stages) {
  const tensor = mistakenGradient(of, way, spec, stages);
  const { bias } = mistakenProducts(of, way, spec);
  if (bias && stages.bias)
    places(tensor.shape).forEach((at, index) => {
      tensor.data[index] += bias * stages.bias.data[at[1]];
    });
  return tensor;
}

/** In reading order, or with rows and columns first. */
function arrangements({ shape, data, columnMajor }) {
  if (!columnMajor) return [[...data]];
  const [h, w, c = 1, n = 1] = shape;
  const turned = places([n, c, h, w]).map(([i, j, y, x]) => data[flat([h, w, c, n], [y, x, j, i])]);
  return [turned, [...data]];
}

const near = (one, other, most) =>
  one.length === other.length &&
  [...one].every((value, at) => Math.abs(value - other[at]) <= SLACK * Math.max(1, most, Math.abs(value)));
const largest = (data) => data.reduce((most, value) => Math.max(most, Math.abs(value)), 0);

const TURN = {
  rotated_180: (y, x, h, w) => [h - 1 - y, w - 1 - x],
  rotated_90: (y, x, h, w) => [x, w - 1 - y],
  rotated_270: (y, x, h) => [h - 1 - x, y],
  flipped_across: (y, x, h, w) => [y, w - 1 - x],
  flipped_down: (y, x, h) => [h - 1 - y, x],
  transposed: (y, x) => [x, y],
  antitransposed: (y, x, h, w) => [h - 1 - x, w - 1 - y],
};
const SWAPS = ["rotated_90", "rotated_270", "transposed", "antitransposed"];
const ROUND = {
  cut: Math.trunc,
  rounded_0: Math.round,
};

/** Zeros outside. */
function isWindow({ rows, columns, top, left }, { is, shape: [n, c, h, w], at }) {
  const inside = (row, column) => row >= 0 && row < h && column >= 0 && column < w;
  const moved = ([i, j, y, x]) => (inside(y + top, x + left) ? at(i, j, y + top, x + left) : 0);
  return is(places([n, c, rows, columns]).map(moved));
}

/** By kind: whether it is so. */
const HOLDS = {
  zeros: (_, { pasted }) => pasted.data.every((value) => value === 0),
  other: ({ tensor }, { is, stages }) => is([...stages[tensor].data]),
  layout: (_, { isSorted }) => isSorted,
  reshaped: (_, { isSorted }) => isSorted,
  factor: ({ factor }, { is, data }) => is([...data].map((value) => value * factor)),
  offset: ({ offset }, { is, data }) => is([...data].map((value) => value + offset)),
  offset_by_channel: (_, { seen, shape, data, most }) =>
    seen.some((each) => {
      const apart = places(shape).map((place, index) => [place[1], each[index] - data[index]]);
      const first = (channel) => apart.find(([other]) => other === channel)[1];
      return apart.every(([channel, by]) => Math.abs(by - first(channel)) <= SLACK * Math.max(1, most));
    }),
  ...Object.fromEntries(["shifted", "cropped", "bordered"].map((kind) => [kind, isWindow])),
  missing_row: ({ line }, { is, shape, at }) =>
    is(
      places(shape)
        .filter(([, , y]) => y !== line)
        .map((place) => at(...place)),
    ),
  missing_column: ({ line }, { is, shape, at }) =>
    is(
      places(shape)
        .filter(([, , , x]) => x !== line)
        .map((place) => at(...place)),
    ),
  ...Object.fromEntries(
    Object.entries(TURN).map(([kind, from]) => [
      kind,
      (_, { is, shape: [n, c, h, w], at }) => {
        const size = SWAPS.includes(kind) ? [n, c, w, h] : [n, c, h, w];
        return is(places(size).map(([i, j, y, x]) => at(i, j, ...from(y, x, h, w))));
      },
    ]),
  ),
  ...Object.fromEntries(
    Object.entries(ROUND).map(([kind, round]) => [kind, (_, { is, data }) => is([...data].map(round))]),
  ),
  ...Object.fromEntries(
    Object.entries({ float16: 2 ** -11, bfloat16: 2 ** -8 }).map(([kind, unit]) => [
      kind,
      (_, { seen, data }) =>
        seen.some((each) =>
          each.every((value, at) => Math.abs(value - data[at]) <= Math.abs(data[at]) * unit + 1e-7),
        ),
    ]),
  ),
};

function holds({ kind, values }, pasted, { shape, data }, stages) {
  const seen = arrangements(pasted);
  const most = largest([...data]);
  const sorted = (all) => [...all].sort((one, other) => one - other);
  return HOLDS[kind](values, {
    ...{ pasted, seen, most, shape, data, stages },
    is: (wanted) => seen.some((each) => near(each, wanted, most)),
    at: (i, j, y, x) => data[flat(shape, [i, j, y, x])],
    isSorted: near(sorted(pasted.data), sorted(data), most),
  });
}

/** What was said of the numbers and is not so. */
export function falseReasons(verdict, pasted, { settings, stages, of }) {
  const { tensor, wrong, right } = verdict;
  const found = [];
  const most = largest([...tensor.data]);
  const same = (other) =>
    arrangements(pasted).some((each) => near(each, other.data, Math.max(most, largest([...other.data]))));
  if (right && !same(tensor)) found.push("right");
  for (const { mistake, way } of verdict.mistakes) {
    if (!same(tensorBy(of, way, settings.spec, stages))) found.push(mistake.id);
    if (right) found.push("a mistake of what is right");
  }
  for (const each of verdict.near) if (!holds(each, pasted, tensor, stages)) found.push(JSON.stringify(each));
  if (verdict.reading)
    wrong.forEach((index) => {
      if (Math.abs(verdict.reading.data[index] - tensor.data[index]) <= 1e-7 * most)
        found.push(`cell ${index} is right`);
    });
  return found;
}
