// Arrays as programs print them, written after what NumPy, torch, Julia, MATLAB and C++ show; the real NumPy and torch
// print in tests/features/pasted/test_tab.py.
const count = (shape) => shape.reduce((product, size) => product * size, 1);
const plain = (value, text) => (Number.isNaN(value) ? "nan" : text);

/** Nested, a row a line. */
function nested(shape, texts, between, open = "[", close = "]") {
  if (!shape.length) return texts[0];
  const size = count(shape.slice(1));
  const parts = Array.from({ length: shape[0] }, (_, index) =>
    nested(shape.slice(1), texts.slice(index * size, (index + 1) * size), between, open, close),
  );
  return open + parts.join(shape.length > 1 ? `${between.trim()}\n` : between) + close;
}

/** Numpy and torch write powers of ten if the numbers are far apart. */
const isWide = (data) => {
  const sizes = [...data].map(Math.abs).filter((size) => size > 0 && Number.isFinite(size));
  return (
    sizes.length > 0 &&
    (Math.max(...sizes) >= 1e8 || Math.min(...sizes) < 1e-4 || Math.max(...sizes) / Math.min(...sizes) > 1000)
  );
};
const power = (value, digits) => value.toExponential(digits).replace(/e([+-])(\d)$/, "e$10$2");

function numpyTexts(data) {
  if (isWide(data)) return [...data].map((value) => power(value, 8));
  return [...data].map((value) =>
    Number(value.toFixed(8))
      .toString()
      .replace(/^(-?\d+)$/, "$1."),
  );
}

function torchTexts(data) {
  if ([...data].every(Number.isInteger)) return [...data].map((value) => `${value}.`);
  return [...data].map((value) => (isWide(data) ? power(value, 4) : value.toFixed(4)));
}

/** %g */
const short = (value, digits = 6) => String(Number(value.toPrecision(digits)));

/** Planes of an array whose rows and columns are its first axes. */
function slices({ shape, data }, header, row) {
  const [samples, channels, height, width] = shape;
  const planes = [];
  for (let n = 0; n < samples; n++)
    for (let c = 0; c < channels; c++) {
      const start = (n * channels + c) * height * width;
      const rows = Array.from({ length: height }, (_, y) =>
        row([...data.slice(start + y * width, start + (y + 1) * width)]),
      );
      planes.push(`${header(c + 1, n + 1)}${rows.join("\n")}`);
    }
  return planes.join("\n\n");
}

const fourAxes = ({ shape, data }) => ({ shape: [...Array(4 - shape.length).fill(1), ...shape], data });

function matlab(tensor) {
  const most = Math.max(...[...tensor.data].map(Math.abs));
  const whole = [...tensor.data].every(Number.isInteger);
  const scale = !whole && (most >= 1000 || most < 0.001) && most > 0 ? 10 ** Math.floor(Math.log10(most)) : 1;
  const factor = scale === 1 ? "" : `   ${scale.toExponential(1).replace(/e([+-])(\d)$/, "e$10$2")} *\n\n`;
  const row = (values) => values.map((value) => `   ${whole ? value : (value / scale).toFixed(4)}`).join("");
  const made = fourAxes(tensor);
  const one = made.shape[0] * made.shape[1] === 1;
  return slices(made, (c, n) => (one ? `ans =\n\n${factor}` : `ans(:,:,${c},${n}) =\n\n${factor}`), row);
}

function julia(tensor) {
  const made = fourAxes(tensor);
  const text = (value) => (Number.isInteger(value) ? `${value}.0` : short(value));
  const row = (values) => ` ${values.map(text).join("  ")}`;
  const [n, c, height, width] = made.shape;
  if (n * c === 1) return slices(made, () => `${height}\u00d7${width} Matrix{Float64}:\n`, row);
  const head = `${height}\u00d7${width}\u00d7${c}\u00d7${n} Array{Float64, 4}:\n`;
  return head + slices(made, (channel, sample) => `[:, :, ${channel}, ${sample}] =\n`, row);
}

/** By name: the text of a tensor. */
export const PRINT = {
  lists: ({ shape, data }) => nested(shape, [...data].map(String), ", "),
  json: ({ shape, data }) => `{"result": ${nested(shape, [...data].map(String), ",")}}`,
  numpy: ({ shape, data }) => nested(shape, numpyTexts(data), " ").replaceAll("\n", "\n "),
  torch: ({ shape, data }) => `tensor(${nested(shape, torchTexts(data), ", ")}, dtype=torch.float64)`,
  cpp: ({ shape, data }) =>
    `double g[] = ${nested(
      shape,
      [...data].map((value) => short(value)),
      ", ",
      "{",
      "}",
    )};`,
  eigen: (tensor) =>
    slices(
      fourAxes(tensor),
      () => "",
      (values) => values.map((value) => short(value).padStart(10)).join(" "),
    ),
  csv: (tensor) =>
    slices(
      fourAxes(tensor),
      () => "",
      (values) => values.map((value) => plain(value, String(value))).join(","),
    ).replaceAll("\n\n", "\n"),
  matlab,
  julia,
};

/** A .npy file of float32. */
export function npyOf({ shape, data }, { fortran = false } = {}) {
  const head = `{'descr': '<f4', 'fortran_order': ${fortran ? "True" : "False"}, 'shape': (${shape.join(", ")}${shape.length === 1 ? "," : ""}), }`;
  const padded = `${head.padEnd(Math.ceil((head.length + 11) / 64) * 64 - 11)}\n`;
  const bytes = [
    0x93,
    ..."NUMPY".split("").map((letter) => letter.charCodeAt(0)),
    1,
    0,
    padded.length & 255,
    padded.length >> 8,
  ];
  const values = new Uint8Array(Float32Array.from(data).buffer);
  return Uint8Array.from([...bytes, ...padded.split("").map((letter) => letter.charCodeAt(0)), ...values])
    .buffer;
}
