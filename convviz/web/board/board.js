// The board: linked heatmaps in rows. It knows panels and cells; the model knows what they mean.
import { element, setAttribute, setText } from "../base/dom.js";
import { IntroPlayer } from "./steps/intro_animation.js";
import { Changes } from "./grid/highlight_changes.js";
import { followArrows } from "./grid/drag_one_hot.js";
import { Legend } from "./layout/readout_and_legend.js";
import { decode } from "../base/format.js";
import { followShortcuts } from "./keyboard_shortcuts.js";
import { followKernel } from "../base/lost_kernel.js";
import { followPrinting } from "../base/printing.js";
import { keepState } from "./keep_state.js";
import { measureFace } from "./grid/digit_size.js";
import { loadPlotly } from "./panel/load_plotly.js";
import { Readout } from "./layout/readout.js";
import { BandList } from "./layout/band_list.js";
import { rampsOf } from "./band/band_elements.js";
import { bringInSight } from "../base/in_sight.js";
import { samePlace } from "../base/cell_place.js";
import { followLinks } from "./read_link_from_address.js";
import { createContext } from "./board_context.js";
import { followTheme } from "../base/theme.js";
import { say } from "../base/board_sentences.js";

const CLEAR_OF_ANSWERS = 0.4; // of the window: --cv-sheet leaves it

/**
 * @typedef {{ only: (structure: Structure) => Structure, ease: (draw: () => void, panels: () =>
 *   Iterable<Panel>) => void }} Figure a bare figure: what it shows of the structure; ease: from one picture to the next
 */

export class Board {
  arrival;
  #model;
  #own;
  #figure;
  #root = element("div.cv-board.cv-look");
  #readout;
  #foot;
  #rows;
  #bands;
  #changes;
  #shared;
  #theme = "light";
  #frame = 0;
  #whole = true; // whether the next frame lays out, or only draws numbers
  #gone = false;
  #hasLoaded = false; // plotly, or that there is none
  #onPaper = false;
  /** @type {ReturnType<typeof followTheme> | null} */
  #follower = null;
  #arrived = false; // whether the app around it was found
  #marked = ""; // of a lesson, perhaps before the bands are there
  /** @type {Place | null} */
  #asked = null; // the cell whose number is to be predicted
  /** @type {{ values: BoardValues, numbers: ReturnType<typeof decodeAll> } | null} */
  #painted = null;
  /** @type {(() => void)[]} */
  #closers = [];

