// Which of the board's settings torch pools with, and the nearest that it does.
import { bothAxes, isPossible } from "../../web/rules/conv_geometry.js";
import { say } from "./sentences.js";

/** @import { Pooling } from "./pool_plane.js" */

/** @param {Spec} spec @param {number} axis */
const mostPadding = ({ kernel_size }, axis) => Math.floor(kernel_size[axis] / 2);

/** @param {unknown[]} pair one where both are alike */
const paired = ([one, other]) => (one === other ? String(one) : `(${one}, ${other})`);

/**
 * Returns a sentence for each setting that torch cannot pool with; none where it can.
 * @param {Settings} settings @param {Pooling["kind"]} kind
 */
export function refusals({ spec, transposed }, kind) {
  const { padding, dilation, padding_mode } = spec;
  const most = bothAxes((axis) => mostPadding(spec, axis));
  const sides = padding.map(([before, after]) => (before === after ? before : [before, after]));
  const tooMuch = padding.some(([before, after], axis) => Math.max(before, after) > most[axis]);
  const found = [];
  if (transposed) found.push(say("refused.transposed"));
  if (padding_mode !== "zeros") found.push(say("refused.mode", { mode: padding_mode }));
  if (sides.some(Array.isArray)) found.push(say("refused.sides", { sides: sides.flat().join(", ") }));
  else if (tooMuch) found.push(say("refused.padding", { padding: paired(sides), most: paired(most) }));
  if (kind === "avg_pool2d" && dilation.some((step) => step > 1))
    found.push(say("refused.dilation", { dilation: paired(dilation) }));
  return found;
}

/**
 * Less padding may leave room for a smaller kernel alone.
 * @param {Spec} spec @param {Pooling["kind"]} kind @returns {Spec}
 */
export function nearestSpec(spec, kind) {
  const dilation = kind === "avg_pool2d" ? bothAxes(() => 1) : spec.dilation;
  let near = withPadding({ ...spec, dilation, padding_mode: "zeros" });
  for (const name of /** @type {const} */ (["dilation", "kernel_size"]))
    while (!isPossible(near) && near[name].some((each) => each > 1))
      near = withPadding({ ...near, [name]: near[name].map((each) => Math.max(each - 1, 1)) });
  return near;
}

/** The larger side, as far as it may be. @param {Spec} spec @returns {Spec} */
function withPadding(spec) {
  const padding = bothAxes((axis) => {
    const side = Math.min(Math.max(...spec.padding[axis]), mostPadding(spec, axis));
    return /** @type {Pair} */ ([side, side]);
  });
  return { ...spec, padding };
}

/** What leads to the nearest, in torch's words. @param {Settings} settings @param {Spec} near */
export function changesTo({ spec, transposed }, near) {
  const sidesOf = (/** @type {Spec} */ { padding }) => padding.map(([side]) => side);
  const changes = [
    ["padding_mode", spec.padding_mode, near.padding_mode],
    ["padding", JSON.stringify(spec.padding), JSON.stringify(near.padding), paired(sidesOf(near))],
    ["dilation", paired(spec.dilation), paired(near.dilation)],
    ["kernel_size", paired(spec.kernel_size), paired(near.kernel_size)],
  ].flatMap(([name, was, is, text = is]) => (was === is ? [] : [`${name}=${text}`]));
  return [...(transposed ? ["conv2d"] : []), ...changes].join(", ");
}

/**
 * Writes the call in Python, without padding, dilation and flags that have their default values.
 * @param {Spec} spec @param {Pooling} pooling
 */
export function torchCall(spec, { kind, ceil_mode, count_include_pad }) {
  const { kernel_size, stride, padding, dilation } = spec;
  const sides = paired(padding.map(([side]) => side));
  const given = [
    `kernel_size=${paired(kernel_size)}`,
    `stride=${paired(stride)}`,
    ...(sides === "0" ? [] : [`padding=${sides}`]),
    ...(paired(dilation) === "1" ? [] : [`dilation=${paired(dilation)}`]),
    ...(ceil_mode ? ["ceil_mode=True"] : []),
    ...(kind === "avg_pool2d" && !count_include_pad ? ["count_include_pad=False"] : []),
  ];
  return `F.${kind}(input, ${given.join(", ")})`;
}
