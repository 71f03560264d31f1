// What lights up: cells linked with the hovered, focused or pinned one.
import { samePlace } from "../../base/cell_place.js";
import { Pairing } from "../../picture/stamp_and_window_pairs.js";
import { weightReason } from "../../picture/role_in_gradients_sentences.js";
import { collectedBy, outputBehind, readsOf } from "../../picture/window_reads.js";
import { Cells } from "./board_cells.js";
import { writeCell } from "./cell_sum.js";
import { Sum } from "./sum_of_products.js";
import { followPointer, pointAt } from "../../base/pointed_cell_events.js";

/**
 * @typedef {{ scale: ScaleOf, fades: () => boolean, release: () => boolean, aside: (text: string, paired:
 *   boolean) => void, reason: (text: string) => void, one: () => Place | null,
 *   pixel: () => Place | null }} Around
 *   reason: in the band to the weight; one: the single 1; pixel: the ringed one
 * @import { Reads } from "../../picture/window_reads.js"
 * @typedef {{ cell: Place, result: string, links: (() => Link[]) | null, text: (() => string) | null }} Step
 */

const GRADIENTS = ["grad_input", "grad_padded_input"];

/** @param {Place} cell */
const real = (cell) => ({ ...cell, real: true, kernel: null });

/** @param {Reads} reads */
const cellsIn = ({ panel, rows, columns }) =>
  rows.flatMap((row) => columns.map((column) => ({ panel, row, column })));

export class Highlighter {
  el;
  #board;
  #panels;
  #cells;
  #sum = new Sum((factors) => this.#pointAtTerm(factors));
  #pairing;
  /** @type {Place | null} */
  #hovered = null;
  /** @type {Place | null} */
  #pinned = null;
  #anyLit = false;
  #framed = ""; // windows that are framed
  /** @type {Place[] | null} */
  #term = null; // pointed-at factors of the sum
  /** @type {Step | null} */
  #step = null; // of the equation that is stepped through
  /** @type {Pointed | null} */
  #elsewhere = null; // what a pane points at

