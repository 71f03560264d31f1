// The features: each a tab, and a folder of convviz/features. What they say they are, in the order of the page.
import FEATURES from "../../facts/data/features.json" with { type: "json" };

/** @typedef {typeof FEATURES[number]} Feature */

export const TABS = FEATURES.map(({ name }) => name);

/** @param {string} name */
export const featureOf = (name) => FEATURES.find((feature) => feature.name === name);

/** @param {(feature: Feature) => unknown} holds */
export const tabsThat = (holds) => FEATURES.filter(holds).map(({ name }) => name);

/** Of one that is not here, its id. @param {string} tab */
export const tabName = (tab) => featureOf(tab)?.label ?? tab;

/** They run a visitor's own code. */
export const OF_A_NOTEBOOK = tabsThat(({ works }) => works === "notebook");
