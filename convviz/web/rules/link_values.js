// Values in links, as in settings/link_values.py, by facts/data/settings.json. Readers throw.
import SETTINGS from "../../facts/data/settings.json" with { type: "json" };
import { countOf } from "./shapes_and_indices.js";

/**
 * @import { LinkKey } from "./schema.js"
 * @import { Source } from "./settings_and_tensors.js"
 */

const [WHOLE, DECIMAL] = ["whole", "decimal"].map(
  (name) => new RegExp(`^${SETTINGS.link_patterns[/** @type {"whole"} */ (name)]}$`),
);
/** @type {Record<string, string>} */
const SEPARATORS = SETTINGS.link_separators;
/** @param {string | number} kind */
const hasOwnNumbers = (kind) => SETTINGS.kinds_with_own_numbers.includes(String(kind));

/** @param {unknown} holds @returns {asserts holds} */
function need(holds) {
  if (!holds) throw new Error("of another form");
}

/** @param {string} text */
export const isWhole = (text) => WHOLE.test(text);

/** @param {LinkKey} key @returns {Pair} */
const rangeOf = ({ limits, offered }) => limits ?? offered ?? [0, 0];

/** For the sentence about a bad value. @param {LinkKey} key */
export function noticeArguments(key) {
  const [low, high] = rangeOf(key);
  const words = (key.words ?? []).filter((word) => word && !hasOwnNumbers(word));
  return { low, high, words: words.join(", ") };
}

/** @param {LinkKey} key @param {string} text @returns {any} */
export function readValue(key, text) {
  const { kind: form, words = [] } = key;
  if (form in SEPARATORS) return readFolded(text, SEPARATORS[form], rangeOf(key));
  if (form === "flag") return readWhole(text, [0, 1]) === 1;
  if (form === "source") return readSource(text, words);
  if (form === "bias")
    return { kind: "values", values: text.split(",").map(readNumber), shape: [text.split(",").length] };
  if (form === "plane") {
    const [sample, out_channel, in_channel] = split(text, ",", 3).map((part) => readWhole(part, [0, 1e9]));
    return { sample, out_channel, in_channel };
  }
  const found = words.find((choice) => String(choice) === text);
  need(found !== undefined);
  return found;
}

/** @param {LinkKey} key @param {any} value */
export function writeValue({ kind: form }, value) {
  if (form in SEPARATORS) return writeFolded(value, SEPARATORS[form]);
  if (form === "flag") return String(Number(value));
  if (form === "plane") return `${value.sample},${value.out_channel},${value.in_channel}`;
  if (form === "bias") return (value?.values ?? []).map(writeNumber).join();
  return form === "source" ? writeSource(value) : String(value);
}

/** @param {number} value */
const writeNumber = (value) => String(value === 0 ? 0 : value).replace("e+", "e");

/** @param {string} text */
function readNumber(text) {
  const value = Number(text);
  need(DECIMAL.test(text) && Math.abs(value) < SETTINGS.limits.number);
  return value;
}

/** @param {string} text @param {Pair} range */
function readWhole(text, [low, high]) {
  need(isWhole(text) && Number(text) >= low && Number(text) <= high);
  return Number(text);
}

/**
 * `8`, or `8x6` for height and width; of a padding `1`, `1x2`, or `1,2x0,1` for all four sides.
 * @param {string} text @param {string} separators @param {Pair} range @returns {any}
 */
function readFolded(text, separators, range) {
  if (!separators) return readWhole(text, range);
  const parts = text.split(separators[0]);
  need(parts.length <= 2);
  return [parts[0], parts[parts.length - 1]].map((part) => readFolded(part, separators.slice(1), range));
}

/** @param {any} value @param {string} separators @returns {string} */
function writeFolded(value, separators) {
  if (!separators) return String(value);
  const [first, last] = value.map((/** @type {any} */ part) => writeFolded(part, separators.slice(1)));
  return first === last ? first : `${first}${separators[0]}${last}`;
}

/** Writes a source as a link has it, such as `values:1x1x1x2:0.5,-1`. @param {Source} source */
function writeSource({ kind, values = [], shape = [] }) {
  const sizes = hasOwnNumbers(kind) ? [shape.join("x")] : [];
  const numbers =
    values.length && (sizes.length || kind === "one_hot") ? [values.map(writeNumber).join()] : [];
  return [kind, ...sizes, ...numbers].join(":");
}

/** @param {string} text @param {(string | number)[]} kinds @returns {Source} */
function readSource(text, kinds) {
  const [kind, ...parts] = text.split(":");
  need(
    kinds.includes(kind) &&
      (hasOwnNumbers(kind) ? parts.length === 2 : parts.length <= Number(kind === "one_hot")),
  );
  const values = parts.slice(-1).flatMap((part) => part.split(",").map(readNumber));
  if (!hasOwnNumbers(kind)) {
    need([0, 4].includes(values.length) && values.every((value) => value >= 0 && value % 1 === 0));
    return values.length ? { kind, values } : { kind };
  }
  const shape = split(parts[0], "x", kind === "image" ? 2 : 4).map((size) => readWhole(size, [1, 1e10]));
  need(countOf(shape) === values.length);
  return { kind, values, shape };
}

/** @param {string} text @param {string} separator @param {number} count */
function split(text, separator, count) {
  const parts = text.split(separator);
  need(parts.length === count);
  return parts;
}
