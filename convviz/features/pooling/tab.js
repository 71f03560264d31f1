// The tab Pooling: max and average pooling with the board's sliders and numbers, and which pixels get the
// gradient. The page computes all of it.
import { element, setText } from "../../web/base/dom.js";
import { rich, setRich } from "../../web/base/rich_text.js";
import { isPossible, outputSizes } from "../../web/rules/conv_geometry.js";
import { planeOf } from "../../web/rules/shapes_and_indices.js";
import { shownAt } from "../../web/rules/shown_plane.js";
import { split, tab } from "../../web/tabs/pane.js";
import { button, code } from "../../web/tabs/pane_elements.js";
import { createChoices } from "./choices.js";
import { boardCells, cellAt, linksOf, overlaps, windowOf } from "./linked_cells.js";
import { Planes } from "./planes.js";
import { gradInput, pooledSize, poolPlane } from "./pool_plane.js";
import { changesTo, nearestSpec, refusals, torchCall } from "./poolable.js";
import { cellWords } from "./pooling_sentences.js";
import { say } from "./sentences.js";

/**
 * @import { Pooled } from "./pool_plane.js"
 * @import { Cell } from "./pooling_sentences.js"
 * @import { Choice } from "./choices.js"
 */

const STRIDE = 1; // where most windows overlap

