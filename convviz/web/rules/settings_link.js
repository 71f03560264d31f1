// Settings as a link, to the letter as in settings/link.py.
import SETTINGS from "../../facts/data/settings.json" with { type: "json" };
import { isWhole, readValue, noticeArguments, writeValue } from "./link_values.js";
import { notTaken, withKindsOfLoss } from "./loss_inputs.js";
import { planeWithin } from "./shown_plane.js";
import { say } from "./sentences.js";
import { sayBreakIt } from "./break_it_sentences.js";
import { LINK_KEYS } from "./schema.js";
import { inPlaceOf } from "./settings_and_tensors.js";
import { countProducts, isPossible } from "./conv_geometry.js";

/** @import { SentenceId } from "./sentences.js" */

const LINK_VERSION = SETTINGS.link_version;
const LIMITS = SETTINGS.limits.link;

/** What links of v=1 omit, and Python fills in. It never changes. */
export const BASE_STATE = /** @type {Settings} */ (/** @type {unknown} */ (SETTINGS.base_state));
export const FIRST_STATE = /** @type {Settings} */ (
  /** @type {unknown} */ ({ ...SETTINGS.base_state, ...SETTINGS.first_picture })
);
/** @type {Record<string, Settings>} */
const BASES = {
  1: BASE_STATE,
  2: /** @type {Settings} */ (/** @type {unknown} */ ({ ...FIRST_STATE, ...SETTINGS.link_2 })),
  [SETTINGS.link_version]: FIRST_STATE,
};

const OTHER_KEYS = Object.keys(LINK_KEYS).filter((name) => !LINK_KEYS[name].spec);

/** @param {Settings} state @param {string} name */
const linkField = (state, name) =>
  /** @type {Record<string, unknown>} */ (LINK_KEYS[name].spec ? state.spec : state)[LINK_KEYS[name].field];

/** Returns false for inherited names such as "constructor". @param {string} name */
const isKey = (name) => Object.hasOwn(LINK_KEYS, name);

/** Without the device. Too many numbers throw the sentence to show. @param {Settings} state */
export function toLink(state) {
  const links = Object.entries(BASES).map(([version, base]) => {
    const parts = Object.entries(LINK_KEYS).map(([name, key]) => {
      const text = writeValue(key, linkField(state, name));
      return text === writeValue(key, linkField(base, name)) ? "" : `&${name}=${text}`;
    });
    return `v=${version}${parts.join("")}`;
  });
  const link = links.reduce((shortest, each) => (each.length > shortest.length ? shortest : each));
  const most = LIMITS.characters_written; // of servers, mail and chat
  if (link.length > most) throw new Error(say("link.full", { most }));
  return link;
}

/** An address has other words, too. @param {string} text */
export const isLink = (text) => hasKey(pairsOf(text));

/** @param {Map<string, string[]>} pairs */
const hasKey = (pairs) => [...pairs.keys()].some((name) => name === "v" || isKey(name));

/**
 * Any text, as far as it can be read.
 * @param {string} text @returns {{ state: Settings, notices: string[] }} a whole state, and what was left
 *   out
 */
export function fromLink(text) {
  if (text.length > LIMITS.characters_read) {
    return {
      state: structuredClone(FIRST_STATE),
      notices: [say("link.longer", { most: LIMITS.characters_read })],
    };
  }
  const pairs = pairsOf(ownPart(text));
  const [version] = pairs.get("v") ?? ["1"]; // links without a version are of the first
  const base = hasKey(pairs) && Object.hasOwn(BASES, version) ? BASES[version] : FIRST_STATE;
  pairs.delete("v");
  const { given, notices } = valuesOf(pairs);
  const { spec, leftOut } = geometryFrom(given, base.spec);
  const state = { ...structuredClone(base), spec };
  const fields = /** @type {Record<string, any>} */ (state);
  for (const name of OTHER_KEYS) if (name in given) fields[LINK_KEYS[name].field] = given[name];
  state.plane = planeWithin(state.plane, spec);
  const unbroken =
    state.transposed && state.broken ? [sayBreakIt("link.transposed", { value: state.broken })] : [];
  if (unbroken.length) state.broken = "";
  const allNotices = [
    ...aboutVersion(version),
    ...notices,
    ...leftOut,
    ...notTaken(given, state.loss),
    ...unbroken,
  ];
  return { state: withKindsOfLoss(state), notices: allNotices };
}

