// @ts-check
// The remainder of a transposed convolution, in the words of views/output_padding.py. A test holds the two equal.
import { MOST_CELLS } from "../rules/bounds.js";
import { LINES, MOST_SIZES, orWords, remainders, sameOutput } from "./remainder.js";
import { AXES, bothAxes, outputSize, remainderOf } from "../rules/spec.js";

/**
 * @import { Spec } from "../rules/spec.js"
 * @import { NearSize, RemainderStory } from "./remainder.js"
 */

/**
 * What there is to say about output_padding; null for stride 1, where every output has an input of its own.
 * @param {Spec} spec @param {boolean} linked whether height and width are set together
 * @returns {RemainderStory | null}
 */
export function layersStoryOf(spec, linked) {
  if (spec.stride.every((step) => step === 1)) return null;
  return { paragraphs: [`${shared(spec)} ${effect(spec)}`], sizes: layerSizes(spec, linked), named: "Values of output_padding" };
}

/** @param {number[]} pair */
const pairWords = ([rows, columns]) => (rows === columns ? String(rows) : `(${rows}, ${columns})`);

/** @param {Spec} spec */
function shared(spec) {
  const [ups, acrosses] = bothAxes((axis) => sameOutput(spec, axis));
  const [heights, widths] = [orWords(ups), orWords(acrosses)];
  const which = heights === widths ? `size ${heights}` : `height ${heights} and width ${widths}`;
  const made = bothAxes((axis) => outputSize(spec, axis)).join(" × ");
  const chosen = `output_padding=${pairWords(remainders(spec))} chooses ${spec.input_size.join(" × ")}.`;
  if (ups.length === 1 && acrosses.length === 1) {
    return `conv2d makes ${made} of an output of ${which} alone, so the input tells which one to make. ${chosen}`;
  }
  return `conv2d makes ${made} of every output of ${which}, so the input alone does not tell which of them to make. ${chosen}`;
}

/** Which lines are there because of output_padding: the padding would cut some off, others are new. @param {Spec} spec */
function effect(spec) {
  const gains = bothAxes((axis) => gained(spec, axis));
  const [kept, added] = [gains.map(([cells]) => cells), gains.map(([, cells]) => cells)];
  const parts = [];
  if (kept.some(Boolean)) parts.push(`keeps ${linesOf(kept)} that the padding would cut off`);
  if (added.some(Boolean)) parts.push(`adds ${linesOf(added)} behind the last stamp, which no input cell reaches`);
  return parts.length ? `It ${parts.join(" and ")}.` : "It adds nothing: this is the smallest of them.";
}

/** How many lines of the output would be cut off without output_padding, and how many would not be made. @param {Spec} spec @param {number} axis */
function gained(spec, axis) {
  const [before, after] = spec.padding[axis];
  const end = before + spec.input_size[axis];
  const stamped = end + after - remainderOf(spec, axis); // lines before anything is cut off or added
  const cut = Math.min(stamped, end) - Math.max(before, stamped - after);
  return [Math.max(cut, 0), Math.max(end - Math.max(before, stamped), 0)];
}

/** @param {number[]} counts */
const linesOf = (counts) =>
  counts.flatMap((count, axis) => (count ? [`${count} ${LINES[axis]}${count > 1 ? "s" : ""}`] : [])).join(" and ");

/** @param {Spec} spec @param {boolean} linked */
function layerSizes(spec, linked) {
  /** @type {[NearSize[], number[]]} */
  const [found, old] = [[], remainders(spec)];
  for (const axis of linked ? [0] : [0, 1]) {
    for (const cells of offers(linked ? Math.min(...spec.stride) : spec.stride[axis], old[axis])) {
      const wanted = linked ? [cells, cells] : axis === 0 ? [cells, old[1]] : [old[0], cells];
      const size = spec.input_size.map((lines, each) => lines - old[each] + wanted[each]);
      if (Math.max(...size) > MOST_CELLS || Math.min(...size) < 1) continue;
      const label = `${linked ? "" : `${AXES[axis]}: `}output_padding ${cells}`;
      found.push({ label, note: `output ${size.join(" × ")}`, size, current: String(wanted) === String(old) });
    }
  }
  return found;
}

/** Some values of output_padding below the stride. @param {number} stride @param {number} now */
function offers(stride, now) {
  const all = stride > 1 ? [...Array(stride).keys()] : [];
  return stride > MOST_SIZES ? all.filter((value) => [0, now - 1, now, now + 1, stride - 1].includes(value)) : all;
}
