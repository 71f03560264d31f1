// @ts-check
// The gradient of the input told as stamps, and beside it the window: the same pairs, in an order that shows
// why one rotates the kernel and the other does not.
import { inTurn, say } from "./say.js";
import { axisTaps } from "../rules/taps.js";

/**
 * @import { Geometry } from "../rules/spec.js"
 * @import { Cell, Link } from "./links.js"
 * @typedef {{ row: number, column: number, text: string }} Badge
 * @typedef {{ spec: () => { name: string, label: string }, grid: { numbered: () => boolean },
 *   veil: { badges: (list: Badge[]) => void } }} BadgedPanel what is needed here of a panel of the board
 */

// The pairs that a sentence lists: beside a tray there is no room for more, and the order is seen by then.
const WRITTEN = 4;

/**
 * What one stamp touches: its cell of grad_output, the kernel as it lies, and the cells that it is added to.
 * @param {Geometry} geometry @param {string} result the panel on which it falls
 * @param {number[]} cell of grad_output @returns {Link[]}
 */
export function stampLinks(geometry, result, cell) {
  const [down, right] = [0, 1].map((axis) => axisTaps(geometry, axis).filter(({ o }) => o === cell[axis]));
  /** @type {Link[]} */
  const found = [{ panel: "grad_output", row: cell[0], column: cell[1], real: true, kernel: null }];
  for (const vertical of down) {
    for (const across of right) {
      const kernel = { panel: "weight", row: vertical.k, column: across.k };
      const [row, column] = [vertical.i, across.i];
      const real = row !== null && column !== null; // else it falls on padding, and is dropped
      found.push({ ...kernel, real, kernel });
      if (!real) continue;
      found.push({ panel: "grad_input", row, column, real, kernel });
      if (result !== "grad_input")
        found.push({ panel: result, row: vertical.at, column: across.at, real, kernel });
    }
  }
  return found;
}

/** The pairing: small numbers on two panels, the same number on the two factors of a product. */
export class Pairing {
  #shown = "";
  #board;

  /**
   * @param {{ aside: (text: string, paired: boolean) => void }} board paired: whether there are such numbers
   */
  constructor(board) {
    this.#board = board;
  }

  /** @param {BadgedPanel[]} panels of the equation @param {Record<string, Badge[]>} badges */
  #mark(panels, badges) {
    for (const panel of panels)
      panel.veil.badges(panel.grid.numbered() ? (badges[panel.spec().name] ?? []) : []);
  }

  /** The panels are others now. */
  forget() {
    this.#shown = "";
  }

  /**
   * Pair the factors of one cell, or none.
   * @param {Cell | null} cell of the input's gradient
   * @param {() => BadgedPanel[]} find the panels of the equation to the input
   * @param {import("./links.js").Links} links
   */
  show(cell, find, links) {
    const key = cell ? `${cell.panel} ${cell.row},${cell.column}` : "none";
    if (key === this.#shown) return; // at every slider step
    this.#shown = key;
    const panels = find();
    /** @param {string} name */
    const named = (name) => panels.find((panel) => panel.spec().name === name);
    /** @param {string} name of a panel that the equation has */
    const labelOf = (name) => /** @type {BadgedPanel} */ (named(name)).spec().label;
    /** @param {string} text @param {Record<string, Badge[]>} badges */
    const tell = (text, badges) => {
      this.#mark(panels, badges);
      this.#board.aside(
        text,
        Object.keys(badges).length > 0 &&
          panels.some((panel) => panel.spec().name in badges && panel.grid.numbered()),
      );
    };
    const stamps = !named("rotated_weight");
    if (!cell) return tell("", {});
    const label = `${labelOf(cell.panel)}[${cell.row},${cell.column}]`;
    const copies = links.results(cell);
    if (copies.length !== 1) {
      return tell(
        say("pairs.copies", { label, cells: copies.length, gradient: labelOf("grad_padded_input") }),
        {},
      );
    }
    // Every factor stands in the panel that is asked for here: padding has no terms.
    const pairs = /** @type {Record<"weight" | "kernel" | "image", Cell>[]} */ (
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
    tell(
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
 * @param {import("./links.js").Links} links @param {string} label of the cell
 * @param {Cell[]} found of the un-rotated kernel, in the order of grad_output @param {boolean} stamps
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
