// @ts-check
// The settings as a link, in the page: the same format, to the letter, as settings/link.py. It touches no page and no
// address: a state, the dict that App.state() returns, goes in or comes out.
import SETTINGS from "../../../facts/settings.json" with { type: "json" };
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

const LINK_VERSION = SETTINGS.version;
const LIMITS = SETTINGS.limits.link;
const MOST_WRITTEN = LIMITS.characters_written; // what servers, mail and chat let through
const MOST_READ = LIMITS.characters_read;
const TOO_LONG =
  `these settings hold too many numbers for a link, which has up to ${MOST_WRITTEN} characters: ` +
  "use 'Copy as Python', or keep the dict that App.state() returns in a file";
const SHOWN_CHARACTERS = LIMITS.characters_of_a_bad_value; // that its sentence repeats
const NAMED_KEYS = LIMITS.unknown_keys_named;
const TOLD_NOTICES = LIMITS.sentences_shown; // on a page
const TYPED = "or numbers with their shape, such as values:1x1x2x2:0.5,1,-1,0";
/** @type {Record<string, number>} */
const LINK_MOST = SETTINGS.limits.board;
/** @type {Record<string, number>} */
const LINK_PLANES = SETTINGS.limits.planes;
/** @type {Record<string, string[]>} */
const CHOICES = SETTINGS.choices;
/** @type {Record<string, string[]>} */
const KINDS = SETTINGS.kinds;
/** @type {Record<string, number[]>} */
const RANGES = SETTINGS.limits.controls;
const LINK_PRODUCTS = SETTINGS.limits.products.kernel;

/** The app's first picture. */
export const FIRST_STATE = /** @type {Settings} */ (/** @type {unknown} */ (SETTINGS.first_state));

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

/** Groups divide the channels. @param {string} field @returns {LinkKey} */
const planesKey = (field) => wholeKey(field, 1, LINK_PLANES[field] ?? LINK_PLANES.in_channels);

/** @param {string} field @returns {LinkKey} */
function sidesKey(field) {
  const most = LINK_MOST[field];
  const rule = `a whole number from 0 to ${most}, or height and width such as 1x0, or both sides such as 1,2x0,1`;
  return { field, rule, read: (text) => readSides(text, 0, most), write: writeSides };
}

/** @param {string} field @returns {LinkKey} */
function wordKey(field) {
  const words = CHOICES[field];
  return { field, rule: `one of ${words.filter(Boolean).join(", ")}`, read: (text) => readWord(text, words), write: String };
}

/** @param {string} field @returns {LinkKey} */
function flagKey(field) {
  return { field, rule: "1 or 0", read: (text) => readWhole(text, 0, 1) === 1, write: (value) => String(Number(value)) };
}

/** @param {string} field @returns {LinkKey} */
function sourceKey(field) {
  const kinds = KINDS[field];
  const named = kinds.filter((/** @type {string} */ kind) => !SETTINGS.kinds_with_own_numbers.includes(kind));
  return { field, rule: `one of ${named.join(", ")}, ${TYPED}`, read: (text) => readSource(text, kinds), write: writeSource };
}

/** @param {string} field @returns {LinkKey} */
const biasKey = (field) => ({ field, rule: "numbers such as 0.5,-1, one a channel", read: readBias, write: writeBias });

/** @param {string} field @returns {LinkKey} */
function planeKey(field) {
  const rule = "three indices from 0, such as 0,1,0: sample, output channel, input channel";
  return { field, rule, read: readPlane, write: ({ sample, out_channel, in_channel }) => `${sample},${out_channel},${in_channel}` };
}

/** @type {Record<string, (field: string) => LinkKey>} */
const FORMS = {
  pair: pairKey,
  sides: sidesKey,
  planes: planesKey,
  whole: (field) => wholeKey(field, RANGES[field][0], RANGES[field][1]),
  word: wordKey,
  flag: flagKey,
  source: sourceKey,
  bias: biasKey,
  plane: planeKey,
};
/** @param {Record<string, { field: string, form: string }>} part @returns {Record<string, LinkKey>} */
const keysOf = (part) => Object.fromEntries(Object.entries(part).map(([name, { field, form }]) => [name, FORMS[form](field)]));

const GEOMETRY_KEYS = keysOf(SETTINGS.link_keys.geometry);
const OTHER_KEYS = keysOf(SETTINGS.link_keys.other);
const LINK_KEYS = { ...GEOMETRY_KEYS, ...OTHER_KEYS };
// A geometry that is not possible loses the first of these keys without which it is.
const LEAST_NEEDED = SETTINGS.link_keys.left_out_first;

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
