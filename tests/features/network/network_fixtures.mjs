// Small random networks, and their reads cell by cell, without lists or masks.

/** A generator of numbers from 0 to 1 (mulberry32). */
export function randomOf(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

export const count = (shape) => shape.reduce((a, b) => a * b, 1);

export function indices(shape) {
  return shape.reduce(
    (cells, size) => cells.flatMap((cell) => Array.from({ length: size }, (_, at) => [...cell, at])),
    [[]],
  );
}

export const operation = (index, kind, sources, shape, reads) => ({
  index,
  kind,
  name: index ? `${kind}_${index}` : "",
  module: "",
  sources,
  shape,
  reads,
  weight: null,
  opens: "",
  rms: 1,
  zeros: 0,
});

const WIDER = {
  how: "window",
  kernel_size: [3, 2],
  stride: [2, 1],
  padding: [
    [1, 1],
    [0, 0],
  ],
  dilation: [1, 2],
  groups: 1,
  per_channel: false,
  transposed: true,
  mode: "zeros",
};

/** null: it does not fit. */
const MAKERS = {
  window({ pick, last, kind }) {
    const { shape, index } = last;
    const axes = [0, 1].map(() => [pick([1, 2, 3]), pick([1, 2]), pick([0, 1]), pick([0, 1]), pick([1, 2])]);
    const sizes = axes.map(
      ([kernel, stride, before, after, dilation], at) =>
        Math.floor((shape[at + 1] + before + after - dilation * (kernel - 1) - 1) / stride) + 1,
    );
    if (sizes.some((each) => each < 1)) return null;
    const per_channel = kind === "max_pool2d";
    const [kernel_size, stride, , , dilation] = axes[0].map((_, of) => axes.map((axis) => axis[of]));
    const padding = axes.map(([, , before, after]) => [before, after]);
    const modes = Math.min(...shape.slice(1)) > 1 ? ["zeros", "circular", "replicate", "reflect"] : ["zeros"];
    const groups = !per_channel && shape[0] % 2 === 0 ? pick([1, 2]) : 1;
    const mode = per_channel ? "zeros" : pick(modes);
    const reads = { how: "window", kernel_size, stride, padding, dilation, groups, per_channel, mode };
    return [[index], [per_channel ? shape[0] : pick([2, 4]), ...sizes], { ...reads, transposed: false }];
  },
  relu: ({ last }) => [[last.index], last.shape, { how: "same" }],
  add: ({ last, alike }) => alike && [[last.index, alike.index], last.shape, { how: "same" }],
  cat({ last, alike }) {
    const [channels, ...size] = last.shape;
    if (channels > 7) return null;
    const reads = { how: "concat", axis: 0, offsets: [0, channels] };
    return [[last.index, (alike ?? last).index], [2 * channels, ...size], reads];
  },
  conv_transpose2d: ({ last: { shape, index } }) =>
    shape[1] < 8 ? [[index], [2, (shape[1] - 1) * 2 + 1, shape[2] + 2], WIDER] : null,
  adaptive_avg_pool2d: ({ last: { shape, index } }) => [
    [index],
    [shape[0], 3, 2],
    { how: "adaptive", size: [3, 2], per_channel: true },
  ],
};
MAKERS.conv2d = MAKERS.max_pool2d = MAKERS.window;
const KINDS = [
  "conv2d",
  "conv2d",
  "max_pool2d",
  "relu",
  "add",
  "cat",
  "conv_transpose2d",
  "adaptive_avg_pool2d",
];

/** Convolutions, pooling, skips, concatenations, and several ends. */
export function randomNetwork(seed) {
  const random = randomOf(seed);
  const pick = (from) => from[Math.floor(random() * from.length)];
  const operations = [operation(0, "input", [], [2, 7, 8], { how: "same" })];
  const add = (kind, sources, shape, reads) =>
    operations.push(operation(operations.length, kind, sources, shape, reads));
  for (let step = 0; step < 7; step++) {
    const last = operations[operations.length - 1];
    const alike = operations.filter((each) => String(each.shape) === String(last.shape) && each !== last);
    const kind = pick(KINDS);
    const made = MAKERS[kind]({ pick, last, kind, alike: alike.length ? pick(alike) : null });
    if (made) add(kind, ...made);
    else add("relu", ...MAKERS.relu({ last }));
  }
  const { shape, index } = operations[operations.length - 1];
  const [channels, height, width] = shape;
  const pooled = { how: "all", per_channel: true };
  add("permute", [index], [width, channels, height], { how: "permute", order: [2, 0, 1] });
  add("flatten", [index + 1], [count(shape)], { how: "reshape" });
  add("mean", [index], [channels], { ...pooled, axes: [1, 2], drop: [1, 2] });
  add("mean", [index], [channels, width], { ...pooled, axes: [1], drop: [1] });
  add("getitem", [index], [height, width], {
    how: "slice",
    start: [channels - 1, 0, 0],
    step: [1, 1, 1],
    taken: [1, height, width],
  });
  add("getitem", [index], [height, 1, Math.ceil(width / 2)], {
    how: "slice",
    start: [0, 0, 0],
    step: [1, 1, 2],
    taken: [1, height, Math.ceil(width / 2)],
  });
  add("linear", [index + 2], [3], { how: "all" });
  return operations;
}

/** Which cells of a source a cell reads, by trying each of them. */
export function readsOf(operation, position, cell, source) {
  const { reads, shape } = operation;
  const flat = (at, of) => at.reduce((place, each, axis) => place * of[axis] + each, 0);
  const isRead = {
    same: (at) => at.every((each, axis) => each === cell[axis]),
    concat: (at) =>
      at.every(
        (each, axis) => each === (axis === reads.axis ? cell[axis] - reads.offsets[position] : cell[axis]),
      ),
    reshape: (at) => flat(at, source) === flat(cell, shape),
    permute: (at) => cell.every((each, axis) => each === at[reads.order[axis]]),
    slice: (at) =>
      flat(
        at.map((each, axis) => (each - reads.start[axis]) / reads.step[axis]),
        reads.taken,
      ) === flat(cell, shape) &&
      at.every((each, axis) => {
        const taken = (each - reads.start[axis]) / reads.step[axis];
        return Number.isInteger(taken) && taken >= 0 && taken < reads.taken[axis];
      }),
    all: (at) =>
      !reads.drop ||
      at.filter((_, axis) => !reads.drop.includes(axis)).every((each, axis) => each === cell[axis]),
    adaptive: (at) =>
      at[0] === cell[0] &&
      [1, 2].every((axis) => {
        const [start, end] = [
          Math.floor((cell[axis] * source[axis]) / shape[axis]),
          Math.ceil(((cell[axis] + 1) * source[axis]) / shape[axis]),
        ];
        return at[axis] >= start && at[axis] < end;
      }),
    window: (at) =>
      channelRead(reads, at[0], cell[0], source[0], shape[0]) &&
      [0, 1].every((axis) => inWindow(reads, axis, at[axis + 1], cell[axis + 1], source[axis + 1])),
  }[reads.how];
  return indices(source).filter(isRead);
}

const channelRead = ({ per_channel, groups }, at, cell, source, out) =>
  per_channel ? at === cell : Math.floor((at * groups) / source) === Math.floor((cell * groups) / out);

function inWindow({ kernel_size, stride, padding, dilation, transposed, mode }, axis, at, cell, size) {
  for (let k = 0; k < kernel_size[axis]; k++) {
    if (transposed && at * stride[axis] - padding[axis][0] + k * dilation[axis] === cell) return true;
    if (transposed) continue;
    const place = cell * stride[axis] - padding[axis][0] + k * dilation[axis];
    const copied = {
      zeros: place,
      replicate: Math.min(size - 1, Math.max(0, place)),
      circular: ((place % size) + size) % size,
      reflect: place < 0 ? -place : place >= size ? 2 * (size - 1) - place : place,
    }[mode];
    if (copied === at) return true;
  }
  return false;
}
