// A band's caption: plain words, and why; formulas_and_notes.js has the formulas.
import { kindsOf } from "./cell_kinds.js";
import { allInTurn, inTurn, linesOf, say, sayIfThere } from "./sentences.js";
import {
  bothAxes,
  effectiveKernel,
  outputSize,
  paddedSize,
  remainderOf,
  unreadLines,
} from "../rules/conv_geometry.js";

/** @param {Settings} settings @param {string} name @param {string} view */
export function captionOf({ spec, transposed, loss, target }, name, view) {
  const caption = bandCaption(spec, transposed, name, view);
  if (name !== (transposed ? "input" : "forward")) return caption;
  const [id, count] = [`caption.loss.${loss}`, spec.batch];
  return inTurn(caption, sayIfThere(`${id}.${target.kind}`, { count }) || sayIfThere(id, { count }));
}

/** @param {Spec} spec @param {boolean} transposed @param {string} name @param {string} view */
function bandCaption(spec, transposed, name, view) {
  if (name === "bias") return say("caption.bias");
  const layer = transposed ? "layer." : "";
  if (name === "weight") return say(`caption.${layer}weight`);
  if (name === "forward")
    return inTurn(say(`caption.${layer}forward`), transposed ? "" : inTurn(groupsOf(spec), gapsOf(spec)));
  if (view === "stamps") return say(`caption.${layer}stamps`);
  if (view === "both") return say(`caption.${layer}both`);
  const folded = spec.padding_mode !== "zeros";
  const { rows, columns } = kindsOf(spec, "padded_grad_output", []);
  const zeros = /[^d]/.test(rows + columns);
  return inTurn(
    say(folded ? "caption.window.folded" : `caption.${layer}window`),
    zeros ? say(`caption.${layer}zeros`) : "",
  );
}

/** @param {Spec} spec */
const groupsOf = ({ groups, in_channels }) =>
  groups > 1 ? say("caption.groups", { count: in_channels / groups, groups }) : "";

/** Unread lines between windows, and inside them; without the remainder. @param {Spec} spec */
function innerGaps(spec) {
  const places = bothAxes((axis) => {
    const [step, end] = [spec.stride[axis], paddedSize(spec, axis) - remainderOf(spec, axis)];
    const inner = unreadLines(spec, axis)
      .map((i) => i + spec.padding[axis][0])
      .filter((at) => at < end);
    // The last window at or before a line reaches furthest.
    const startOf = (/** @type {number} */ at) =>
      Math.min(Math.floor(at / step), outputSize(spec, axis) - 1) * step;
    const inside = inner.filter((at) => at < startOf(at) + effectiveKernel(spec, axis)).length;
    return { between: inner.length - inside, inside };
  });
  return { between: places.map((place) => place.between), inside: places.map((place) => place.inside) };
}

/** @param {Spec} spec */
function gapsOf(spec) {
  const { between, inside } = innerGaps(spec);
  const causes = /** @type {["gaps.stride" | "gaps.dilation", number[]][]} */ ([
    ["gaps.stride", between],
    ["gaps.dilation", inside],
  ]);
  const present = causes.filter(([, counts]) => counts.some(Boolean));
  const sentences = present.map(([cause, counts]) =>
    say(cause, { count: counts[0] + counts[1], lines: linesOf(counts) }),
  );
  return allInTurn(sentences);
}