  /**
   * @param {{ model: Model, el: HTMLElement, taught?: string[], own?: boolean, onBands?: () => void, figure?:
   *   Figure | null }} context taught: topics of lessons; own: the page is the app's; onBands: the bands are
   *   laid out anew
   */
  constructor({ model, el, taught = [], own = false, onBands = () => {}, figure = null }) {
    [this.#model, this.#own, this.#figure] = [model, own, figure];
    this.#readout = new Readout(model);
    this.#rows = new BandList(this.#root, {
      isPaper: () => this.#onPaper,
      onShared: onBands,
      onSize: () => this.#arrive(),
      schedule: () => this.#schedule(true),
    });
    this.#bands = this.#rows.bands;
    this.#changes = new Changes(model, this.#panels, (reasons) => this.#rows.sayUnchanged(reasons));
    const library = loadPlotly(model);
    this.#shared = createContext(library.ready, taught, this.#readout, {
      model,
      rows: this.#rows,
      theme: () => this.#theme,
      escape: this.escape,
      focusBand: (name) => this.#focusBand(name === this.#bands.focused() ? "" : name),
      pixel: () => this.#pixel(),
    });
    this.#foot = new Legend(this.#readout, this.#shared.highlight.el, () => this.#schedule(false));
    this.#root.append(this.#rows.ruler, this.#rows.el, this.#foot.el);
    el.append(this.#root);
    this.arrival = new IntroPlayer(this.#shared, this.#root, {
      band: () => this.#rows.equations.get("input"),
      stage: () => this.#bands.stage(),
      bring: () => this.show("input"),
    });
    this.#closers.push(
      () => this.#shared.closeFigure(),
      () => this.arrival.close(),
      () => this.#changes.close(),
      library.cancel,
    );
    this.#listen();
    library.ready.then(
      (loaded) => {
        this.#rows.plotly = loaded;
        this.#hasLoaded = true;
        this.#schedule(true);
      },
      (error) => this.#gone || this.#readout.read(() => say("colours.failed", { why: error.message }), true),
    );
  }

  #panels = () => this.#rows.panels();

  #listen() {
    const model = this.#model;
    const follower = followTheme(
      () => model.get("theme"),
      (next) => this.#setTheme(next),
    );
    this.#closers.push(follower.stop, followPrinting(this.#onPrint));
    const showBrush = () => this.#root.toggleAttribute("data-brush", model.get("brush") !== null);
    showBrush();
    this.#follower = follower;
    this.#closers.push(
      model.on("change:structure", () => this.#schedule(true)),
      model.on("change:values", () => this.#schedule(false)),
      // The next frame marks it with its numbers.
      model.on("change:selected", () => this.#frame || this.#markSelected()),
      model.on("change:brush", showBrush),
      model.on("change:theme", follower.refresh),
      followLinks(this.#root, (link) => model.send({ type: "open", link })),
      keepState(model),
      followKernel(model, () => setText(this.#foot.lost, say("kernel.ended_board"))),
      this.#shared.highlight.listen(this.#root),
    );
  }

  /** A widget is drawn before it is placed: only now is there an app around it. */
  #arrive() {
    if (this.#arrived) return;
    this.#arrived = true;
    this.#closers.push(
      followShortcuts(this.#shared, this.#root, this.#own),
      followArrows(this.#root, this.#own, this.#panels),
    );
    measureFace(this.#root);
    this.#follower?.refresh();
  }

  /** @param {"light" | "dark"} next */
  #setTheme(next) {
    this.#theme = next;
    const page = /** @type {HTMLElement} */ (this.#root.closest(".cv-app") ?? this.#root);
    for (const node of [this.#root, page]) node.dataset.theme = next;
    // A page of our own is coloured whole; a notebook keeps its colours.
    if (document.querySelector("#convviz-main, body > .cv-page"))
      document.documentElement.dataset.convvizTheme = next;
    this.#schedule(true);
  }

  #onPrint = (/** @type {boolean} */ printing) => {
    this.#onPaper = printing;
    this.#rows.forgetRoom();
    // paper is laid out before the frame that the theme asked for
    cancelAnimationFrame(this.#frame);
    this.#whole = true;
    this.#paint();
    for (const panel of this.#panels()) panel.print(printing);
  };

  /** @param {boolean} everything */
  #schedule(everything) {
    this.#whole ||= everything;
    this.#frame ||= requestAnimationFrame(() => this.#paint());
  }

  #paint() {
    this.#frame = 0;
    if (this.#gone) return;
    const [all, values] = [this.#model.get("structure"), this.#model.get("values")];
    // Until both have arrived, they are of different versions.
    if (!all.equations || values.version !== all.version) return;
    const everything = this.#whole;
    this.#whole = false;
    const structure = this.#figure?.only(all) ?? all;
    if (everything && this.#figure)
      this.#figure.ease(() => this.#draw(structure, values, true), this.#panels);
    else this.#draw(structure, values, everything);
  }

  /** @param {Structure} structure @param {BoardValues} values @param {boolean} everything */
  #draw(structure, values, everything) {
    const known = this.#rows.known(everything ? structure : null);
    if (everything) this.#layOut(structure);
    const numbers = decodeAll(values);
    this.#painted = { values, numbers };
    const grown = this.#seeTray();
    this.#rows.write(numbers, values, everything || grown, known);
    const { highlight } = this.#shared;
    if (everything) highlight.setGeometry(structure.geometry, structure.loss);
    this.#rows.at("hide", this.#asked);
    this.#changes.see(numbers.planes, values.limits);
    highlight.setNumbers(numbers, values.limits, this.#model.get("selected"));
    this.#foot.show(structure, values, numbers.planes);
    this.#shared.stepping?.sayAgain();
    this.#markSelected();
    this.#root.dataset.painted = this.#hasLoaded ? String(values.step) : "";
    setAttribute(this.#root, "data-from", values.from); // whether the page or torch computed them
    this.arrival.see();
  }

  /** @param {Structure} structure */
  #layOut(structure) {
    this.#shared.highlight.rest();
    this.#rows.layOut(structure, this.#shared);
    this.markBand(this.#marked);
    this.#root.style.setProperty("--cv-ramps", rampsOf(structure.colorscales[this.#theme]));
  }

  /** Whose gradient the tray keeps: the pinned pixel's, or that of the conclusion. @returns {Place | null} */
  #pixel() {
    const selected = this.#model.get("selected");
    const pixel = selected?.panel === "grad_input" ? selected : this.#figure ? null : this.arrival.pixel();
    return samePlace(pixel, this.#asked) ? null : pixel; // it would give the number away
  }

  /** @returns {boolean} whether its room is another one */
  #seeTray() {
    // Stale: newer numbers follow.
    if (!this.#painted || this.#model.get("values") !== this.#painted.values) return false;
    const { geometry } = this.#model.get("structure");
    // On a phone the digits have its room, unless a lesson speaks of it.
    const hasRoom =
      !["narrow", "figure"].includes(this.#bands.stage()) || this.#root.closest("[data-lesson]");
    return this.#shared.tray.see(geometry, this.#painted.numbers, hasRoom ? this.#pixel() : null);
  }

  #markSelected() {
    const selected = this.#model.get("selected");
    if (this.#seeTray()) this.#schedule(true);
    this.#shared.highlight.pin(selected);
    this.#rows.at("mark", selected, this.#pixel());
    this.#readout.refresh();
  }

  /** @param {string} name */
  #focusBand(name) {
    this.#bands.focus(name);
    this.#releaseForeign();
    this.#schedule(true);
  }

  /** Of a cell that the only band does not show: its sum would stand below another band's numbers. */
  #releaseForeign() {
    const [selected, alone] = [this.#model.get("selected"), this.#rows.equations.get(this.#bands.alone())];
    if (!selected || !alone) return;
    const isThere = [...alone.panels.values()].some((panel) => panel.spec().name === selected.panel);
    if (!isThere) this.#model.select(null);
  }

  /** Give a band the room; an empty name gives it to all. @param {string} name */
  focus(name) {
    if (name !== this.#bands.focused()) this.#focusBand(name);
  }

  /** Hide the number of a cell until it is predicted. @param {Place | null} place */
  hide(place) {
    if (samePlace(place, this.#asked)) return;
    this.#asked = place;
    this.#schedule(false);
  }

  /** Close what covers the captions. */
  closePopovers() {
    const opened = this.#rows.el.querySelectorAll(":is(.cv-symbols-open, .cv-why)[aria-expanded=true]");
    for (const button of /** @type {NodeListOf<HTMLElement>} */ (opened)) button.click();
  }

  /** Empty the tray, or fill it. @param {boolean} full */
  tray(full) {
    this.#shared.tray.begin(full);
    this.#schedule(false);
  }

  /** Bring a band into sight, where not all of them are. @param {string} name */
  scrollToBand(name) {
    if (this.#bands.bring(name)) this.#schedule(true);
  }

  /**
   * Brings a band into sight while a tab speaks of it; an empty name brings back what was in sight before.
   * @param {string} name
   */
  lendBand(name) {
    if (this.#bands.lend(name)) this.#schedule(true);
  }

  /**
   * Where the page scrolls: a band with what it offers, and the cell that is asked for, whatever an answer takes of
   * the window.
   * @param {string} name
   */
  scrollToTools(name) {
    const band = this.#rows.equations.get(name)?.el;
    if (band && !bringInSight(band) && band.getBoundingClientRect().top < 0)
      band.scrollIntoView({ block: "start" });
    const asked = band?.querySelector(".cv-asked");
    if (asked) bringInSight(asked, { end: CLEAR_OF_ANSWERS * window.innerHeight });
  }

  /** Mark the band that a lesson speaks of; an empty name marks none. @param {string} name */
  markBand(name) {
    this.#marked = name;
    for (const band of this.#rows.equations.values())
      band.el.toggleAttribute("data-in-step", band.name === name);
  }

  /** What was pointed at in a picture that is gone: a pointer that rests, or the focus, points at another cell now. */
  release() {
    this.#shared.highlight.hover(null);
    this.#readout.unread();
  }

  /** A lecture begins or ends, or a figure shows another part. */
  relayout() {
    this.#bands.share();
    this.#schedule(true);
  }

  /** The bands, and which of them has the room. */
  bands() {
    const { equations = [] } = this.#model.get("structure");
    return equations.map(({ name, title }) => ({ name, title, shown: name === this.#bands.inUse() }));
  }

  /** Show a band, where one has the room. @param {string} name */
  show(name) {
    if (name !== this.#bands.inUse()) this.#shared.stepping?.close(true);
    this.#bands.bring(name);
    this.#focusBand("");
  }

  /** @param {number} by */
  step(by) {
    this.#rows.inUse()?.stepper.step(by);
  }

  play() {
    this.#rows.inUse()?.stepper.play();
  }

  /** Releases the brush, else the pinned cell, else the room of a band. Returns false where there is none of them. */
  escape = () => {
    const [pinned, wide] = [this.#model.get("selected"), this.#bands.focused()];
    const brush = this.#model.get("brush") !== null;
    if (brush) this.#model.send({ type: "draw", value: null });
    else if (pinned) this.#model.send({ type: "release" });
    else if (wide) this.#focusBand("");
    return Boolean(brush || pinned || wide);
  };

  close = () => {
    this.#gone = true;
    for (const close of this.#closers) close();
    cancelAnimationFrame(this.#frame);
    this.#rows.close();
    this.#root.remove();
  };
}

/** @param {BoardValues} values */
function decodeAll(values) {
  const read = (wires) =>
    Object.fromEntries(Object.entries(wires).map(([name, wire]) => [name, decode(wire, values.dtype)]));
  return { planes: read(values.planes), thumbs: read(values.thumbs) };
}
