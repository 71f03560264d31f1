// A .npy file: its header, then its numbers.
import { Unreadable } from "./printed_tokens.js";
import { countOf, flatIndex, indicesAt } from "../../rules/shapes_and_indices.js";

/** @type {Record<string, (view: DataView, at: number, little: boolean) => number>} */
const READ = {
  f2: (view, at, little) => half(view.getUint16(at, little)),
  f4: (view, at, little) => view.getFloat32(at, little),
  f8: (view, at, little) => view.getFloat64(at, little),
  i1: (view, at) => view.getInt8(at),
  i2: (view, at, little) => view.getInt16(at, little),
  i4: (view, at, little) => view.getInt32(at, little),
  i8: (view, at, little) => Number(view.getBigInt64(at, little)),
  u1: (view, at) => view.getUint8(at),
  u2: (view, at, little) => view.getUint16(at, little),
  u4: (view, at, little) => view.getUint32(at, little),
  b1: (view, at) => view.getUint8(at),
};

/** @param {number} bits of a float16 */
function half(bits) {
  const [sign, power, rest] = [bits >> 15 ? -1 : 1, (bits >> 10) & 31, bits & 1023];
  if (power === 31) return rest ? NaN : sign * Infinity;
  return sign * (power ? 2 ** (power - 15) * (1 + rest / 1024) : rest * 2 ** -24);
}

/** @param {ArrayBuffer} buffer */
export const isNpy = (buffer) => {
  const [first, ...letters] = new Uint8Array(buffer.slice(0, 6));
  return first === 0x93 && String.fromCharCode(...letters) === "NUMPY";
};

/** @param {ArrayBuffer} buffer @returns {{ shape: number[], data: Float64Array }} */
export function readNpy(buffer) {
  const view = new DataView(buffer);
  const start = view.getUint8(6) > 1 ? 12 : 10;
  const length = start === 12 ? view.getUint32(8, true) : view.getUint16(8, true);
  const header = new TextDecoder().decode(new Uint8Array(buffer, start, length));
  const [, order, kind = ""] = header.match(/'descr':\s*'([<>|=])(\w+)'/) ?? [];
  const shape = [...(header.match(/'shape':\s*\(([^)]*)\)/)?.[1] ?? "").matchAll(/\d+/g)].map(Number);
  const [read, bytes] = [READ[kind], Number(kind.slice(1))];
  const count = countOf(shape);
  if (!read || start + length + count * bytes > buffer.byteLength)
    throw new Unreadable("file", null, { found: kind || header.match(/'descr':\s*([^,]+)/)?.[1] || "?" });
  const stored = Float64Array.from({ length: count }, (_, index) =>
    read(view, start + length + index * bytes, order !== ">"),
  );
  if (!/'fortran_order':\s*True/.test(header)) return { shape, data: stored };
  const turned = [...shape].reverse();
  const data = stored.map((_, index) => stored[flatIndex(turned, indicesAt(shape, index).reverse())]);
  return { shape, data };
}

/** As nested lists, a row a line. @param {{ shape: number[], data: ArrayLike<number> }} tensor */
export function listsOf({ shape, data }) {
  const last = shape.length - 1;
  /** @param {number} axis @param {number} at @returns {string} */
  const lists = (axis, at) => {
    const size = countOf(shape.slice(axis + 1));
    const parts = Array.from({ length: shape[axis] }, (_, index) =>
      axis === last ? numberText(data[at + index]) : lists(axis + 1, at + index * size),
    );
    return ["[", parts.join(axis === last ? ", " : `,\n${" ".repeat(axis + 1)}`), "]"].join("");
  };
  return shape.length ? lists(0, 0) : `[${numberText(data[0])}]`;
}

/** Sums have noise in their last digits. @param {number} value */
export const numberText = (value) =>
  Number.isFinite(value) ? String(Number(value.toPrecision(12))) : String(value).toLowerCase();
