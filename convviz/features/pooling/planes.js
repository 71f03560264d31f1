// The planes of pooling: two rows of linked heatmaps, the mask in the weight's place.
import { element } from "../../web/base/dom.js";
import { Heatmap } from "../../web/board/grid/tab_heatmap.js";
import { rowsOf } from "../../web/rules/shapes_and_indices.js";
import { limitOf, signOf } from "../../web/tabs/pane_elements.js";
import { gradInput } from "./pool_plane.js";
import { inputIndex, sizeOf } from "./pooling_sentences.js";
import { say } from "./sentences.js";

/**
 * @import { Pooled } from "./pool_plane.js"
 * @import { Cell, PlaneName } from "./pooling_sentences.js"
 * @import { Links } from "./linked_cells.js"
 */

const ROWS = /** @type {const} */ ([
  ["forward", ["padded_input", "mask", "output"]],
  ["backward", ["grad_output", "mask", "grad_input"]],
]);
const SIGNS = ["\u00b7", "="];
// In pixels. Around a row: its title, captions and signs; below: what stands under both rows.
const CELL = { least: 4, most: 34, numbered: 15 };
const AROUND = { width: 150, height: 70 };
const BELOW = 70;
const MASK_CELL = 20; // at least: it is small
const NARROW = 560; // as on a phone: it scrolls, and is as high as what stands in it

export class Planes {
  /** @type {{ plane: PlaneName, map: Heatmap, row: number }[]} */
  #maps = [];
  #room = { width: 900, height: 310 };
  #cells = [{ beside: 0, below: 0 }]; // of each row, by where they stand
  #way = /** @type {"beside" | "below"} */ ("beside");
  el;

