// What undo leaves alone, and how it tells moves apart.
import { LOOKS } from "./schema.js";

/** A stroke is one step however long it takes. */
export const UNDO_STROKE = "stroke ";

/** With the looks of others. @param {Settings} settings @param {Settings} view @returns {Settings} */
export const seenAs = (settings, view) => ({
  ...settings,
  ...Object.fromEntries(LOOKS.map((name) => [name, view[/** @type {keyof Settings} */ (name)]])),
});
