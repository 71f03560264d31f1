// @ts-check
// The lecture: one band fills the screen, with a thin bar of controls below it; a clicker's keys step. It is the same page
// in other clothes: nothing is made for it but its bar, and what is set stays set when it ends.
import WORDS from "../../../facts/words/lecture.json" with { type: "json" };
import { element, focusOf, setText, svgElement } from "../base/dom.js";
import { isBare } from "../base/keys.js";
import { iconButton } from "../board/transport.js";
import { sentences } from "../base/words.js";

const say = sentences(WORDS);
const FRAME = "M2 6V2h4v2H4v2zM10 2h4v4h-2V4h-2zM2 10h2v2h2v2H2zM12 10h2v4h-4v-2h2z";
const TYPING = "input:not([type=range], [type=checkbox]), textarea, [contenteditable=true]";
const STEPS = { PageDown: 1, PageUp: -1 };

/**
 * @import { Player } from "../lesson/player.js"
 * @typedef {{ name: string, title: string, shown: boolean }} Band
 * @typedef {{ present: () => void, bands: () => Band[], show: (name: string) => void, step: (by: number) => void, play: () => void, escape: () => boolean }} Board what a lecture does to a board
 * @typedef {{ get: (name: string) => any, on: (event: string, listener: () => void) => any, off: (event: string, listener: () => void) => any,
 *   put: (values: Record<string, any>) => void }} Wish
 */

/** @param {string} className @param {string} words @param {() => void} onClick @param {...(Node | string)} children */
function createButton(className, words, onClick, ...children) {
  const button = element(
    "button",
    { type: "button", class: className, title: words, "aria-label": words },
    ...children,
  );
  button.addEventListener("click", onClick);
  return button;
}

/**
 * Make the lecture of one view.
 * @param {HTMLElement} app what fills the screen @param {Board} board @param {Player} player
 * @param {{ own: boolean, wish: Wish | null, fit: () => void }} page own: whether the keys of the whole page are ours;
 *   wish: `present` is the address's wish for a lecture; fit: gives the stage the room that there is now
 */
export function createLecture(app, board, player, { own, wish, fit }) {
  const icon = svgElement(
    "svg",
    { viewBox: "0 0 16 16", "aria-hidden": "true" },
    svgElement("path", { d: FRAME }),
  );
  const button = createButton("cv-present", say("enter"), () => turn(true), icon);
  const bands = element("div", { class: "cv-lecture-bands", role: "group", "aria-label": say("bands") });
  const steps = [
    iconButton("back", say("back"), () => step(-1)),
    iconButton("play pause", say("play"), () => board.play()),
    iconButton("forward", say("forward"), () => step(1)),
  ];
  const leave = iconButton("close", say("leave"), () => turn(false));
  const bar = element(
    "div",
    { class: "cv-lecture-bar", role: "group", "aria-label": say("bar") },
    ...steps,
    bands,
    leave,
  );
  const keys = own ? document : app;
  let on = false;
  let filled = false; // whether the lecture has had the screen since it began
  /** @type {Element | null} */
  let before = null; // what had the focus

  /** One step of the lesson that is played, else of the band. @param {number} by */
  const step = (by) => (player.get("look") ? player.go(by) : board.step(by));

  /** @param {boolean} next */
  function turn(next) {
    if (next === on) return;
    on = next;
    if (on) before = focusOf(app);
    app.toggleAttribute("data-present", on);
    if (on) enter();
    else end();
    fit();
    board.present();
  }

  function enter() {
    app.tabIndex = -1;
    app.focus({ preventScroll: true }); // what had it may be out of sight now
    filled = false;
    document.addEventListener("fullscreenchange", onScreen);
    // Where nobody asked by hand, or nobody allows it, the lecture fills the frame, above all that is in it.
    if (app.requestFullscreen && navigator.userActivation?.isActive) app.requestFullscreen().then(fill, rise);
    else rise();
  }

  /** The screen is given: to a lecture that goes on, else given back. */
  function fill() {
    filled = on;
    if (!on && document.fullscreenElement === app) document.exitFullscreen();
  }

  /** Above everything: what holds the app may have moved or cut it, as a notebook does. */
  function rise() {
    if (!on || !app.isConnected || own || !app.showPopover) return;
    app.popover = "manual";
    app.showPopover();
  }

  function end() {
    document.removeEventListener("fullscreenchange", onScreen);
    if (document.fullscreenElement === app) document.exitFullscreen();
    app.removeAttribute("popover");
    wish?.put({ present: false }); // so that it can be wished again
    app.removeAttribute("tabindex");
    const to = /** @type {HTMLElement} */ (
      before?.isConnected && before.getClientRects().length ? before : button
    );
    to.focus({ preventScroll: true });
  }

  /** The browser's own Esc is heard by nobody. What is heard before the screen is filled tells of the lecture before. */
  const onScreen = () => void (filled && !document.fullscreenElement && turn(false));

  /** The bands, as buttons that stay while their names do. */
  function refresh() {
    const all = board.bands();
    while (bands.children.length > all.length) bands.lastElementChild?.remove();
    all.forEach(({ title, shown }, index) => {
      const found =
        bands.children[index] ??
        bands.appendChild(createButton("", "", () => board.show(board.bands()[index].name)));
      setText(found, String(index + 1));
      for (const name of ["title", "aria-label"])
        found.setAttribute(name, say("band", { number: index + 1, title }));
      found.setAttribute("aria-pressed", String(shown));
    });
  }

  /** What a key does in a lecture, or what starts one; null: nothing. @param {KeyboardEvent} event */
  function actionOf(event) {
    const key = event.key.toLowerCase();
    if (key === "f" && !event.repeat) return () => turn(!on);
    if (!on) return null;
    if (event.key in STEPS) return () => step(STEPS[/** @type {"PageUp"} */ (event.key)]);
    const band = board.bands()[Number(key) - 1];
    return band ? () => board.show(band.name) : null;
  }

  /** @param {Event} heard */
  function onKey(heard) {
    const event = /** @type {KeyboardEvent} */ (heard);
    const target = /** @type {Element} */ (event.composedPath()[0] ?? event.target);
    const isOurs = app.contains(target) || (own && target === document.body);
    if (!isOurs || !isBare(event) || target.closest(TYPING) || (!on && target.closest("select"))) return;
    const action = actionOf(event);
    if (!action) return;
    event.preventDefault();
    event.stopPropagation(); // a grid would turn its own pages
    action();
  }

  /** Esc, when nothing else has taken it, wherever the focus is. @param {Event} heard */
  function onEscape(heard) {
    const event = /** @type {KeyboardEvent} */ (heard);
    if (!on || event.key !== "Escape" || event.defaultPrevented) return;
    event.preventDefault();
    if (!board.escape()) turn(false);
  }

  const onWish = () => void (wish?.get("present") && turn(true));
  keys.addEventListener("keydown", onKey, true);
  keys.addEventListener("keydown", onEscape);
  wish?.on("change:present", onWish);

  return {
    button,
    bar,
    refresh,
    /** Begin if the address wants it. */
    begin: onWish,
    close() {
      turn(false);
      keys.removeEventListener("keydown", onKey, true);
      keys.removeEventListener("keydown", onEscape);
      wish?.off("change:present", onWish);
      button.remove();
      bar.remove();
    },
  };
}
