// The tray under grad_input fills while the 1 walks. Its room is known before it is laid out: cells are sized
// with it.
import { element, setHidden, setStyle, setText } from "../../base/dom.js";
import { formatNumber } from "../../base/format.js";
import { sayWhy } from "../../picture/why_button_sentences.js";
import { createResponseMemory } from "../../picture/impulse_response.js";
import { effectiveKernel } from "../../rules/conv_geometry.js";

const GAP = "\u00b7"; // no window
// Pixels, as in board.css: of a cell, of a digit in it, of the words beside the cells, of the space above and
// beside.
const [CELL, DIGIT, WORDS, ABOVE, SPACE] = [{ width: 24, height: 18 }, 8, { width: 64, height: 52 }, 4, 10];
const [PROJECTED, FAR] = ["(min-width: 1600px) and (min-height: 900px)", 2]; // as in lecture.css; the tray's scale there
const NONE = { width: 0, height: 0 };

/**
 * @import { Tray } from "../../picture/impulse_response.js"
 * @import { Room } from "../layout/screen_layout.js"
 */

/** @param {Tray["rows"][number][number]} value @param {boolean} isNow */
function createCell(value, isNow) {
  const text = value === null ? "" : value === "gap" ? GAP : formatNumber(value);
  return element(isNow ? "td.cv-tray-now" : "td", text);
}

/** Of any number that it may get. @param {Tray} tray @param {ArrayLike<number>} weight @returns {Room} */
function roomOf({ rows }, weight) {
  const longest = Math.max(...Array.from(weight, (value) => formatNumber(value).length));
  const width = Math.max(CELL.width, longest * DIGIT + 6);
  return { width: rows[0].length * width, height: rows.length * CELL.height };
}

export function createResponseTable() {
  const memory = createResponseMemory();
  const caption = element("caption");
  const body = element("tbody");
  const el = element("table.cv-tray", { hidden: "" }, caption, body);
  /** @type {Room} */
  let room = NONE;
  let isTall = false; // beyond what padded_grad_output is taller by: it would take of all panels' height
  let drawn = "";

  /** @param {Tray} tray */
  function draw({ at, rows, now }) {
    const next = JSON.stringify([at, rows, now]);
    if (next === drawn) return; // most steps of a slider change nothing here
    drawn = next;
    setText(caption, sayWhy("tray", { row: at.row, column: at.column }));
    const lines = rows.map((row, r) =>
      element("tr", ...row.map((value, c) => createCell(value, r === now.row && c === now.column))),
    );
    body.replaceChildren(...lines);
  }

  return {
    el,
    begin: memory.begin,
    /**
     * None while it is hidden, or elsewhere.
     * @param {boolean} isHere @param {boolean} hasWidth @param {number} letters their scale
     * @returns {{ below: Room, beside: number }}
     */
    room(isHere, hasWidth, letters) {
      if (!isHere || !room.width) return { below: NONE, beside: 0 };
      const scale = letters > 1 && matchMedia(PROJECTED).matches ? FAR : letters;
      setStyle(el, "zoom", String(scale));
      if (isTall && hasWidth) return { below: NONE, beside: room.width + SPACE };
      const [width, height] = [room.width + WORDS.width, Math.max(room.height, WORDS.height) + ABOVE];
      return { below: { width: width * scale, height: height * scale }, beside: 0 };
    },
    /**
     * @param {Geometry} geometry @param {import("../../picture/cell_products.js").Planes} numbers
     * @param {Point | null} pixel
     * @returns {boolean} its room is another one
     */
    see(geometry, numbers, pixel) {
      const isThere = pixel && !geometry.transposed && numbers.planes.grad_input;
      const tray = isThere ? memory.see(geometry, numbers, { row: pixel.row, column: pixel.column }) : null;
      const before = room;
      room = tray ? roomOf(tray, numbers.planes.weight) : NONE;
      isTall = tray !== null && tray.rows.length > effectiveKernel(geometry, 0);
      setHidden(el, !tray);
      setStyle(el, "--cv-tray", `${room.width}px`);
      el.parentElement?.toggleAttribute("data-tall-tray", isTall);
      if (tray) draw(tray);
      return room.width !== before.width || room.height !== before.height;
    },
  };
}
