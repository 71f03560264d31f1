// @ts-check
// The settings as a link, in the page: the same format, to the letter, as settings/link.py. It touches no page and no
// address: a state, the dict that App.state() returns, goes in or comes out.
import { isWhole, readBias, readPair, readPlane, readSides, readSource, readWhole, readWord, writeBias, writePair, writeSides, writeSource } from "./link_values.js";
import { planeWithin } from "./plane.js";
import { isPossible, outputSize } from "./spec.js";

/**
 * @import { Settings } from "./settings.js"
 * @import { Spec } from "./spec.js"
 */

/**
 * What one key of a link means: the field of a state or of its spec, what a value looks like in words, and both ways.
 * @typedef {{ field: string, rule: string, read: (text: string) => any, write: (value: any) => string }} LinkKey
 */

const LINK_VERSION = 1;
const MOST_WRITTEN = 4000; // characters: what servers, mail and chat let through
const MOST_READ = 50000;
const TOO_LONG =
  `these settings hold too many numbers for a link, which has up to ${MOST_WRITTEN} characters: ` +
  "use 'Copy as Python', or keep the dict that App.state() returns in a file";
const SHOWN_CHARACTERS = 40; // of a bad value that its sentence repeats
const NAMED_KEYS = 5; // unknown ones that a sentence names
const TOLD_NOTICES = 4; // sentences that a page shows
const TYPED = "or numbers with their shape, such as values:1x1x2x2:0.5,1,-1,0";
const LINK_MOST = { input_size: 64, kernel_size: 11, stride: 64, padding: 16, dilation: 16 };
const LINK_PLANES = 8;
const LINK_PRODUCTS = 50_000_000;
const INPUTS = ["digit", "delta", "ramp", "checkerboard", "random", "image", "values"];
const WEIGHTS = ["identity", "box", "gaussian", "sharpen", "sobel_x", "sobel_y", "laplacian", "emboss", "off_centre", "random", "values"];

/** The app's first picture. @type {Settings} */
export const FIRST_STATE = {
  version: 1,
  spec: {
    version: 1,
    input_size: [8, 8],
    in_channels: 1,
    out_channels: 1,
    kernel_size: [3, 3],
    stride: [2, 2],
    padding: [[1, 1], [1, 1]],
    dilation: [1, 1],
    groups: 1,
    padding_mode: "zeros",
    batch: 1,
  },
  input: { kind: "digit" },
  digit: 3,
  weight: { kind: "sobel_x" },
  bias: null,
  loss: "half_squared_error",
  target: { kind: "zeros" },
  grad: { kind: "ones" },
  seed: 0,
  device: "cpu",
  dtype: "float32",
  plane: { sample: 0, out_channel: 0, in_channel: 0 },
  link_axes: true,
  scale: "equation",
  input_view: "window",
  theme: "auto",
  tab: "",
  transposed: false,
};

/** @param {keyof typeof LINK_MOST} field @returns {LinkKey} */
function pairKey(field) {
  const most = LINK_MOST[field];
  const rule = `a whole number from 1 to ${most}, or height and width such as 3x2`;
  return { field, rule, read: (text) => readPair(text, 1, most), write: writePair };
}

/** @param {string} field @param {number} low @param {number} high @returns {LinkKey} */
function wholeKey(field, low, high) {
  return { field, rule: `a whole number from ${low} to ${high}`, read: (text) => readWhole(text, low, high), write: String };
}

/** @param {string} field @param {string[]} words @returns {LinkKey} */
function wordKey(field, words) {
  return { field, rule: `one of ${words.filter(Boolean).join(", ")}`, read: (text) => readWord(text, words), write: String };
}

/** @param {string} field @returns {LinkKey} */
function flagKey(field) {
  return { field, rule: "1 or 0", read: (text) => readWhole(text, 0, 1) === 1, write: (value) => String(Number(value)) };
}

/** @param {string} field @param {string[]} kinds @returns {LinkKey} */
function sourceKey(field, kinds) {
  const names = kinds.filter((kind) => kind !== "values" && kind !== "image");
  return { field, rule: `one of ${names.join(", ")}, ${TYPED}`, read: (text) => readSource(text, kinds), write: writeSource };
}

