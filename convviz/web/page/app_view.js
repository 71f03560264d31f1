// One view of the app: controls and board around a model, in a page without a kernel and with one.
import { element, makeButton, setAttribute } from "../base/dom.js";
import { followHelp } from "../base/help.js";
import { rove } from "../base/roving_tabindex.js";
import { Board } from "../board/board.js";
import { followScreen } from "../board/layout/screen_layout.js";
import { keepSliders } from "../base/sliders_on_touch.js";
import { createControls } from "../controls/controls.js";
import { createDescent } from "../controls/gradient_descent.js";
import { WeightSlider } from "../controls/weight_slider.js";
import { LessonPanel } from "../lesson/lesson_card.js";
import { TAUGHT } from "../lesson/player.js";
import { createLessonButtons, steer } from "../lesson/lesson_controls.js";
import { tabBand } from "../tabs/tab_groups.js";
import { createHeadline } from "./headline.js";
import { Lecture } from "./lecture.js";
import { say } from "../base/board_sentences.js";

const SIGNS = { undo: "\u21b6", redo: "\u21b7", reset: "\u27f2" };

/**
 * @typedef {{ button: HTMLElement, box: HTMLElement, close?: () => void }} ShareButton
 * @param {HTMLElement} el @param {Model} model @param {Player} player
 * @param {{ chosen: string[], share: ShareButton, tabs?: Pick<import("../tabs/tabbar.js").Tabbar, "drawer" |
 *   "entries" | "close">, menu?: HTMLElement, own?: boolean, wish?: import("./lecture.js").Wish | null }} around
 *   chosen: groups and controls, none: the board alone; menu: of languages; own: the whole page is ours
 * @returns {() => void} close
 */
export function drawApp(el, model, player, { chosen, share, tabs, menu, own = false, wish = null }) {
  /** @type {(() => void)[]} */
  const closers = [];
  /** @param {Pick<Model, "on"> | Player} of @param {string} event @param {() => void} listener */
  const hear = (of, event, listener) => {
    closers.push(of.on(event, listener));
    return listener;
  };
  /** @param {string} event @param {() => void} listener called at once, too */
  const follow = (event, listener) => hear(model, event, listener)();
  const controls = createColumn(model, chosen, share, follow, closers);
  const picture = element("div.cv-picture");
  for (const event of ["settings", "change:values"]) follow(event, () => markSettled(model, picture));
  // The drawer follows its button, so that Tab leads into it; the sheet puts it below the controls.
  const body = element("div.cv-body", ...(tabs ? [tabs.drawer] : []), controls, picture);
  const heading = element("div.cv-heading");
  el.append(heading, body);
  const room = followScreen(body);
  /** @type {Lecture} */
  let lecture;
  const board = new Board({ model, el: picture, taught: TAUGHT, own, onBands: () => lecture?.refresh() });
  if (tabs) follow("settings", lendBandOfTab(model, board));
  const app = /** @type {HTMLElement} */ (el.closest(".cv-app") ?? el);
  const lesson = new LessonPanel(player, board);
  const headline = createHeadline(model, follow, board.arrival.watch, () => player.get("look")?.title);
  const lessons = createLessonButtons(player, lesson.focus);
  heading.append(headline.el, lessons.el, ...(tabs ? [tabs.entries] : []), ...(menu ? [menu] : []));
  hear(player, "change:look", headline.ask);
  controls.after(lesson.el); // read before the board, and beside it
  const hasLesson = () => Boolean(player.get("look") ?? player.get("left"));
  hear(player, "change:look", () => hasLesson() && board.arrival.leave());
  if (["kernel", "geometry"].every((group) => chosen.includes(group)))
    board.arrival.arrive(app, () => !hasLesson() && !app.hasAttribute("data-present"));
  lesson.update(); // the app around it is known
  room.update(); // ... and whether the card stands in it
  for (const event of ["change:look", "change:left"]) hear(player, event, room.update);
  // A page without controls is the board alone, until there is something to say. With :has() CSS would look
  // for it after every change of a number: a sixth of all that a step of a slider takes.
  follow(
    "change:notice",
    hear(player, "change:look", () =>
      el.toggleAttribute("data-bare", !chosen.length && !player.get("look") && !model.get("notice")),
    ),
  );
  closers.push(
    keepSliders(body),
    followHelp(body),
    room.stop,
    board.close,
    lesson.close,
    steer(el, player, board.escape, own),
  );
  lecture = new Lecture(app, board, player, { own, wish, fit: room.update });
  controls.append(lecture.bar);
  lecture.begin();
  heading.append(lecture.button);
  closers.unshift(lecture.close); // the lecture closes before its board
  closers.push(lessons.close);
  return () => {
    share.close?.();
    tabs?.close();
    for (const each of closers) each();
    heading.remove();
    body.remove();
  };
}

/**
 * @param {Model} model @param {string[]} chosen @param {{ button: HTMLElement, box: HTMLElement }} share
 * @param {Follow} follow @param {(() => void)[]} closers
 */
function createColumn(model, chosen, share, follow, closers) {
  const drawSlider = () => {
    const slider = new WeightSlider(model);
    closers.push(slider.close);
    return slider.el;
  };
  const tools = chosen.length ? [createTools(model, follow, share.button), share.box] : [];
  const { primary, more } = createControls(model, chosen, drawSlider, follow);
  const side = element("div.cv-side", ...tools, ...more);
  if (chosen.includes("kernel")) {
    const learn = createDescent(model, follow);
    side.append(learn.el);
    closers.push(learn.close);
  }
  // one stop, so that it is not far to the first cell
  const stops = side.querySelectorAll(".cv-tools > button, :scope > details > summary");
  rove(side, () => /** @type {HTMLElement[]} */ ([...stops]));
  return element("div.cv-controls", ...primary, side);
}

/** Step and maker of the last word on the settings; empty while awaited. @param {Model} model @param {Element} picture */
function markSettled(model, picture) {
  const { step, from } = model.get("values");
  setAttribute(picture, "data-settled", model.settled() && step ? `${step} ${from}` : "");
}

/** @param {Model} model @param {Board} board */
function lendBandOfTab(model, board) {
  let lent = "";
  return () => {
    const settings = model.settings();
    const band = tabBand(settings);
    if (settings.tab && !band) return; // it speaks of all: the board stays
    if (band !== lent) board.lendBand(band);
    lent = band;
  };
}

/**
 * @param {Model} model @param {Follow} follow
 * @param {HTMLElement} more
 */
function createTools(model, follow, more) {
  const [undo, redo, reset] = /** @type {const} */ (["undo", "redo", "reset"]).map((type) => {
    const look = { class: `cv-${type}`, title: say(`${type}.title`), "aria-label": say(type) };
    return makeButton(look, SIGNS[type], () => model.send({ type }));
  });
  follow("settings", () => {
    // Not disabled, which would take the focus from a button that was just pressed.
    setAttribute(undo, "aria-disabled", String(!model.canUndo()));
    setAttribute(redo, "aria-disabled", String(!model.canRedo()));
    setAttribute(reset, "aria-disabled", String(!model.canUndo()));
  });
  return element("div.cv-tools", { role: "toolbar", "aria-label": say("tools") }, undo, redo, reset, more);
}
