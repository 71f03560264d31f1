// @ts-check
// One tensor in a pane: its heatmap, with a choice of the plane where it has several, or its one number.
import WORDS from "../../../facts/words/tabs.json" with { type: "json" };
import { element, setText } from "../base/dom.js";
import { decode } from "../base/format.js";
import { createHeatmap } from "../board/heatmap.js";
import { setRich } from "../base/rich_text.js";
import { pieces, sentences } from "../base/words.js";

const say = sentences(WORDS);
const sayPieces = pieces(WORDS);
const SIDE = 300; // pixels of the longer side of a heatmap, at most
const [SMALLEST, LARGEST] = [4, 30]; // pixels of a cell
const ROOM_FOR_NUMBER = 22;

/**
 * @import { PanelCell, Pointed } from "../base/wire.js"
 *
 * A plane as Python sends it: where its numbers are among the buffers, and how many.
 * @typedef {{ buffer: number, dtype: string, size: [number, number], part: string, panel?: string, same?:
 *   boolean }} Plane
 * @typedef {Plane & { key: string, title: string, shape: string, text: string, note: string, planes?:
 *   number[], at?: number[] }} Tensor a plane only where it is drawn
 */

/**
 * The rows of a plane.
 * @param {Plane} plane @param {DataView<ArrayBuffer>[]} buffers @returns {number[][]}
 */
export function rowsOf({ buffer, dtype, size }, buffers) {
  const numbers = Array.from(decode(buffers[buffer], dtype));
  return [...Array(size[0]).keys()].map((row) => numbers.slice(row * size[1], (row + 1) * size[1]));
}

/**
 * Make a heatmap that tells the board which of its panels and cells it shows, and hears what the board points
 * at.
 * @param {import("./pane.js").PaneTools} pane
 * @param {(text: string) => void} read shows what a cell is, in words
 * @param {number} [largest] pixels of a cell
 */
export function createLinkedMap(pane, read, largest = LARGEST) {
  /** @type {Plane | null} */
  let shown = null;
  const map = createHeatmap(pane, {
    onPoint: (row, column) => {
      read(map.grid.describe(row, column));
      if (!shown?.panel) return;
      const cell = shown.same ? { panel: shown.panel, row, column } : null;
      pane.point({ panels: [shown.panel], cell });
    },
    onLeave: () => pane.point(),
  });
  return {
    el: map.el,
    /**
     * @param {Plane & { label: string, shape: string, rows?: string, columns?: string }} plane
     * @param {DataView<ArrayBuffer>[]} buffers
     */
    set(plane, buffers) {
      shown = plane;
      const cell = Math.max(SMALLEST, Math.min(largest, Math.floor(SIDE / Math.max(...plane.size))));
      const { label, shape, rows, columns, dtype } = plane;
      map.set({
        values: rowsOf(plane, buffers),
        label,
        shape,
        rows,
        columns,
        dtype,
        cell,
        numbers: cell >= ROOM_FOR_NUMBER,
      });
      map.el.dataset.panelName = plane.panel ?? "";
    },
    /** @param {Pointed} pointed */
    hear({ cell, cells, panels }) {
      if (!shown?.panel) return;
      const here = /** @type {PanelCell[]} */ (
        [cell, ...cells].filter((each) => each?.panel === shown?.panel)
      );
      map.light(shown.same ? here : []);
      map.el.classList.toggle("cv-pointed", panels.includes(shown.panel) || (!shown.same && here.length > 0));
    },
  };
}

/**
 * @param {import("./pane.js").PaneTools} pane @param {(text: string) => void} read
 * @param {(at: number[]) => void} choose another plane is wanted
 */
export function createTensorView(pane, read, choose) {
  const title = element("h5", {});
  const text = element("p", { class: "cv-tensor-text" });
  const planes = element("div", { class: "cv-planes" });
  const room = element("div", {});
  const note = element("p", { class: "cv-muted" });
  const el = element("div", { class: "cv-tensor" }, title, planes, room, text, note);
  /** @type {ReturnType<typeof createLinkedMap> | null} */
  let map = null;

  /** @param {number[]} counts @param {number[]} at */
  function setPlanes(counts, at) {
    const several = counts.some((count) => count > 1);
    planes.hidden = !several;
    if (!several) return planes.replaceChildren();
    if (planes.childElementCount !== counts.length)
      planes.replaceChildren(...counts.map((_, axis) => field(axis)));
    planes.querySelectorAll("input").forEach((input, axis) => {
      input.max = String(counts[axis] - 1);
      input.disabled = counts[axis] === 1;
      input.setAttribute("aria-label", say("tensor.axis", { axis, last: counts[axis] - 1 }));
      if (Number(input.value) !== at[axis] || !input.value) input.value = String(at[axis]);
    });
  }

  /** @param {number} axis */
  function field(axis) {
    const input = element("input", { type: "number", min: "0", step: "1" });
    input.addEventListener("change", () =>
      choose([...planes.querySelectorAll("input")].map(({ value }) => Number(value) || 0)),
    );
    return element("label", {}, ...(axis ? [", ", input] : sayPieces("tensor.plane", { field: input })));
  }

  return {
    el,
    /** @param {Tensor} tensor @param {DataView<ArrayBuffer>[]} buffers */
    set(tensor, buffers) {
      el.dataset.tensor = tensor.key;
      setRich(title, tensor.title);
      setPlanes(tensor.planes ?? [], tensor.at ?? []);
      const drawn = tensor.buffer !== undefined;
      title.hidden = drawn; // the heatmap has a title of its own
      if (drawn && !map) {
        map = createLinkedMap(pane, read);
        room.append(map.el);
      }
      room.hidden = !drawn;
      const place = tensor.at?.length ? `[${tensor.at.join(", ")}]` : "";
      const label = `${plainName(tensor.title)}${place}`;
      if (drawn) map?.set({ ...tensor, label }, buffers);
      setText(
        text,
        drawn ? tensor.text : [tensor.shape, tensor.text || say("tensor.unknown")].filter(Boolean).join(": "),
      );
      setRich(
        note,
        [tensor.part && say("tensor.shown", { part: tensor.part }), tensor.note].filter(Boolean).join(" "),
      );
    },
    /** @param {Pointed} pointed */
    hear: (pointed) => map?.hear(pointed),
  };
}

/** @param {string} title */
function plainName(title) {
  return title.replaceAll("`", "");
}