  /** @param {Around} board @param {() => Iterable<Panel>} panels */
  constructor(board, panels) {
    [this.#board, this.#panels] = [board, panels];
    this.#cells = new Cells(board.scale);
    this.#pairing = new Pairing(board);
    this.el = this.#sum.el;
    this.el.addEventListener("keydown", (event) => {
      const pinned = this.#pinned;
      if (event.key !== "Escape" || !this.#cells.has(pinned)) return;
      // The focused sum is about to go.
      /** @type {Panel} */ (this.#cells.panel(pinned.panel)).grid.focusCell(pinned.row, pinned.column);
      board.release();
      event.preventDefault();
      event.stopPropagation();
    });
  }

  /** @param {Place[] | null} factors */
  #pointAtTerm(factors) {
    if (!factors && !this.#term) return;
    this.#term = factors;
    this.#draw();
  }

  #draw() {
    if (!this.#cells.numbers) return;
    // The pointer here wins over one in a tab, that over the step that plays; what is pinned shows at rest.
    const cell = this.#hovered ?? this.#elsewhere?.cell ?? this.#step?.cell ?? this.#pinned;
    this.#pairUp();
    const reads = this.#frame(cell);
    const found = this.#linksOf(cell);
    if (!found.length && !this.#anyLit) return; // most steps of a slider change nothing here
    this.#anyLit = found.length > 0;
    const fades = this.#anyLit && this.#board.fades();
    for (const panel of this.#panels()) {
      const { name } = panel.spec();
      panel.grid.light(
        found
          .filter((link) => link.panel === name)
          .map((link) => ({ ...link, color: this.#cells.colorOfLink(link.kernel) })),
        fades && !this.#isFilled(name, cell)
          ? [cell, ...reads.flatMap(cellsIn)].filter((one) => one?.panel === name)
          : null,
      );
    }
  }

  /**
   * What is read by an output's window; if it is the 1's, by the ringed pixel's, too, and the weight that meets the 1.
   * @param {Place | null} output @param {Point | null} at
   */
  #readsOf(output, at) {
    if (!at) return [];
    const { geometry } = this.#cells.links;
    const ringed = samePlace(output, this.#board.one()) ? this.#board.pixel() : null;
    return [...readsOf(geometry, at), ...(ringed ? collectedBy(geometry, ringed, at) : [])];
  }

  /** Those windows, and what grad_weight has of the first. @param {Place | null} cell */
  #frame(cell) {
    const chosen = this.#cells.has(cell) ? cell : null;
    const output = chosen ?? this.#board.one();
    const at = this.#cells.has(output) ? outputBehind(this.#cells.links.geometry, output) : null;
    if (!at && !this.#framed) return []; // most steps of a slider change nothing here
    const reads = this.#readsOf(output, at);
    const key = JSON.stringify(reads);
    if (key !== this.#framed)
      for (const panel of this.#panels())
        panel.veil.read(reads.find((each) => each.panel === panel.spec().name) ?? null);
    this.#framed = at ? key : "";
    this.#board.reason(at && chosen ? this.#reasonAt(at) : "");
    return reads;
  }

  /** @param {Point} at */
  #reasonAt({ row, column }) {
    const { transposed } = this.#cells.links.geometry;
    const cell = { panel: transposed ? "input" : "grad_output", row, column };
    const [spec, value] = [this.#cells.panel(cell.panel)?.spec(), this.#cells.value(cell)];
    if (!spec || value === undefined) return "";
    return weightReason(transposed, `${spec.label}[${row},${column}]`, value, spec.single);
  }

  /** @param {Place | null} cell @returns {Link[]} */
  #linksOf(cell) {
    const fromTab = (this.#elsewhere?.cells ?? []).map(real);
    if (this.#term) return this.#term.map(real);
    if (!this.#hovered && fromTab.length) return fromTab;
    if (this.#step?.links && cell === this.#step.cell) return [...this.#step.links(), ...fromTab];
    if (!this.#cells.has(cell)) return fromTab;
    return [
      ...this.#cells.links.of(cell),
      ...fromTab,
      ...(cell === this.#elsewhere?.cell ? [real(cell)] : []),
    ];
  }

  /** Nothing fades where steps fill in. @param {string} name @param {Place | null} cell */
  #isFilled(name, cell) {
    return cell === this.#step?.cell && [cell?.panel, this.#step?.result].includes(name);
  }

  /** Small numbers pair factors in the band to the input. */
  #pairUp() {
    const cell = [this.#hovered, this.#step?.cell, this.#pinned].find(
      (each) => each && GRADIENTS.includes(each.panel) && this.#cells.has(each),
    );
    this.#pairing.show(
      cell ?? null,
      () => [...this.#panels()].filter((panel) => panel.spec().key.startsWith("input:")),
      this.#cells.links,
    );
  }

  #notify() {
    const cell = this.#hovered ?? (this.#cells.has(this.#pinned) ? this.#pinned : null);
    pointAt(this.el, { cell, panels: cell ? [cell.panel] : [] });
  }

  #write() {
    if (!this.#cells.numbers) return;
    if (this.#step?.text) this.#sum.say(this.#step.text());
    else writeCell(this.#sum, this.#cells, this.#step?.cell ?? this.#pinned);
  }

  /** New panels come: nothing is linked until their numbers do. */
  rest() {
    this.#cells.numbers = null;
  }

  /** @param {Geometry} next @param {string} loss */
  setGeometry(next, loss) {
    this.#cells.setGeometry(next, loss, [...this.#panels()]);
    this.#pairing.forget();
    this.#framed = "new panels";
  }

  /**
   * @param {Omit<import("./board_cells.js").Numbers, "limits">} next @param {Record<string, number>} limits
   * @param {Place | null} cell
   */
  setNumbers(next, limits, cell) {
    this.#cells.setNumbers({ ...next, limits });
    const isOther = !samePlace(cell, this.#pinned);
    this.#pinned = cell;
    this.#draw();
    this.#write();
    if (isOther) this.#notify();
  }

  /** @param {Place | null} cell */
  hover(cell) {
    if (samePlace(cell, this.#hovered)) return;
    this.#hovered = cell;
    this.#draw();
    this.#notify();
  }

  /** @param {HTMLElement} root */
  listen(root) {
    return followPointer(root, (pointed) => {
      this.#elsewhere = pointed;
      for (const panel of this.#panels())
        panel.el.classList.toggle("cv-pointed", pointed.panels.includes(panel.spec().name));
      this.#draw();
    });
  }

  /** @param {Step | null} next @param {boolean} [now] false: all is redrawn anyway */
  step(next, now = true) {
    this.#step = next;
    if (!now) return;
    this.#draw();
    this.#write();
  }

  /** @param {Place | null} cell */
  pin(cell) {
    if (samePlace(cell, this.#pinned)) return;
    this.#pinned = cell;
    this.#draw();
    this.#write();
    this.#notify();
  }
}
