// @ts-check
// The tab Matrix: the convolution and its gradients as matrix products, linked with the board.
import WORDS from "../../../facts/words/tabs.json" with { type: "json" };
import { element, setText } from "../base/dom.js";
import { createFormula, setFormula } from "../board/quantities.js";
import { MatrixLinks } from "./matrix_links.js";
import { createProduct } from "./matrix_product.js";
import { viewsOf } from "./matrix_views.js";
import { entryInWords } from "./matrix_words.js";
import { openPane, split } from "./pane.js";
import { sentences } from "../base/words.js";

const say = sentences(WORDS);

function renderMatrix(context) {
  return openPane(context, "matrix", (pane, body) => {
    let data = null;
    /** @type {ReturnType<typeof viewsOf>} */
    let views = [];
    let chosen = 0;
    let links = null;
    let hovered = null; // the selection under the pointer
    let elsewhere = null; // the selection of the cell that the board points at
    let room = { width: 0, height: Infinity };

    const product = createProduct(pane, { onPoint: point, onLeave: leave });
    const chooser = createChooser((index) => {
      chosen = index;
      leave();
      draw();
    });
    const sentence = element("p", { class: "cv-sentence" });
    const formula = createFormula();
    const notes = element("div", { class: "cv-matrix-notes" });
    const pager = createPager((start) => pane.choose({ start }));
    const readout = element("p", { class: "cv-readout cv-said" }, say("matrix.hint"));
    const words = [
      element("p", {}, say("matrix")),
      chooser.el,
      sentence,
      element("p", {}, formula),
      notes,
      readout,
    ];
    body.append(split(words, [pager.el, ...product.els]));

    function draw() {
      const view = views[chosen];
      chooser.set(
        views.map(({ title }) => title),
        chosen,
      );
      sentence.replaceChildren(...prose(view.sentence));
      setFormula(formula, view.formula);
      notes.replaceChildren(...view.notes.map((note) => element("p", { class: "cv-muted" }, ...prose(note))));
      pager.set(data.windows, !view.one);
      product.set(view, data.dtype, room.width ? room : { ...room, width: 420 });
      light();
    }

    function light() {
      const selection = hovered ?? elsewhere;
      product.light((map) => (selection && links ? links.entries(map, selection) : []));
    }

    /** @param {import("./matrix_views.js").MatrixMap} map @param {number} row @param {number} column */
    function point(map, row, column) {
      hovered = links.ofEntry(map, row, column);
      light();
      const text = entryInWords(data, links, map, row, column);
      setText(readout, text);
      if (document.activeElement?.closest(".cv-pane") === pane.root) pane.say(text);
      const cell = map.own && links.boardCell(map, map.own, row, column);
      if (cell) pane.point({ cell });
      else pane.point({ cells: map.panels ? links.boardCells(hovered, map.panels) : [] });
    }

    function leave() {
      hovered = null;
      setText(readout, say("matrix.hint"));
      pane.point();
      if (links) light();
    }

    pane.onPoint(({ cell }) => {
      elsewhere = cell && links ? links.ofCell(cell) : null;
      light();
      if (elsewhere && !hovered) product.reveal();
    });

    // A widget is drawn before it is put into the page: only then has it a width.
    const place = /** @type {HTMLElement} */ (product.els[0].parentElement);
    const watcher = new ResizeObserver(() => {
      const next = {
        width: place.clientWidth,
        height: pane.root.closest(".cv-slot")?.clientHeight || Infinity,
      };
      if (next.width <= 0 || (next.width === room.width && next.height === room.height)) return;
      room = next;
      if (data) draw();
    });
    watcher.observe(place);
    const slot = pane.root.parentElement;
    if (slot) watcher.observe(slot);
    pane.onClose(() => watcher.disconnect());

    return (next) => {
      data = next;
      links = new MatrixLinks(next);
      views = viewsOf(next);
      hovered = null;
      elsewhere = null; // the board says anew what it points at, when it has drawn the new numbers
      draw();
    };
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
    const button = element("button", { type: "button", class: "cv-button", role: "radio" });
    button.addEventListener("click", () => choose(index));
    return button;
  });
  el.append(...buttons);
  el.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (!step) return;
    const next =
      (buttons.indexOf(/** @type {HTMLElement} */ (event.target)) + step + buttons.length) % buttons.length;
    choose(next);
    buttons[next].focus();
    event.preventDefault();
    event.stopPropagation(); // a notebook would take the arrow keys for its own cells
  });
  return {
    el,
    /** @param {string[]} titles @param {number} chosen */
    set(titles, chosen) {
      buttons.forEach((button, index) => {
        setText(button, titles[index]);
        button.setAttribute("aria-checked", String(index === chosen));
        button.tabIndex = index === chosen ? 0 : -1;
      });
    },
  };
}

/** Where there are too many windows for one picture: which part of them is shown. @param {(start: number) => void} go */
function createPager(go) {
  const text = element("span");
  const back = /** @type {HTMLButtonElement} */ (
    element("button", { type: "button", class: "cv-button" }, say("matrix.earlier"))
  );
  const on = /** @type {HTMLButtonElement} */ (
    element("button", { type: "button", class: "cv-button" }, say("matrix.later"))
  );
  const el = element("div", { class: "cv-pager cv-buttons" }, text, back, on);
  let shown = { start: 0, end: 0, step: 0, of: 0 };
  back.addEventListener("click", () => go(Math.max(0, shown.start - shown.step)));
  on.addEventListener("click", () => go(shown.end));
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
