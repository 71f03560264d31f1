// What raises "why?": rotation, zeros, borders, remainders.
import { sayWhy } from "./why_button_sentences.js";
import { remainderOf } from "../rules/conv_geometry.js";

/**
 * @typedef {"rotated" | "swapped" | "inserted" | "border" | "remainder" | "folded"} Topic
 * @typedef {{ name: string, rows: string, columns: string, unread_rows: number[], unread_columns: number[]
 *   }} Shown a panel
 */

/** @param {string} band @param {Shown[]} panels @param {Geometry} geometry */
export function topicsOf(band, panels, geometry) {
  if (geometry.transposed) return []; // no gradient is rotated there
  /** @param {string} name */
  const named = (name) => panels.find((panel) => panel.name === name);
  /** @param {string} name @param {string} letter */
  const has = (name, letter) =>
    Boolean(named(name) && `${named(name)?.rows}${named(name)?.columns}`.includes(letter));
  /** @param {string} name */
  const unread = (name) =>
    (named(name)?.unread_rows.length ?? 0) + (named(name)?.unread_columns.length ?? 0) > 0;
  const turned = Boolean(named("rotated_weight"));
  // The caption explains gaps.
  const leftOver =
    band === "forward"
      ? unread("padded_input")
      : band === "input" && (unread("grad_input") || has("padded_grad_output", "r"));
  /** @type {Record<Topic, boolean>} */
  const raised = {
    rotated: turned && geometry.kernel_size.some((cells) => cells > 1),
    swapped: turned && Math.max(geometry.out_channels, geometry.in_channels) > geometry.groups,
    inserted: has("padded_grad_output", "i") || (band === "weight" && has("dilated_grad_output", "i")),
    border: has("padded_grad_output", "p"),
    remainder: [0, 1].some((axis) => remainderOf(geometry, axis)) && leftOver,
    folded: has("grad_padded_input", "c"),
  };
  return /** @type {Topic[]} */ (Object.keys(raised)).filter((topic) => raised[topic]);
}

/** @param {Topic} topic @param {Geometry} geometry */
export function becauseWords(
  topic,
  { stride, kernel_size: kernel, padding_mode: mode, out_channels, in_channels, groups },
) {
  const steps = stride[0] === stride[1] ? stride[0] : stride.join(" × ");
  const values = {
    stride: steps,
    cells: kernel[0] * kernel[1],
    mode,
    out_channels: out_channels / groups,
    in_channels: in_channels / groups,
  };
  return sayWhy(`because.${topic}`, values);
}
