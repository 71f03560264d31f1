// The entries under which the tabs of a page are found: an entry has one part or several, each a tab.
import { TABS, featureOf, tabName } from "../rules/features.js";
import { say } from "./tab_group_sentences.js";

/**
 * @typedef {{ name: string, id: string, label: string, quiet: boolean, parts: string[] }} Entry id: its only
 *   tab, or the entry; quiet: few look for it
 */

const MORE = "more"; // the entry of what few look for

/** @param {string} tab */
const entryOf = (tab) => featureOf(tab)?.entry ?? "";

/** @param {(tab: string) => boolean} has @returns {Entry[]} */
export const tabEntries = (has) =>
  [...new Set(TABS.map(entryOf))].flatMap((name) => {
    const parts = TABS.filter((tab) => entryOf(tab) === name && has(tab));
    if (!parts.length) return [];
    const id = parts.length > 1 ? `entry-${name}` : parts[0];
    const first = featureOf(name);
    // After its own tab where that is here; an only part by its own name.
    const named = first?.entry_label ?? (has(name) || parts.length > 1 ? first?.label : undefined);
    const several = name === MORE && parts.length > 1;
    return [
      { name, id, label: named ?? (several ? say("more") : tabName(parts[0])), quiet: name === MORE, parts },
    ];
  });

/** @type {Record<string, string>} */
const BAND_OF_MISTAKES = { W: "weight", B: "bias" };

/**
 * Returns the band that a tab speaks of, or an empty text where it speaks of none.
 * @param {{ tab: string, mistake: string }} settings
 */
export function tabBand({ tab, mistake }) {
  const band = (tab && featureOf(tab)?.band) || "";
  return band === "mistake" ? (BAND_OF_MISTAKES[mistake[0]] ?? "input") : band;
}