  /** @param {PaneTools} pane @param {(cell: Cell) => void} onPoint @param {() => void} onLeave */
  constructor(pane, onPoint, onLeave) {
    const rows = ROWS.map(([title, planes], row) => {
      const parts = planes.flatMap((plane, place) => {
        const map = new Heatmap(pane, {
          onPoint: (down, right) => onPoint({ plane, index: down * this.#widths[plane] + right }),
          onLeave,
        });
        map.el.dataset.tensor = plane;
        this.#maps.push({ plane, map, row });
        const before = place ? [signOf(SIGNS[place - 1])] : [];
        return [element("div.cv-pool-term", ...before, map.el)];
      });
      return element("div.cv-pool-row", element("h4", say(title)), element("div.cv-flow", ...parts));
    });
    this.el = element("div.cv-pool-rows", { "data-part": "planes" }, ...rows);
  }

  #widths = { padded_input: 1, output: 1, grad_output: 1, mask: 1, grad_input: 1 };
  #shown = ""; // key of the mask that is drawn
  /** @type {number[]} */
  #wrong = [];

  /** @param {Pooled} pooled @param {boolean} overwritten = for += */
  set(pooled, overwritten) {
    const gradient = overwritten ? gradInput(pooled, true) : pooled.grad_input;
    this.#wrong = [...gradient.keys()].filter((index) => gradient[index] !== pooled.grad_input[index]);
    const padded = paddedOf(pooled);
    const values = { padded_input: padded, output: pooled.output, grad_output: pooled.grad_output };
    const limits = {
      forward: limitOf(padded.filter(Number.isFinite)),
      backward: limitOf([...Array.from(pooled.grad_output), ...pooled.grad_input]),
    };
    this.#shown = "";
    this.#place(pooled);
    for (const { plane, map, row } of this.#maps) {
      this.#widths[plane] = sizeOf(pooled, plane)[1];
      if (plane === "mask") continue;
      const isGradient = plane.startsWith("grad_");
      map.set({
        values: rowsOf(Array.from(plane === "grad_input" ? gradient : values[plane]), this.#widths[plane]),
        label: plane,
        limit: isGradient ? limits.backward : limits.forward,
        ...this.#sizeIn(row),
        ...(plane === "padded_input" ? bordersOf(pooled) : {}),
      });
    }
  }

  /** Beside each other or not, as cells are larger. @param {Pooled} pooled */
  #place(pooled) {
    const { width, height } = this.#room;
    const { padded_size, output_size, spec } = pooled;
    this.#cells = [padded_size, spec.input_size].map(([rows, columns]) => {
      const across = columns + spec.kernel_size[1] + output_size[1];
      const beside = Math.min((width / 2 - AROUND.width) / across, (height - AROUND.height - BELOW) / rows);
      const below = Math.min((width - AROUND.width) / across, (height / 2 - AROUND.height) / rows);
      return width < NARROW ? { beside: 0, below: (width - 8) / columns } : { beside, below };
    });
    const least = (/** @type {"beside" | "below"} */ way) =>
      Math.min(...this.#cells.map((cell) => cell[way]));
    this.#way = least("beside") > least("below") ? "beside" : "below";
    this.el.toggleAttribute("data-beside", this.#way === "beside");
  }

  /** As large in all planes of a row. @param {number} row */
  #sizeIn(row) {
    const cell = Math.max(CELL.least, Math.min(CELL.most, Math.floor(this.#cells[row][this.#way])));
    return { cell, numbers: cell >= CELL.numbered };
  }

  /**
   * Stores the room that both rows share.
   * @param {{ width: number, height: number }} room @returns {boolean} whether it changed and has a width
   */
  fit(room) {
    const same = room.width === this.#room.width && room.height === this.#room.height;
    this.#room = room;
    return !same && room.width > 0;
  }

  /** @param {Pooled} pooled @param {number} window */
  showMask(pooled, window) {
    const { taps } = pooled.windows[window];
    const shares = taps.map(({ share }) => share);
    const width = pooled.output_size[1];
    const words = say("mask.of", { row: Math.floor(window / width), column: window % width });
    const key = JSON.stringify([words, shares]);
    if (key === this.#shown) return;
    this.#shown = key;
    for (const { plane, map, row } of this.#maps) {
      if (plane !== "mask") continue;
      const values = rowsOf(shares, pooled.spec.kernel_size[1]);
      const cell = Math.max(this.#sizeIn(row).cell, MASK_CELL);
      map.set({ values, label: "mask", shape: words, limit: 1, of: "weight", cell, numbers: true });
    }
  }

  /**
   * Where nothing is pointed at, the wrong numbers.
   * @param {Pooled} pooled @param {Links | null} links @param {boolean} overwritten
   */
  light(pooled, links, overwritten) {
    const wrong = overwritten ? this.#wrong.map((index) => ({ index, real: true })) : [];
    for (const { plane, map } of this.#maps) {
      const width = sizeOf(pooled, plane)[1];
      const cells = links?.[plane] ?? (plane === "grad_input" ? wrong : []);
      map.grid.light(
        cells.map(({ index, real }) => ({
          ...{ row: Math.floor(index / width), column: index % width, real },
          color: links ? "var(--cv-accent)" : "var(--cv-bad)",
        })),
      );
    }
  }
}

/** @param {Pooled} pooled @returns {number[]} */
function paddedOf(pooled) {
  const [height, width] = pooled.padded_size;
  const border = pooled.pooling.kind === "max_pool2d" ? -Infinity : 0;
  return Array.from({ length: height * width }, (_, at) => {
    const i = inputIndex(pooled, at);
    return i === null ? border : pooled.input[i];
  });
}

/** Returns a letter for each row and column: p for padding, d for data. @param {Pooled} pooled */
function bordersOf({ spec, padded_size }) {
  const [rows, columns] = padded_size.map((size, axis) => {
    const before = spec.padding[axis][0];
    const inside = "p".repeat(before) + "d".repeat(spec.input_size[axis]);
    return inside.padEnd(size, "p");
  });
  return { rows, columns };
}
