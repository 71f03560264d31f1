// A row a setting, as settings/schema.py reads it: kind, values, name in a link, looks.
import SETTINGS from "../../facts/data/settings.json" with { type: "json" };
import { TABS } from "./features.js";

/**
 * A link calls it by its name, unless `link` says otherwise: "" leaves it out.
 * @typedef {{ kind: string, spec?: boolean, layer?: boolean, view?: boolean, link?: string, limits?:
 *   Pair, offered?: Pair, words?: (string | number)[] }} Row
 * @typedef {Row & { field: string }} LinkKey
 */

/** Of what the table does not list. @type {Record<string, string[]>} */
const WORDS = { tab: ["", ...TABS] };

/** @type {[string, Row][]} */
export const SCHEMA = Object.entries(/** @type {Record<string, any>} */ (SETTINGS.fields)).map(
  ([name, row]) => [name, name in WORDS ? { ...row, words: WORDS[name] } : row],
);

/** @param {(row: Row) => unknown} is @returns {[string, Row][]} */
const rowsThat = (is) => SCHEMA.filter(([, row]) => is(row));

/** No number follows from them. */
export const LOOKS = rowsThat(({ view }) => view).map(([name]) => name);
/** Per axis; and only a transposed layer's. */
export const PAIRS = rowsThat(({ kind }) => ["pair", "sides"].includes(kind)).map(([name]) => name);
export const OF_THE_LAYER = rowsThat(({ layer }) => layer).map(([name]) => name);
export const OFFERED = Object.fromEntries(SCHEMA.map(([name, { offered }]) => [name, offered]));
export const LARGEST = Object.fromEntries(
  rowsThat(({ spec, limits }) => spec && limits).map(([name, { limits = [0, 0] }]) => [name, limits[1]]),
);
/** @type {Record<string, LinkKey>} */
export const LINK_KEYS = Object.fromEntries(
  rowsThat(({ link }) => link !== "").map(([field, row]) => [row.link ?? field, { ...row, field }]),
);
