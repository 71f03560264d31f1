// The tab Matrix: the convolution and its gradients as matrix products, linked with the board.
import { element, setText } from "../../web/base/dom.js";
import { createFormula, setFormula } from "../../web/board/band/coloured_names.js";
import { rich, setRich } from "../../web/base/rich_text.js";
import { split, tab } from "../../web/tabs/pane.js";
import { createRadios, button } from "../../web/tabs/pane_elements.js";
import { say } from "./sentences.js";
import { MatrixLinks } from "./linked_entries.js";
import { MatrixProduct } from "./product.js";
import { viewsOf } from "./views.js";
import { entryInWords } from "./entry_sentences.js";

/** @import { Selection } from "./linked_entries.js" */

class MatrixPane {
  #pane;
  #data = /** @type {import("./views.js").MatrixData} */ (/** @type {unknown} */ (null));
  /** @type {ReturnType<typeof viewsOf>} */
  #views = [];
  #chosen = 0;
  #links = /** @type {MatrixLinks} */ (/** @type {unknown} */ (null));
  /** @type {Selection | null} */
  #hovered = null;
  /** @type {Selection | null} */
  #elsewhere = null; // pointed at on the board
  #room = { width: 0, height: Infinity };
  #product;
  #chooser = createRadios(say("which"), "view", (index) => {
    this.#chosen = Number(index);
    this.#leave();
    this.#draw();
  });
  #sentence = element("p.cv-sentence");
  #formula = createFormula();
  #notes = element("div.cv-matrix-notes");
  #pager = createPager((start) => this.#pane.choose({ start }));
  #readout = element("p.cv-readout.cv-said", say("hint"));
  #place;
  #watcher = new ResizeObserver(() => {
    const next = {
      width: this.#place.clientWidth,
      height: this.#pane.root.closest(".cv-slot")?.clientHeight || Infinity,
    };
    if (next.width <= 0 || (next.width === this.#room.width && next.height === this.#room.height)) return;
    this.#room = next;
    if (this.#data) this.#draw();
  });

  /** @param {PaneTools} pane @param {HTMLElement} body */
  constructor(pane, body) {
    this.#pane = pane;
    this.#product = new MatrixProduct(pane, {
      onPoint: (map, row, column) => this.#point(map, row, column),
      onLeave: () => this.#leave(),
    });
    const words = [
      element("p", say("title")),
      this.#chooser.el,
      this.#sentence,
      element("p", this.#formula),
      this.#notes,
      this.#readout,
    ];
    body.append(split(words, [this.#pager.el, ...this.#product.els]));
    pane.onPoint(({ cell }) => {
      this.#elsewhere = cell && this.#links ? this.#links.ofCell(cell) : null;
      this.#light();
      if (this.#elsewhere && !this.#hovered) this.#product.reveal();
    });
    // It has a width once it is placed.
    this.#place = /** @type {HTMLElement} */ (this.#product.els[0].parentElement);
    this.#watcher.observe(this.#place);
    const slot = pane.root.parentElement;
    if (slot) this.#watcher.observe(slot);
    pane.onClose(() => this.#watcher.disconnect());
  }

  #draw() {
    const view = this.#views[this.#chosen];
    this.#chooser.set(
      String(this.#chosen),
      this.#views.map(({ title }, index) => [String(index), title]),
    );
    setRich(this.#sentence, view.sentence);
    setFormula(this.#formula, view.formula);
    this.#notes.replaceChildren(...view.notes.map((note) => rich("p.cv-muted", note)));
    this.#pager.set(this.#data.windows, !view.one);
    this.#product.set(view, this.#data.dtype, this.#room.width ? this.#room : { ...this.#room, width: 420 });
    this.#light();
  }

  #light() {
    const selection = this.#hovered ?? this.#elsewhere;
    this.#product.light((map) => (selection && this.#links ? this.#links.entries(map, selection) : []));
  }

  /** @param {import("./views.js").MatrixMap} map @param {number} row @param {number} column */
  #point(map, row, column) {
    const hovered = this.#links.ofEntry(map, row, column);
    this.#hovered = hovered;
    this.#light();
    const entry = { data: this.#data, links: this.#links, map, row, column };
    this.#pane.read(this.#readout, entryInWords(entry));
    const cell = map.own && this.#links.boardCell(map, map.own, row, column);
    if (cell) this.#pane.point({ cell });
    else this.#pane.point({ cells: map.panels ? this.#links.boardCells(hovered, map.panels) : [] });
  }

  #leave() {
    this.#hovered = null;
    setText(this.#readout, say("hint"));
    this.#pane.point();
    if (this.#links) this.#light();
  }

  /** @param {import("./views.js").MatrixData} next */
  set = (next) => {
    this.#data = next;
    this.#links = new MatrixLinks(next);
    this.#views = viewsOf(next);
    this.#hovered = null;
    this.#elsewhere = null; // the board sends it again
    this.#draw();
  };
}

/** Which windows are shown, of too many. @param {(start: number) => void} go */
function createPager(go) {
  const text = element("span");
  const back = button(say("earlier"), () => go(Math.max(0, shown.start - shown.step)));
  const on = button(say("later"), () => go(shown.end));
  const el = element("div.cv-pager.cv-buttons", text, back, on);
  let shown = { start: 0, end: 0, step: 0, of: 0 };
  return {
    el,
    /** @param {typeof shown} windows @param {boolean} matters */
    set(windows, matters) {
      shown = windows;
      el.hidden = !matters || windows.step >= windows.of;
      setText(text, say("windows", { first: windows.start, last: windows.end - 1, of: windows.of }));
      back.disabled = windows.start === 0;
      on.disabled = windows.end >= windows.of;
    },
  };
}

export default tab("matrix", (pane, body) => new MatrixPane(pane, body).set);