/** And a notice for each that gives nothing. @param {Map<string, string[]>} pairs */
function valuesOf(pairs) {
  const given = /** @type {Record<string, any>} */ ({});
  const notices = [];
  const unknown = [];
  for (const [name, [text, ...others]] of pairs) {
    if (!isKey(name)) {
      unknown.push(name);
      continue;
    }
    const key = LINK_KEYS[name];
    if (others.length) notices.push(say("link.repeated", { name, times: others.length + 1 }));
    try {
      given[name] = readValue(key, text);
    } catch {
      const rule = /** @type {SentenceId} */ (`link.${key.kind}`);
      notices.push(say(rule, { name, value: shortened(text), ...noticeArguments(key) }));
    }
  }
  const most = LIMITS.unknown_keys_named;
  const [names, more] = [unknown.slice(0, most).map(shortened).join(", "), unknown.length - most];
  if (more > 0) notices.push(say("link.unknown_more", { names, more }));
  else if (unknown.length) notices.push(say("link.unknown", { names }));
  return { given, notices };
}

/** @param {Settings} settings @param {string} link @returns {Settings} */
export const settingAt = (settings, link) => inPlaceOf(settings, fromLink(link).state);

/** Joins notices to one line and counts those that it leaves out. @param {string[]} notices */
export function briefly(notices) {
  const more = notices.length - LIMITS.sentences_shown;
  return [
    ...notices.slice(0, LIMITS.sentences_shown),
    ...(more > 0 ? [say("link.more", { more })] : []),
  ].join(" ");
}

/** Shortens a text by code points, so that it splits no surrogate pair. @param {string} text */
const shortened = (text) => [...text].slice(0, LIMITS.characters_of_a_bad_value).join("");

/** After # if that is a link, else after ?. @param {string} text */
function ownPart(text) {
  const whole = text.replace(/[ \t\r\n]+/g, "");
  const [address] = whole.split("#", 1);
  const fragment = whole.slice(address.length + 1);
  if (isLink(fragment)) return fragment;
  const mark = address.indexOf("?");
  if (mark >= 0) return address.slice(mark + 1);
  return address.includes("://") ? "" : address;
}

/** @param {string} link @returns {Map<string, string[]>} */
function pairsOf(link) {
  const found = new Map();
  const own = link.replaceAll("&amp;", "&").replaceAll("+", "%2B"); // a plus is a plus
  for (const [name, value] of new URLSearchParams(`&${own}`))
    found.set(name, [...(found.get(name) ?? []), value]);
  return found;
}

/** @param {string} text */
function aboutVersion(text) {
  if (Object.hasOwn(BASES, text)) return [];
  if (isWhole(text) && Number(text) > LINK_VERSION) {
    return [say("link.newer", { version: Number(text), own: LINK_VERSION })];
  }
  return [say("link.version", { own: LINK_VERSION, value: shortened(text) })];
}

/** Where impossible, without as few keys as will do. @param {Record<string, any>} given @param {Spec} base */
function geometryFrom(given, base) {
  const names = SETTINGS.left_out_first.filter((name) => name in given);
  /** @param {string[]} leftOut */
  const made = (leftOut) => {
    const spec = structuredClone(base);
    const fields = /** @type {Record<string, any>} */ (spec);
    for (const name of names) if (!leftOut.includes(name)) fields[LINK_KEYS[name].field] = given[name];
    return fitsBoard(spec, given.transposed ?? false) ? spec : null;
  };
  const ways = [
    [],
    ...names.map((name) => [name]),
    ...names.map((_, count) => names.slice(0, count + 1)).slice(1),
  ];
  const leftOut = /** @type {string[]} */ (ways.find(made));
  const spec = /** @type {Spec} */ (made(leftOut));
  if (!leftOut.length) return { spec, leftOut: [] };
  const shown = leftOut.map((name) => `${name}=${writeValue(LINK_KEYS[name], given[name])}`);
  const keys = shown.reduce((these, last) => say("list.and", { these, last }));
  return { spec, leftOut: [say("link.impossible", { count: leftOut.length, keys })] };
}

/** @param {Spec} spec @param {boolean} transposed */
function fitsBoard(spec, transposed) {
  if (!isPossible(spec) || (transposed && spec.padding_mode !== "zeros")) return false;
  return countProducts(spec) <= SETTINGS.limits.products.kernel;
}