class PoolingPane {
  draw = () => {
    const there = this.#pane.page.shown();
    if (!there) return;
    const { settings } = there;
    this.#choices.set(this.#choice);
    const refused = refusals(settings, this.#choice.kind);
    this.#picture.hidden = refused.length > 0;
    this.#call.hidden = this.#picture.hidden;
    this.#refused.replaceChildren(...refused.map((words) => element("p", words)));
    this.#offer(settings, refused.length > 0);
    this.#pooled = refused.length ? null : pooledOf(settings, there.numbers.stages, this.#choice);
    if (!this.#pooled) return this.#notes.replaceChildren();
    setText(this.#call, torchCall(settings.spec, this.#choice));
    this.#notes.replaceChildren(...notesOf(settings, this.#pooled).map((words) => rich("p", words)));
    this.#window = Math.min(this.#window, this.#pooled.windows.length - 1);
    this.#hovered = null;
    this.#planes.set(this.#pooled, this.#overwritten());
    this.#explainAssigning(settings.spec, this.#pooled);
    this.#light();
  };
  #pane;
  /** @type {Choice} */
  #choice = { kind: "max_pool2d", ceil_mode: false, count_include_pad: true, rule: "+=" };
  /** @type {Pooled | null} */
  #pooled = null;
  #window = 0; // whose mask is shown
  /** @type {Cell | null} */
  #hovered = null;
  /** Pointed at on the board. @type {Place | null} */
  #elsewhere = null;
  #choices = createChoices((changes) => this.#choose(changes));
  #call = code("");
  #refused = element("div.cv-pane-failure");
  #fix = button("", () => this.#goToNearest());
  #notes = element("div.cv-pool-notes");
  #readout = element("p.cv-readout.cv-said", say("hint"));
  #assigning = element("p.cv-pool-assigning");
  #show = button(say("assign.show", { stride: STRIDE }), () => this.#goToOverlap(), { "data-overlap": "" });
  #planes;
  #picture;

  /** @param {PaneTools} pane @param {HTMLElement} body */
  constructor(pane, body) {
    this.#pane = pane;
    const { rule, ...kept } = pane.page.kept("pooling"); // a mistake is left behind
    Object.assign(this.#choice, kept);
    this.#planes = new Planes(
      pane,
      (cell) => this.#point(cell),
      () => this.#leave(),
    );
    this.#picture = element("div", this.#planes.el, this.#assigning, this.#show);
    const words = [
      ...[element("h3", say("title")), rich("p", say("about")), this.#choices.el],
      ...[this.#readout, element("p.cv-pool-call", this.#call), this.#notes],
    ];
    body.append(split(words, [this.#refused, this.#fix, this.#picture]));
    pane.onPoint(({ cell }) => {
      this.#elsewhere = cell;
      this.#light();
    });
    pane.onClose(pane.page.follow(this.draw));
    const watcher = new ResizeObserver(() => this.#fit()); // it has a width once it is placed
    for (const el of [this.#planes.el, pane.root.parentElement]) if (el) watcher.observe(el);
    pane.onClose(() => watcher.disconnect());
  }

  #fit() {
    const width = this.#planes.el.clientWidth;
    const height = this.#pane.root.parentElement?.clientHeight || Infinity;
    if (this.#planes.fit({ width, height })) this.draw();
  }

  #overwritten() {
    return this.#choice.rule === "=";
  }

  /** @param {Partial<Choice>} changes */
  #choose(changes) {
    Object.assign(this.#choice, changes);
    this.#pane.page.keep("pooling", { ...this.#choice });
    this.draw();
  }

  /** @param {Settings} settings @param {boolean} isRefused */
  #offer(settings, isRefused) {
    this.#fix.hidden = !isRefused;
    if (!isRefused) return;
    const near = nearestSpec(settings.spec, this.#choice.kind);
    setText(this.#fix, say("refused.fix", { changes: changesTo(settings, near) }));
  }

  #goToNearest() {
    const { kind } = this.#choice;
    this.#pane.goTo(({ spec }) => ({ spec: nearestSpec(spec, kind), transposed: false }), say("fixed"));
  }

  #goToOverlap() {
    this.#pane.goTo(({ spec }) => ({ spec: { ...spec, stride: [STRIDE, STRIDE] } }), say("assign.shown"));
  }

  /** @param {Spec} spec @param {Pooled} pooled */
  #explainAssigning(spec, pooled) {
    const [right, wrong] = [pooled.grad_input, gradInput(pooled, true)];
    const count = right.filter((value, index) => value !== wrong[index]).length;
    const isOverlap = overlaps(spec, pooled.output_size);
    const dense = { ...spec, stride: /** @type {Pair} */ ([STRIDE, STRIDE]) };
    const id = !isOverlap ? "assign.hidden" : count ? "assign.wrong" : "assign.same";
    setRich(this.#assigning, say(id, { count, all: right.length }));
    this.#show.hidden = isOverlap || !isPossible(dense) || !overlaps(dense, outputSizes(dense));
  }

  /** What is pointed at here, on the board, or held there. */
  #current() {
    if (!this.#pooled) return null;
    const there = this.#elsewhere ?? this.#pane.page.selected();
    return this.#hovered ?? cellAt(this.#pooled, there);
  }

  #light() {
    const [pooled, cell] = [this.#pooled, this.#current()];
    if (!pooled) return;
    const window = (cell && windowOf(pooled, cell)) ?? this.#window;
    this.#window = window;
    this.#planes.showMask(pooled, window);
    this.#planes.light(pooled, cell && linksOf(pooled, cell, window), this.#overwritten());
    if (!this.#hovered) this.#read(cell);
  }

  /** @param {Cell | null} cell */
  #read(cell) {
    const view = { pooled: this.#pooled, window: this.#window, overwritten: this.#overwritten() };
    const words = cell && view.pooled ? cellWords(/** @type {any} */ (view), cell) : say("hint");
    this.#pane.read(this.#readout, words);
  }

  /** @param {Cell} cell */
  #point(cell) {
    const pooled = this.#pooled;
    if (!pooled) return;
    this.#hovered = cell;
    this.#light();
    this.#read(cell);
    this.#pane.point({ cells: boardCells(pooled, linksOf(pooled, cell, this.#window)) });
  }

  #leave() {
    this.#hovered = null;
    this.#pane.point();
    this.#light();
  }
}

/**
 * Pools the shown channels of input and grad_output.
 * @param {Settings} settings @param {Stages} stages @param {Choice} choice
 */
function pooledOf({ spec, plane }, { input, grad_output }, choice) {
  const given = planeOf(grad_output, shownAt(plane, spec, "grad_output", false));
  const [height, width] = outputSizes(spec);
  const [rows, columns] = pooledSize(spec, choice);
  // The board has no number for what ceil_mode adds.
  const grad = Array.from({ length: rows * columns }, (_, o) => {
    const [row, column] = [Math.floor(o / columns), o % columns];
    return row < height && column < width ? given[row * width + column] : 1;
  });
  return poolPlane(spec, choice, planeOf(input, shownAt(plane, spec, "input", false)), grad);
}

/** @param {Settings} settings @param {Pooled} pooled */
function notesOf({ spec, plane }, { windows, output_size, pooling }) {
  const notes = [];
  if (spec.in_channels > 1 || spec.out_channels > 1) {
    const [, of] = shownAt(plane, spec, "input", false);
    const [, out] = shownAt(plane, spec, "grad_output", false);
    notes.push(say("plane", { in: of, out }));
  }
  if (String(output_size) !== String(outputSizes(spec))) notes.push(say("ceil"));
  if (pooling.kind === "max_pool2d" && windows.some(({ winner }) => !winner)) notes.push(say("beyond"));
  return notes;
}

export default tab("pooling", (pane, body) => new PoolingPane(pane, body).draw);
