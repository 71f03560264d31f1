// A transposed layer's remainder: output_padding.
import { MAX_CELLS } from "../rules/bounds.js";
import { MAX_OFFERED_SIZES, sharedWords } from "./remainder_sentences.js";
import { inTurn, linesOf, pairWords, say } from "./sentences.js";
import { bothAxes, outputSizes, remainderOf, remainders } from "../rules/conv_geometry.js";
import { upTo } from "../rules/shapes_and_indices.js";

/** @import { NearSize, RemainderStory } from "./remainder_sentences.js" */

/**
 * Explains output_padding, or returns null where both strides are 1.
 * @param {Spec} spec @param {boolean} linked @returns {RemainderStory | null}
 */
export function paddingStory(spec, linked) {
  if (spec.stride.every((step) => step === 1)) return null;
  return {
    paragraphs: [inTurn(shared(spec), effect(spec))],
    sizes: layerSizes(spec, linked),
    named: say("layers.near_named"),
  };
}

/** @param {Spec} spec */
function shared(spec) {
  const [height, width] = outputSizes(spec);
  const made = sharedWords(spec, "layers", { height, width });
  const chosen = {
    value: pairWords(remainders(spec)),
    height: spec.input_size[0],
    width: spec.input_size[1],
  };
  return inTurn(made, say("layers.chosen", chosen));
}

/** Kept from cropping, or added. @param {Spec} spec */
function effect(spec) {
  const gains = bothAxes((axis) => gained(spec, axis));
  const [kept, added] = [linesOf(gains.map(([cells]) => cells)), linesOf(gains.map(([, cells]) => cells))];
  if (kept && added) return say("layers.keeps_and_adds", { kept, added });
  if (kept) return say("layers.keeps", { kept });
  return added ? say("layers.adds", { added }) : say("layers.nothing");
}

/** Lines kept from cropping, and lines added. @param {Spec} spec @param {number} axis */
function gained(spec, axis) {
  const [before, after] = spec.padding[axis];
  const end = before + spec.input_size[axis];
  const stamped = end + after - remainderOf(spec, axis); // where the stamps end before cropping
  const cut = Math.min(stamped, end) - Math.max(before, stamped - after);
  return [Math.max(cut, 0), Math.max(end - Math.max(before, stamped), 0)];
}

/** @param {Spec} spec @param {boolean} linked */
function layerSizes(spec, linked) {
  const old = remainders(spec);
  /** @param {number} cells @param {typeof NEAR[number]} id @param {number[]} wanted @returns {NearSize[]} */
  const near = (cells, id, wanted) => {
    const size = spec.input_size.map((lines, axis) => lines - old[axis] + wanted[axis]);
    if (Math.max(...size) > MAX_CELLS || Math.min(...size) < 1) return [];
    const note = say("layers.near_output", { height: size[0], width: size[1] });
    return [{ label: say(id, { cells }), note, size, current: String(wanted) === String(old) }];
  };
  if (linked)
    return offers(Math.min(...spec.stride), old[0]).flatMap((cells) => near(cells, NEAR[0], [cells, cells]));
  const [heights, widths] = bothAxes((axis) => offers(spec.stride[axis], old[axis]));
  return [
    ...heights.flatMap((cells) => near(cells, NEAR[1], [cells, old[1]])),
    ...widths.flatMap((cells) => near(cells, NEAR[2], [old[0], cells])),
  ];
}

const NEAR = /** @type {const} */ (["layers.near", "layers.near_height", "layers.near_width"]);

/** @param {number} stride @param {number} now */
function offers(stride, now) {
  const all = stride > 1 ? upTo(stride) : [];
  return stride > MAX_OFFERED_SIZES
    ? all.filter((value) => [0, now - 1, now, now + 1, stride - 1].includes(value))
    : all;
}
