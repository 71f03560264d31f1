// The entries under which the tabs of a page are found: an entry has one part or several, each a tab.
import NAMES from "../../facts/names.json" with { type: "json" };
import SETTINGS from "../../facts/settings.json" with { type: "json" };
import { say } from "./tab_group_sentences.js";

/**
 * @typedef {{ name: string, id: string, label: string, quiet: boolean, parts: string[] }} Entry id: its only
 *   tab, or the entry; quiet: few look for it
 */

/** @param {string} tab */
export const tabName = (tab) => NAMES.tabs[/** @type {"code"} */ (tab)];

/** @param {(tab: string) => boolean} has @returns {Entry[]} */
export const entriesOf = (has) =>
  Object.entries(SETTINGS.tab_entries).flatMap(([name, all]) => {
    const parts = all.filter(has);
    if (!parts.length) return [];
    const id = parts.length > 1 ? `entry-${name}` : parts[0];
    const label = tabName(name) ?? (parts.length > 1 ? say("more") : tabName(parts[0]));
    return [{ name, id, label, quiet: !tabName(name), parts }];
  });

/** @type {Record<string, string>} */
const BAND_OF_TAB = { matrix: "forward", linear: "forward", quantised: "forward" };
/** @type {Record<string, string>} */
const BAND_OF_MISTAKES = { W: "weight", B: "bias" };

/** The band that a tab speaks of; empty: no tab. @param {{ tab: string, mistake: string }} settings */
export const bandOf = ({ tab, mistake }) =>
  tab && ((tab === "mistakes" ? BAND_OF_MISTAKES[mistake[0]] : BAND_OF_TAB[tab]) ?? "input");
