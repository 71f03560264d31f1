// The input's gradient as stamps and as a window: the same pairs, in an order that shows why one rotates the
// kernel.
import { inTurn, say } from "./sentences.js";
import { axisTaps } from "../rules/taps.js";

/**
 * @typedef {{ row: number, column: number, text: string }} Badge
 * @typedef {{ spec: () => { name: string, label: string }, grid: { numbered: () => boolean }, veil: { badges:
 *   (list: Badge[]) => void } }} BadgedPanel what is used of a panel
 */

// More has no room beside a tray.
const WRITTEN = 4;

/**
 * grad_output's cell, the kernel, and the cells that it is added to.
 * @param {Geometry} geometry @param {string} result @param {number[]} cell @returns {Link[]}
 */
export function stampLinks(geometry, result, cell) {
  const [down, right] = [0, 1].map((axis) => axisTaps(geometry, axis).filter(({ o }) => o === cell[axis]));
  /** @type {Link[]} */
  const found = [{ panel: "grad_output", row: cell[0], column: cell[1], real: true, kernel: null }];
  for (const vertical of down) {
    for (const across of right) {
      const kernel = { panel: "weight", row: vertical.k, column: across.k };
      const [row, column] = [vertical.i, across.i];
      const real = row !== null && column !== null; // a product that falls on padding is dropped
      found.push({ ...kernel, real, kernel });
      if (!real) continue;
      found.push({ panel: "grad_input", row, column, real, kernel });
      if (result !== "grad_input")
        found.push({ panel: result, row: vertical.at, column: across.at, real, kernel });
    }
  }
  return found;
}

/** Small numbers, the same on both factors of a product. */
export class Pairing {
  #shown = "";
  #board;

  /** @param {{ aside: (text: string, paired: boolean) => void }} board */
  constructor(board) {
    this.#board = board;
  }

  /** Forgets what it knew of panels that are gone. */
  forget() {
    this.#shown = "";
  }

  /**
   * Numbers the factors of each product of a cell; null removes the numbers.
   * @param {Place | null} cell @param {() => BadgedPanel[]} find @param {Links} links
   */
  show(cell, find, links) {
    const key = cell ? `${cell.panel} ${cell.row},${cell.column}` : "none";
    if (key === this.#shown) return; // most steps of a slider change nothing here
    this.#shown = key;
    const panels = find();
    /** @param {string} name */
    const named = (name) => panels.find((panel) => panel.spec().name === name);
    /** @param {string} name */
    const labelOf = (name) => /** @type {BadgedPanel} */ (named(name)).spec().label;
    /** @param {string} text @param {Record<string, Badge[]>} badges */
    const display = (text, badges) => {
      for (const { veil, grid, spec } of panels)
        veil.badges(grid.numbered() ? (badges[spec().name] ?? []) : []);
      this.#board.aside(
        text,
        Object.keys(badges).length > 0 &&
          panels.some((panel) => panel.spec().name in badges && panel.grid.numbered()),
      );
    };
    const stamps = !named("rotated_weight");
    if (!cell) return display("", {});
    const label = `${labelOf(cell.panel)}[${cell.row},${cell.column}]`;
    const copies = links.results(cell);
    if (copies.length !== 1) {
      return display(
        say("pairs.copies", { label, cells: copies.length, gradient: labelOf("grad_padded_input") }),
        {},
      );
    }
    // Padding has no terms, so every factor is found.
    const pairs = /** @type {Record<"weight" | "kernel" | "image", Place>[]} */ (
      links.terms(cell).map(({ kernel, image }) => ({
        weight: links.copyIn("weight", kernel),
        kernel: stamps ? links.copyIn("weight", kernel) : kernel,
        image: stamps ? links.copyIn("grad_output", image) : image,
      }))
    );
    /** @type {Record<string, Badge[]>} */
    const badges = {};
    for (const part of /** @type {("kernel" | "image")[]} */ (["kernel", "image"])) {
      if (pairs.length)
        badges[pairs[0][part].panel] = pairs.map((pair, index) => ({
          row: pair[part].row,
          column: pair[part].column,
          text: String(index + 1),
        }));
    }
    display(
      words(
        links,
        label,
        pairs.map((pair) => pair.weight),
        stamps,
      ),
      badges,
    );
  }
}

/**
 * @param {Links} links @param {string} label @param {Place[]} found
 * @param {boolean} stamps
 */
function words(links, label, found, stamps) {
  if (!found.length) return say("pairs.none", { label });
  const list = found.map(({ row, column }) => `[${row},${column}]`);
  const cells = (
    list.length > WRITTEN ? [...list.slice(0, WRITTEN - 2), "\u2026", ...list.slice(-1)] : list
  ).join(", ");
  if (list.length > 1) return say(stamps ? "pairs.stamps" : "pairs.window", { label, cells });
  const channels = links.geometry.out_channels / links.geometry.groups;
  const alone = say(channels > 1 ? "pairs.one.channels" : "pairs.one", { label, cells, channels });
  return inTurn(alone, links.overlap() ? say("pairs.point") : "");
}
