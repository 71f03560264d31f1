// The lecture: one band fills the screen, with a thin bar of controls below it; a clicker's keys step.
// Nothing is made for it but its bar, and what is set stays set when it ends.
import WORDS from "../../facts/data/words/lecture.json" with { type: "json" };
import { element, focusOf, makeButton, setText, svgElement } from "../base/dom.js";
import { ARROWS, TYPING, isBare, isUnfocused } from "../base/keys.js";
import { iconButton } from "../board/steps/step_controls.js";
import { sentences } from "../base/sentences.js";

const say = sentences(WORDS);
const FRAME = "M2 6V2h4v2H4v2zM10 2h4v4h-2V4h-2zM2 10h2v2h2v2H2zM12 10h2v4h-4v-2h2z";
/** @type {Record<string, number>} */
const STEPS = { PageDown: 1, PageUp: -1 };
const TAKES_ARROWS = ".cv-grid, input, select, [role=radiogroup], [role=tablist]";

/**
 * @import { Board } from "../board/board.js"
 * @typedef {ReturnType<typeof import("../base/observable_values.js").createValues>} Wish
 */

/**
 * @param {string} className @param {string} words @param {() => void} onClick
 * @param {...(Node | string)} children
 */
function createButton(className, words, onClick, ...children) {
  return makeButton({ class: className, title: words, "aria-label": words }, children, onClick);
}

/** @param {Event} event */
const targetOf = (event) => /** @type {Element} */ (event.composedPath()[0] ?? event.target);

