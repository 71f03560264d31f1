// The pane's colours as a canvas needs them.
import { shades } from "./planes.js";

/**
 * Values in the hue of the input, gradients in that of the output.
 * @param {PaneTools} pane @returns {import("./column.js").Colours}
 */
export function readColours(pane) {
  const style = getComputedStyle(pane.root);
  const of = (/** @type {string} */ name) => style.getPropertyValue(`--cv-${name}`).trim();
  const bad = [1, 3, 5].map((at) => parseInt(of("bad").slice(at, at + 2), 16));
  return {
    value: shades(pane.scale("input"), bad),
    gradient: shades(pane.scale("output"), bad),
    ink: of("ink"),
    card: of("card"),
    face: style.fontFamily,
  };
}
