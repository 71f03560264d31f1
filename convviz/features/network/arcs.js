// Skips: an arc from an operation to one that reads it later than the next. The gradient goes back over it.
import { setAttribute, svgElement } from "../../web/base/dom.js";
import { nameOf, say } from "./sentences.js";

const LEAST = 0.4; // no arc is lower than this share of the highest

/** @param {NetworkOperation[]} operations @returns {Pair[]} source, and who reads it */
export const skipsOf = (operations) =>
  operations.flatMap(({ index, sources }) =>
    [...new Set(sources)]
      .filter((source) => source !== index - 1)
      .map((source) => /** @type {Pair} */ ([source, index])),
  );

/**
 * Says where ways part or meet; the text is empty where there is only one way.
 * @param {NetworkOperation[]} operations @param {number} index
 */
export function waysText(operations, index) {
  const names = (/** @type {NetworkOperation[]} */ of) => of.map(nameOf).join(", ");
  const sources = [...new Set(operations[index].sources)].map((at) => operations[at]);
  const readers = operations.filter((each) => each.sources.includes(index));
  return [
    sources.length > 1 ? say("bar.sources", { names: names(sources) }) : "",
    readers.length > 1 ? say("reader.several", { count: readers.length, names: names(readers) }) : "",
  ]
    .filter(Boolean)
    .join(" ");
}

export class Arcs {
  #all = svgElement("path");
  #marked = svgElement("path.cv-marked");
  el = svgElement(
    "svg.cv-network-arcs",
    { "aria-hidden": "true", preserveAspectRatio: "none", hidden: "" },
    this.#all,
    this.#marked,
  );
  /** @type {{ skip: Pair, path: string }[]} */
  #arcs = [];

  /** @param {Pair[]} skips @param {(operation: number) => number} across where it is @param {number} width */
  set(skips, across, width) {
    const longest = Math.max(...skips.map(([from, to]) => to - from));
    this.#arcs = skips.map((skip) => {
      const [start, end] = skip.map(across);
      const height = LEAST + ((1 - LEAST) * (skip[1] - skip[0])) / longest;
      const top = 1 - (4 / 3) * 0.95 * height; // y of the curve's two handles
      return { skip, path: `M${start} 1C${start} ${top} ${end} ${top} ${end} 1` };
    });
    this.el.toggleAttribute("hidden", !skips.length);
    setAttribute(this.el, "viewBox", `0 0 ${width} 1`);
    setAttribute(this.#all, "d", this.#arcs.map(({ path }) => path).join(""));
  }

  /** Marks the arcs that start or end at an operation. @param {number | null} operation */
  mark(operation) {
    const own = this.#arcs.filter(({ skip }) => operation !== null && skip.includes(operation));
    setAttribute(this.#marked, "d", own.map(({ path }) => path).join(""));
  }
}