/** @type {Record<string, LinkKey>} */
const GEOMETRY_KEYS = {
  size: pairKey("input_size"),
  kernel: pairKey("kernel_size"),
  stride: pairKey("stride"),
  padding: {
    field: "padding",
    rule: `a whole number from 0 to ${LINK_MOST.padding}, or height and width such as 1x0, or both sides such as 1,2x0,1`,
    read: (text) => readSides(text, 0, LINK_MOST.padding),
    write: writeSides,
  },
  dilation: pairKey("dilation"),
  in_channels: wholeKey("in_channels", 1, LINK_PLANES),
  out_channels: wholeKey("out_channels", 1, LINK_PLANES),
  batch: wholeKey("batch", 1, LINK_PLANES),
  groups: wholeKey("groups", 1, LINK_PLANES),
  mode: wordKey("padding_mode", ["zeros", "reflect", "replicate", "circular"]),
};

/** @type {Record<string, LinkKey>} */
const OTHER_KEYS = {
  transposed: flagKey("transposed"),
  input: sourceKey("input", INPUTS),
  digit: wholeKey("digit", 0, 9),
  weight: sourceKey("weight", WEIGHTS),
  bias: { field: "bias", rule: "numbers such as 0.5,-1, one a channel", read: readBias, write: writeBias },
  loss: wordKey("loss", ["sum", "mean", "half_squared_error", "weighted_sum"]),
  target: sourceKey("target", ["zeros", "ones", "random", "values"]),
  grad: sourceKey("grad", ["ones", "one_hot", "random", "values"]),
  seed: wholeKey("seed", 0, 2 ** 31 - 1),
  dtype: wordKey("dtype", ["float32", "float64", "bfloat16"]),
  plane: {
    field: "plane",
    rule: "three indices from 0, such as 0,1,0: sample, output channel, input channel",
    read: readPlane,
    write: ({ sample, out_channel, in_channel }) => `${sample},${out_channel},${in_channel}`,
  },
  link_axes: flagKey("link_axes"),
  scale: wordKey("scale", ["equation", "panel"]),
  view: wordKey("input_view", ["window", "stamps"]),
  colours: wordKey("theme", ["auto", "light", "dark"]),
  tab: wordKey("tab", ["", "matrix", "graph", "code", "pytorch", "check", "quantised", "linear"]),
};
const LINK_KEYS = { ...GEOMETRY_KEYS, ...OTHER_KEYS };
// A geometry that is not possible loses the first of these keys without which it is.
const LEAST_NEEDED = ["mode", "groups", "dilation", "kernel", "padding", "stride", "in_channels", "out_channels", "batch", "size"];

/** @param {Settings} state @param {string} name */
const linkField = (state, name) =>
  /** @type {Record<string, unknown>} */ (name in GEOMETRY_KEYS ? state.spec : state)[LINK_KEYS[name].field];

/** Whether the page has such a key; a name such as "constructor" is none. @param {string} name */
const isKey = (name) => Object.hasOwn(LINK_KEYS, name);

/**
 * A state as a link, without the device. What has too many numbers is thrown as an Error whose message is the sentence.
 * @param {Settings} state whole
 */
export function toLink(state) {
  const parts = Object.entries(LINK_KEYS).map(([name, { write }]) => {
    const text = write(linkField(state, name));
    return text === write(linkField(FIRST_STATE, name)) ? "" : `&${name}=${text}`;
  });
  const link = `v=${LINK_VERSION}${parts.join("")}`;
  if (link.length > MOST_WRITTEN) throw new Error(TOO_LONG);
  return link;
}

/** Whether a text has a key of a link: the address of a page has words of others as well. @param {string} text */
export const isLink = (text) => [...pairsOf(text).keys()].some((name) => name === "v" || isKey(name));

/**
 * Read a link, or the address of a page that has one, as well as it can be read.
 * @param {string} text any text
 * @returns {{ state: Settings, notices: string[] }} a whole state, and a sentence for everything that had to be left out
 */
export function fromLink(text) {
  if (text.length > MOST_READ) {
    return { state: structuredClone(FIRST_STATE), notices: [`A link has up to ${MOST_READ} characters: this one is longer and is left out.`] };
  }
  const pairs = pairsOf(ownPart(text));
  const notices = aboutVersion((pairs.get("v") ?? [String(LINK_VERSION)])[0]);
  pairs.delete("v");
  const given = /** @type {Record<string, any>} */ ({});
  for (const [name, values] of pairs) {
    if (!isKey(name)) continue;
    if (values.length > 1) notices.push(`${name} stands ${values.length} times in the link: the first is taken.`);
    try {
      given[name] = LINK_KEYS[name].read(values[0]);
    } catch {
      notices.push(`${name} is ${LINK_KEYS[name].rule}: got '${shortened(values[0])}'; its default is taken.`);
    }
  }
  const unknown = [...pairs.keys()].filter((name) => !isKey(name));
  if (unknown.length) {
    const more = unknown.length > NAMED_KEYS ? ` and ${unknown.length - NAMED_KEYS} more` : "";
    const named = unknown.slice(0, NAMED_KEYS).map(shortened).join(", ");
    notices.push(`The link has keys that this convviz does not know and leaves out: ${named}${more}.`);
  }
  const { spec, leftOut } = geometryFrom(given);
  const state = { ...structuredClone(FIRST_STATE), spec };
  const fields = /** @type {Record<string, any>} */ (state);
  for (const name of Object.keys(OTHER_KEYS)) if (name in given) fields[OTHER_KEYS[name].field] = given[name];
  state.plane = planeWithin(state.plane, spec);
  return { state, notices: [...notices, ...leftOut] };
}

