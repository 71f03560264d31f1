// @ts-check
// The settings, a row each: what settings/schema.py reads for Python. It says what a value is, which values
// there are, what a link calls it, and whether it is only looked at.
import SETTINGS from "../../facts/settings.json" with { type: "json" };

/**
 * A row. A link calls the setting by its name, unless `link` says otherwise: "" leaves it out.
 * @typedef {{ kind: string, spec?: boolean, layer?: boolean, view?: boolean, link?: string,
 *   limits?: [number, number], offered?: [number, number], words?: (string | number)[] }} Row
 * @typedef {Row & { field: string }} LinkKey
 */

/** @type {[string, Row][]} */
export const ROWS = Object.entries(/** @type {Record<string, any>} */ (SETTINGS.fields));

/**
 * The rows of the settings that are like this one.
 * @param {(row: Row) => unknown} is @returns {[string, Row][]}
 */
const rowsThat = (is) => ROWS.filter(([, row]) => is(row));

/** What undo leaves alone, because it changes no number. */
export const LOOKS = rowsThat(({ view }) => view).map(([name]) => name);
/** What each axis has a control of, and what of it a transposed convolution alone has. */
export const PAIRS = rowsThat(({ kind }) => ["pair", "sides"].includes(kind)).map(([name]) => name);
export const OF_THE_LAYER = rowsThat(({ layer }) => layer).map(([name]) => name);
/** The ends of what a slider offers, by setting. */
export const OFFERED = Object.fromEntries(ROWS.map(([name, { offered }]) => [name, offered]));
/** The most of a geometry that is shown, by field. */
export const LARGEST = Object.fromEntries(
  rowsThat(({ spec, limits }) => spec && limits).map(([name, { limits = [0, 0] }]) => [name, limits[1]]),
);
/** The keys of a link, in its order. @type {Record<string, LinkKey>} */
export const LINK_KEYS = Object.fromEntries(
  rowsThat(({ link }) => link !== "").map(([field, row]) => [row.link ?? field, { ...row, field }]),
);
