// A .npy file: its header, then its numbers.
import { Unreadable } from "./printed_tokens.js";
import { countOf, flatIndex, indicesAt } from "../../web/rules/shapes_and_indices.js";

/** @type {Record<string, { BYTES_PER_ELEMENT: number, new (buffer: ArrayBuffer): ArrayLike<number | bigint> }>} */
const ARRAYS = {
  ...{ f2: Uint16Array, f4: Float32Array, f8: Float64Array },
  ...{ i1: Int8Array, i2: Int16Array, i4: Int32Array, i8: BigInt64Array },
  ...{ u1: Uint8Array, b1: Uint8Array },
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
  const [, type = "?"] = header.match(/'descr':\s*'?([^',]+)/) ?? [];
  const kind = type.replace(/^[<|=]/, "");
  const shape = [...(header.match(/'shape':\s*\(([^)]*)\)/)?.[1] ?? "").matchAll(/\d+/g)].map(Number);
  const [Kind, count, from] = [ARRAYS[kind], countOf(shape), start + length];
  if (!Kind || from + count * Kind.BYTES_PER_ELEMENT > buffer.byteLength)
    throw new Unreadable("file", null, { found: kind });
  const numbers = new Kind(buffer.slice(from, from + count * Kind.BYTES_PER_ELEMENT));
  const stored = Float64Array.from(numbers, (value) => (kind === "f2" ? half(Number(value)) : Number(value)));
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
