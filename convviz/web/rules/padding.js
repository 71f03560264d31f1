// Padding a side, and torch's names for it.
import { LIMITS, reachable } from "./bounds.js";
import { setGeometry } from "./change_settings.js";
import { axisName, say } from "./sentences.js";
import { replaced } from "./settings_and_tensors.js";
import { bothAxes, effectiveKernel, isPossible } from "./conv_geometry.js";

/** Of each axis before and behind. */
export const PADDING_SIDES = /** @type {const} */ ([
  ["top", "bottom"],
  ["left", "right"],
]);
export const PADDING_NAMES = ["valid", "same"];

/** @param {Spec} spec @param {number} axis @param {number} side @param {number} cells @returns {Spec} */
function withSide(spec, axis, side, cells) {
  /** @type {[Pair, Pair]} */
  const padding = bothAxes((each) => [...spec.padding[each]]);
  padding[axis][side] = cells;
  return { ...spec, padding };
}

/** @param {Spec} spec @param {number} axis @param {number} side */
export const sideRange = (spec, axis, side) =>
  reachable(spec.padding[axis][side], LIMITS.padding, (cells) =>
    isPossible(withSide(spec, axis, side, cells)),
  );

/**
 * @param {Settings} settings @param {number} axis @param {number} side @param {number} cells
 * @returns {Changed}
 */
export function setSide(settings, axis, side, cells) {
  const made = withSide(settings.spec, axis, side, cells);
  if (isPossible(made)) return [replaced(settings, { spec: made }), []];
  const [low, high] = sideRange(settings.spec, axis, side);
  const where = say(`side.${PADDING_SIDES[axis][side]}`);
  throw new Error(say("refused.range", { name: `padding (${where})`, low, high, value: cells }));
}

/** The odd cell goes behind. @param {Spec} spec @returns {[Pair, Pair]} */
const sameSides = (spec) =>
  bothAxes((axis) => {
    const cells = effectiveKernel(spec, axis) - 1;
    return [Math.floor(cells / 2), Math.ceil(cells / 2)];
  });

/** Names the padding as torch does; "cells" means that torch has no name for it. @param {Settings} settings */
export function paddingName({ spec }) {
  if (spec.padding.flat().every((cells) => cells === 0)) return "valid";
  const one = spec.stride.every((step) => step === 1);
  return one && String(spec.padding) === String(sameSides(spec)) ? "same" : "cells";
}

/** Once: a later kernel has its own. @param {Settings} settings @param {string} name @returns {Changed} */
export function namePadding(settings, name) {
  const { spec } = settings;
  if (name !== "same")
    return setGeometry(settings, { padding: bothAxes(() => /** @type {Pair} */ ([0, 0])) });
  if (spec.stride.some((step) => step > 1))
    throw new Error(say("refused.same", { stride: `(${spec.stride.join(", ")})` }));
  const padding = sameSides(spec);
  const odd = [0, 1]
    .filter((axis) => padding[axis][0] !== padding[axis][1])
    .map((axis) =>
      say("same.odd", {
        axis: axisName(axis),
        count: padding[axis][0] + padding[axis][1],
        side: say(`side.${PADDING_SIDES[axis][1]}`),
      }),
    );
  const [made, notices] = setGeometry(settings, { padding });
  return [made, [...(String(made.spec.padding) === String(padding) ? odd : []), ...notices]];
}
