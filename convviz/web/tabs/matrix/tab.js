// @ts-check
// The tab Matrix: the convolution and its gradients as matrix products, linked with the board.
import WORDS from "../../../facts/words/tabs.json" with { type: "json" };
import { element, makeButton, setText } from "../../base/dom.js";
import { createFormula, setFormula } from "../../board/quantities.js";
import { MatrixLinks } from "./links.js";
import { MatrixProduct } from "./product.js";
import { viewsOf } from "./views.js";
import { entryInWords } from "./words.js";
import { openPane, split } from "../pane.js";
import { checkOne, walkAlong } from "../../base/roving.js";
import { sentences } from "../../base/words.js";

const say = sentences(WORDS);

/**
 * @import { Selection } from "./links.js"
 */

class MatrixPane {
  #pane;
  #data = /** @type {import("./views.js").MatrixData} */ (/** @type {unknown} */ (null));
  /** @type {ReturnType<typeof viewsOf>} */
  #views = [];
  #chosen = 0;
  #links = /** @type {MatrixLinks} */ (/** @type {unknown} */ (null));
  /** @type {Selection | null} */
  #hovered = null; // the selection under the pointer
  /** @type {Selection | null} */
  #elsewhere = null; // the selection of the cell that the board points at
  #room = { width: 0, height: Infinity };
  #product;
  #chooser = createChooser((index) => {
    this.#chosen = index;
    this.#leave();
    this.#draw();
  });
  #sentence = element("p", { class: "cv-sentence" });
  #formula = createFormula();
  #notes = element("div", { class: "cv-matrix-notes" });
  #pager = createPager((start) => this.#pane.choose({ start }));
  #readout = element("p", { class: "cv-readout cv-said" }, say("matrix.hint"));
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

  /** @param {import("../pane.js").PaneTools} pane @param {HTMLElement} body */
  constructor(pane, body) {
    this.#pane = pane;
    this.#product = new MatrixProduct(pane, {
      onPoint: (map, row, column) => this.#point(map, row, column),
      onLeave: () => this.#leave(),
    });
    const words = [
      element("p", {}, say("matrix")),
      this.#chooser.el,
      this.#sentence,
      element("p", {}, this.#formula),
      this.#notes,
      this.#readout,
    ];
    body.append(split(words, [this.#pager.el, ...this.#product.els]));
    pane.onPoint(({ cell }) => {
      this.#elsewhere = cell && this.#links ? this.#links.ofCell(cell) : null;
      this.#light();
      if (this.#elsewhere && !this.#hovered) this.#product.reveal();
    });
    // A widget is drawn before it is put into the page: only then has it a width.
    this.#place = /** @type {HTMLElement} */ (this.#product.els[0].parentElement);
    this.#watcher.observe(this.#place);
    const slot = pane.root.parentElement;
    if (slot) this.#watcher.observe(slot);
    pane.onClose(() => this.#watcher.disconnect());
  }

  #draw() {
    const view = this.#views[this.#chosen];
    this.#chooser.set(
      this.#views.map(({ title }) => title),
      this.#chosen,
    );
    this.#sentence.replaceChildren(...prose(view.sentence));
    setFormula(this.#formula, view.formula);
    this.#notes.replaceChildren(
      ...view.notes.map((note) => element("p", { class: "cv-muted" }, ...prose(note))),
    );
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
    const text = entryInWords(this.#data, this.#links, map, row, column);
    setText(this.#readout, text);
    if (document.activeElement?.closest(".cv-pane") === this.#pane.root) this.#pane.say(text);
    const cell = map.own && this.#links.boardCell(map, map.own, row, column);
    if (cell) this.#pane.point({ cell });
    else this.#pane.point({ cells: map.panels ? this.#links.boardCells(hovered, map.panels) : [] });
  }

  #leave() {
    this.#hovered = null;
    setText(this.#readout, say("matrix.hint"));
    this.#pane.point();
    if (this.#links) this.#light();
  }

  set(next) {
    this.#data = next;
    this.#links = new MatrixLinks(next);
    this.#views = viewsOf(next);
    this.#hovered = null;
    this.#elsewhere = null; // the board says anew what it points at, when it has drawn the new numbers
    this.#draw();
  }
}

/** @param {import("../pane.js").PaneContext} context */
function renderMatrix(context) {
  return openPane(context, "matrix", (pane, body) => {
    const made = new MatrixPane(pane, body);
    return (next) => made.set(next);
  });
}

/** Text with names of tensors between backticks. @param {string} text @returns {(Node | string)[]} */
function prose(text) {
  return text.split("`").map((part, index) => (index % 2 ? element("code", {}, part) : part));
}

/** The switch between the views. @param {(index: number) => void} choose */
function createChooser(choose) {
  const el = element("div", { class: "cv-buttons", role: "radiogroup", "aria-label": say("matrix.which") });
  const buttons = [0, 1, 2, 3, 4].map((index) => {
    return makeButton({ class: "cv-button", role: "radio" }, [], () => choose(index));
  });
  el.append(...buttons);
  walkAlong(
    el,
    () => buttons,
    (next) => choose(buttons.indexOf(/** @type {HTMLButtonElement} */ (next))),
  );
  return {
    el,
    /** @param {string[]} titles @param {number} chosen */
    set(titles, chosen) {
      buttons.forEach((button, index) => setText(button, titles[index]));
      checkOne(buttons, (_, index) => index === chosen);
    },
  };
}

/**
 * Where there are too many windows for one picture: which part of them is shown.
 * @param {(start: number) => void} go
 */
function createPager(go) {
  const text = element("span");
  const back = makeButton({ class: "cv-button" }, say("matrix.earlier"), () =>
    go(Math.max(0, shown.start - shown.step)),
  );
  const on = makeButton({ class: "cv-button" }, say("matrix.later"), () => go(shown.end));
  const el = element("div", { class: "cv-pager cv-buttons" }, text, back, on);
  let shown = { start: 0, end: 0, step: 0, of: 0 };
  return {
    el,
    /** @param {typeof shown} windows @param {boolean} matters */
    set(windows, matters) {
      shown = windows;
      el.hidden = !matters || windows.step >= windows.of;
      setText(text, say("matrix.windows", { first: windows.start, last: windows.end - 1, of: windows.of }));
      back.disabled = windows.start === 0;
      on.disabled = windows.end >= windows.of;
    },
  };
}

export default { render: renderMatrix };
