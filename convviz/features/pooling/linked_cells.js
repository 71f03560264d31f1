// Which cells of the planes of pooling belong to one of them, and which of the board's stand for it.
import { bothAxes, outputSizes } from "../../web/rules/conv_geometry.js";
import { axisTaps } from "../../web/rules/taps.js";
import { windowsWith } from "./pool_plane.js";
import { inputIndex, sizeOf } from "./pooling_sentences.js";

/**
 * @import { Pooled } from "./pool_plane.js"
 * @import { Cell, PlaneName } from "./pooling_sentences.js"
 * @typedef {{ index: number, real: boolean }} Link real: its mask is not 0
 * @typedef {Record<PlaneName, Link[]>} Links
 */

/** @type {Record<string, PlaneName>} */
const PLANE_OF = {
  padded_input: "padded_input",
  weight: "mask",
  output: "output",
  grad_output: "grad_output",
  grad_input: "grad_input",
};

/** @param {Pooled} pooled @param {Cell} cell @param {number} window whose mask is shown @returns {Links} */
export function linksOf(pooled, { plane, index }, window) {
  const found =
    plane === "padded_input"
      ? windowsWith(pooled, "at", index)
      : plane === "grad_input"
        ? windowsWith(pooled, "i", index)
        : tapsOf(pooled, plane === "mask" ? window : index).filter(
            ({ tap }) => plane !== "mask" || tap.k === index,
          );
  const own = { index, real: true };
  const { taps } = pooled.windows[window];
  const links = {
    padded_input: once(found.map(({ tap }) => [tap.at, tap])),
    output: once(found.map(({ o, tap }) => [o, tap])),
    grad_output: once(found.map(({ o, tap }) => [o, tap])),
    mask: once(found.filter(({ tap }) => taps.includes(tap)).map(({ tap }) => [tap.k, tap])),
    grad_input: once(found.flatMap(({ tap }) => (tap.i === null ? [] : [[tap.i, tap]]))),
  };
  return { ...links, [plane]: [own] };
}

/** @param {Pooled} pooled @param {number} o */
const tapsOf = ({ windows }, o) => windows[o].taps.map((tap) => ({ o, tap }));

/** @param {any[]} pairs index, tap @returns {Link[]} */
function once(pairs) {
  const real = new Map();
  for (const [index, { share }] of pairs) real.set(index, real.get(index) || share > 0);
  return [...real].map(([index, is]) => ({ index, real: is }));
}

/**
 * Returns the window to show for a cell: the first that takes it, else the first that reads it. Returns null where no
 * window reads it, and for the mask, whose window is shown already.
 * @param {Pooled} pooled @param {Cell} cell @returns {number | null}
 */
export function windowOf(pooled, { plane, index }) {
  if (plane === "output" || plane === "grad_output") return index;
  if (plane === "mask") return null;
  const found = windowsWith(pooled, plane === "padded_input" ? "at" : "i", index);
  return (found.find(({ tap }) => tap.share) ?? found[0])?.o ?? null;
}

/**
 * Returns null where no plane of this tab has the cell.
 * @param {Pooled} pooled @param {Place | null} place of the board @returns {Cell | null}
 */
export function cellAt(pooled, place) {
  const plane = place && PLANE_OF[place.panel];
  if (!plane) return null;
  const [height, width] = sizeOf(pooled, plane);
  const isInside = place.row < height && place.column < width;
  return isInside ? { plane, index: place.row * width + place.column } : null;
}

/**
 * Returns the board's cells that show the same numbers; it has none for padding and for what ceil_mode adds.
 * @param {Pooled} pooled @param {Links} links @returns {Place[]}
 */
export function boardCells(pooled, links) {
  const of = outputSizes(pooled.spec);
  return /** @type {const} */ (["padded_input", "grad_output"]).flatMap((panel) => {
    const width = sizeOf(pooled, panel)[1];
    return links[panel]
      .map(({ index }) => ({ panel, row: Math.floor(index / width), column: index % width, index }))
      .filter(({ row, column, index: at }) =>
        panel === "padded_input" ? inputIndex(pooled, at) !== null : row < of[0] && column < of[1],
      )
      .map(({ row, column }) => ({ panel, row, column }));
  });
}

/** A pixel is in two windows. @param {Spec} spec @param {Pair} output_size */
export function overlaps(spec, output_size) {
  const lines = bothAxes((axis) =>
    axisTaps({ ...spec, output_size }, axis).flatMap(({ i }) => (i === null ? [] : [i])),
  );
  return lines.every(({ length }) => length) && lines.some((all) => new Set(all).size < all.length);
}
