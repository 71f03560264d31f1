// The tray beside grad_input fills while the 1 walks.
import { element, setHidden, setText } from "../base/dom.js";
import { formatNumber } from "../base/format.js";
import { sayBecause } from "../picture/why_button_sentences.js";
import { createTrayMemory } from "../picture/impulse_response.js";

const GAP = "\u00b7"; // no window

/** @import { Tray } from "../picture/impulse_response.js" */

/** @param {Tray["rows"][number][number]} value @param {boolean} isNow */
function createCell(value, isNow) {
  const text = value === null ? "" : value === "gap" ? GAP : formatNumber(value);
  return element(isNow ? "td.cv-tray-now" : "td", text);
}

export function createTray() {
  const memory = createTrayMemory();
  const caption = element("caption");
  const body = element("tbody");
  const el = element("table.cv-tray", { hidden: "" }, caption, body);

  /** @param {Tray} tray */
  function draw({ at, rows, now }) {
    setText(caption, sayBecause("tray", at));
    const lines = rows.map((row, r) =>
      element("tr", ...row.map((value, c) => createCell(value, r === now.row && c === now.column))),
    );
    body.replaceChildren(...lines);
  }

  return {
    el,
    begin: memory.begin,
    /**
     * @param {Geometry} geometry @param {import("../picture/cell_products.js").Planes} numbers
     * @param {{ panel: string, row: number, column: number } | null} pinned
     */
    see(geometry, numbers, pinned) {
      const pixel =
        pinned?.panel === "grad_input" && !geometry.transposed && numbers.planes.grad_input ? pinned : null;
      const tray = pixel && memory.see(geometry, numbers, { row: pixel.row, column: pixel.column });
      setHidden(el, !tray);
      for (const around of [el.parentElement, el.closest("[data-stage]")])
        around?.toggleAttribute("data-tray", Boolean(tray));
      if (tray) draw(tray);
    },
  };
}
