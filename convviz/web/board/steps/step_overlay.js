// Over a heatmap: a veil over what is not computed, frames of window and cell, small paired numbers. One
// shape a kind.
import { setAttribute, svgElement } from "../../base/dom.js";
import { CELL, framesAround } from "../grid/grid_marks.js";

/**
 * @typedef {{ row: number, column: number, rows: number, columns: number }} Span
 * @typedef {{ row: number, column: number, text: string }} Badge
 */

export function createOverlay() {
  const cover = svgElement("path.cv-cover");
  const frame = svgElement("rect.cv-window", { visibility: "hidden" });
  const now = svgElement("rect.cv-now", { width: CELL, height: CELL, visibility: "hidden" });
  const badges = svgElement("g.cv-badges", { "aria-hidden": "true" });
  const read = svgElement("path.cv-read");
  const el = svgElement("g.cv-veil", { "aria-hidden": "true" }, frame, now, read);
  // it hides numbers, too
  const top = svgElement("g.cv-over", cover, badges);
  /** @type {((row: number, column: number) => boolean) | null} */
  let hidden = null;
  let badgesShown = "";

  return {
    el, // under the numbers
    top, // over numbers, too

    /** @param {number} row @param {number} column */
    covers: (row, column) => Boolean(hidden?.(row, column)),

    /**
     * @param {((row: number, column: number) => boolean) | null} next @param {number} rows
     * @param {number} columns
     */
    cover(next, rows = 0, columns = 0) {
      hidden = next;
      cover.setAttribute("d", next ? outline(next, rows, columns) : "");
    },

    /** @param {Span | null} span @param {Span | null} cell */
    frame(span, cell) {
      place(frame, span);
      place(now, cell);
    },

    /**
     * What the window of the cell that one looks at reads here.
     * @param {import("../../picture/window_reads.js").Reads | null} lines
     */
    read(lines) {
      setAttribute(read, "d", lines ? framesAround(lines.rows, lines.columns) : "");
    },

    /** @param {Badge[]} list */
    badges(list) {
      const key = JSON.stringify(list);
      if (key === badgesShown) return;
      badgesShown = key;
      badges.replaceChildren(...list.map(createBadge));
    },
  };
}

/** By a transform, which a style sheet can animate. @param {SVGElement} rect @param {Span | null} span */
function place(rect, span) {
  rect.setAttribute("visibility", span ? "visible" : "hidden");
  if (!span) return;
  rect.setAttribute("width", String(span.columns * CELL));
  rect.setAttribute("height", String(span.rows * CELL));
  rect.style.transform = `translate(${span.column * CELL}px, ${span.row * CELL}px)`;
  rect.dataset.span = `${span.row},${span.column},${span.rows},${span.columns}`;
}

/** Runs of covered cells, as a path. */
function outline(covered, rows, columns) {
  let path = "";
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) {
      if (!covered(row, column)) continue;
      const start = column;
      while (column < columns && covered(row, column)) column++;
      path += `M${start * CELL} ${row * CELL}h${(column - start) * CELL}v${CELL}h${(start - column) * CELL}z`;
    }
  }
  return path;
}

/** @param {Badge} badge */
function createBadge({ row, column, text }) {
  const [x, y] = [(column + 1) * CELL - 6, row * CELL + 6];
  return svgElement(
    "g",
    svgElement("circle", { cx: x, cy: y, r: 6.5 }),
    svgElement("text", { x, y, class: text.length > 2 ? "cv-long" : "" }, text),
  );
}