/** The sentences about a link as one line for the page. @param {string[]} notices */
export function briefly(notices) {
  const more = notices.length - TOLD_NOTICES;
  return [...notices.slice(0, TOLD_NOTICES), ...(more > 0 ? [`And ${more} more of this kind.`] : [])].join(" ");
}

/** The first characters of a text, whole ones. @param {string} text */
const shortened = (text) => [...text].slice(0, SHOWN_CHARACTERS).join("");

/** The part after # where it is a link, else the part after the question mark. @param {string} text */
function ownPart(text) {
  const whole = text.replace(/[ \t\r\n]+/g, "");
  const [address] = whole.split("#", 1);
  const fragment = whole.slice(address.length + 1);
  if (isLink(fragment)) return fragment;
  const mark = address.indexOf("?");
  if (mark >= 0) return address.slice(mark + 1);
  return address.includes("://") ? "" : address;
}

/** The values of every key, in the order of the link. @param {string} link @returns {Map<string, string[]>} */
function pairsOf(link) {
  const found = new Map();
  for (const part of link.replaceAll("&amp;", "&").split("&")) {
    if (!part) continue;
    const [name] = part.split("=", 1);
    const key = unescaped(name);
    found.set(key, [...(found.get(key) ?? []), unescaped(part.slice(name.length + 1))]);
  }
  return found;
}

/** Undo what mail and chat do to commas and colons. @param {string} text */
const unescaped = (text) => text.replace(/%([0-7][0-9A-Fa-f])/g, (_, code) => String.fromCharCode(parseInt(code, 16)));

/** @param {string} text @returns {string[]} */
function aboutVersion(text) {
  if (text === String(LINK_VERSION)) return [];
  if (isWhole(text) && Number(text) > LINK_VERSION) {
    const known = `this convviz reads version ${LINK_VERSION}: what it knows is shown; update convviz for the rest`;
    return [`The link is of version ${Number(text)}, ${known}.`];
  }
  return [`v is the version of the link, ${LINK_VERSION}: got '${shortened(text)}'; it is read as version ${LINK_VERSION}.`];
}

/** The geometry that the keys give; where it is not possible, without as few of them as will do. @param {Record<string, any>} given */
function geometryFrom(given) {
  const names = LEAST_NEEDED.filter((name) => name in given);
  /** @param {string[]} leftOut */
  const made = (leftOut) => {
    const spec = structuredClone(FIRST_STATE.spec);
    const fields = /** @type {Record<string, any>} */ (spec);
    for (const name of names) if (!leftOut.includes(name)) fields[GEOMETRY_KEYS[name].field] = given[name];
    return fitsBoard(spec, given.transposed ?? false) ? spec : null;
  };
  const ways = [[], ...names.map((name) => [name]), ...names.map((_, count) => names.slice(0, count + 1)).slice(1)];
  const leftOut = /** @type {string[]} */ (ways.find(made));
  const shown = leftOut.map((name) => `${name}=${GEOMETRY_KEYS[name].write(given[name])}`).join(" and ");
  const why = "the geometry would break a rule of the convolution, or be too large for the board.";
  return { spec: /** @type {Spec} */ (made(leftOut)), leftOut: shown ? [`${shown} ${leftOut.length === 1 ? "is" : "are"} left out: ${why}`] : [] };
}

/** @param {Spec} spec @param {boolean} transposed */
function fitsBoard(spec, transposed) {
  if (!isPossible(spec) || (transposed && spec.padding_mode !== "zeros")) return false;
  const cells = spec.kernel_size[0] * spec.kernel_size[1] * outputSize(spec, 0) * outputSize(spec, 1);
  return spec.batch * spec.out_channels * (spec.in_channels / spec.groups) * cells <= LINK_PRODUCTS;
}