export class Lecture {
  /** Browsers send no event for their Esc. An unfilled screen is that of an earlier lecture. */
  #onScreen = () => void (this.#filled && !document.fullscreenElement && this.#turn(false));
  /** @param {Event} heard */
  #onKey = (heard) => {
    const event = /** @type {KeyboardEvent} */ (heard);
    const target = targetOf(event);
    const isOurs = this.#app.contains(target) || (this.#own && isUnfocused(target, this.#app));
    if (!isOurs || !isBare(event) || target.closest(TYPING) || (!this.#on && target.closest("select")))
      return;
    const action = this.#actionOf(event);
    if (!action) return;
    event.preventDefault();
    event.stopPropagation(); // a grid would turn its own pages
    action();
  };
  /** Unless taken, wherever the focus is. @param {Event} heard */
  #onEscape = (heard) => {
    const event = /** @type {KeyboardEvent} */ (heard);
    if (!this.#on || event.key !== "Escape" || event.defaultPrevented) return;
    event.preventDefault();
    if (!this.#board.escape()) this.#turn(false);
  };
  begin = () => void (this.#wish?.get("present") && this.#turn(true));
  #app;
  #screen; // a part of a page that fills it would be printed as one sheet, on black
  #board;
  #player;
  #own;
  #wish;
  #fit;
  button;
  #bands = element("div.cv-lecture-bands", { role: "group", "aria-label": say("bands") });
  bar;
  #listening = new AbortController();
  #unwish;
  #on = false;
  #filled = false; // whether it has filled the screen since it began
  /** @type {Element | null} */
  #before = null; // what had the focus before

  /**
   * @param {HTMLElement} app @param {Board} board @param {Player} player
   * @param {{ own: boolean, wish: Wish | null, fit: () => void }} page own: all keys of the page are ours;
   *   wish: the address's; fit: gives the stage its room
   */
  constructor(app, board, player, { own, wish, fit }) {
    [this.#app, this.#board, this.#player] = [app, board, player];
    [this.#own, this.#wish, this.#fit] = [own, wish, fit];
    this.#screen = own ? document.documentElement : app;
    const frame = svgElement("path", { d: FRAME });
    const icon = svgElement("svg", { viewBox: "0 0 16 16", "aria-hidden": "true" }, frame);
    this.button = createButton("cv-present", say("enter"), () => this.#turn(true), icon);
    const steps = [
      iconButton("back", say("back"), () => this.#step(-1)),
      iconButton("play pause", say("play"), () => board.play()),
      iconButton("forward", say("forward"), () => this.#step(1)),
    ];
    const leave = iconButton("close", say("leave"), () => this.#turn(false));
    const attributes = { role: "group", "aria-label": say("bar") };
    this.bar = element("div.cv-lecture-bar", attributes, ...steps, this.#bands, leave);
    const keys = own ? document : app;
    keys.addEventListener("keydown", this.#onKey, { capture: true, signal: this.#listening.signal });
    keys.addEventListener("keydown", this.#onEscape, { signal: this.#listening.signal });
    this.#unwish = wish?.on("change:present", this.begin);
  }

  /** Of the lesson, else of the band. @param {number} by */
  #step(by) {
    return this.#player.get("look") ? this.#player.go(by) : this.#board.step(by);
  }

  /** @param {boolean} next */
  #turn(next) {
    if (next === this.#on) return;
    this.#on = next;
    if (this.#on) this.#before = focusOf(this.#app);
    this.#app.toggleAttribute("data-present", this.#on);
    if (this.#on) this.#enter();
    else this.#end();
    this.#fit();
    this.#board.relayout();
  }

  #enter() {
    this.#app.tabIndex = -1;
    this.#app.focus({ preventScroll: true });
    this.#filled = false;
    document.addEventListener("fullscreenchange", this.#onScreen);
    // Unasked by hand, or not allowed, it fills the frame.
    if (this.#screen.requestFullscreen && navigator.userActivation?.isActive)
      this.#screen.requestFullscreen().then(
        () => this.#fill(),
        () => this.#rise(),
      );
    else this.#rise();
  }

  /** Or give the screen back. */
  #fill() {
    this.#filled = this.#on;
    if (!this.#on && document.fullscreenElement === this.#screen) document.exitFullscreen();
  }

  /** A notebook may have moved or cut what holds the app. */
  #rise() {
    if (!this.#on || !this.#app.isConnected || this.#own || !this.#app.showPopover) return;
    this.#app.popover = "manual";
    this.#app.showPopover();
  }

  #end() {
    document.removeEventListener("fullscreenchange", this.#onScreen);
    if (document.fullscreenElement === this.#screen) document.exitFullscreen();
    this.#app.removeAttribute("popover");
    this.#wish?.put({ present: false });
    this.#app.removeAttribute("tabindex");
    const to = /** @type {HTMLElement} */ (
      this.#before?.isConnected && this.#before.getClientRects().length ? this.#before : this.button
    );
    to.focus({ preventScroll: true });
  }

  /** Buttons stay while their names do. */
  refresh() {
    const all = this.#board.bands();
    while (this.#bands.children.length > all.length) this.#bands.lastElementChild?.remove();
    all.forEach(({ title, shown }, index) => {
      const found =
        this.#bands.children[index] ??
        this.#bands.appendChild(
          createButton("", "", () => this.#board.show(this.#board.bands()[index].name)),
        );
      setText(found, String(index + 1));
      for (const name of ["title", "aria-label"])
        found.setAttribute(name, say("band", { number: index + 1, title }));
      found.setAttribute("aria-pressed", String(shown));
    });
  }

  /** @param {KeyboardEvent} event */
  #actionOf(event) {
    const key = event.key.toLowerCase();
    if (key === "f" && !event.repeat) return () => this.#turn(!this.#on);
    if (!this.#on) return null;
    const target = targetOf(event);
    const by = STEPS[event.key] ?? (target.closest(TAKES_ARROWS) ? 0 : ARROWS[event.key]?.[1]);
    if (by) return () => this.#step(by);
    const band = this.#board.bands()[Number(key) - 1];
    return band ? () => this.#board.show(band.name) : null;
  }

  close = () => {
    this.#turn(false);
    this.#listening.abort();
    this.#unwish?.();
    this.button.remove();
    this.bar.remove();
  };
}
