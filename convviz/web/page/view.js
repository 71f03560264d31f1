// @ts-check
// One view of the app: controls and board around a model, in a page without a kernel and with one.
import WORDS from "../../facts/words/board.json" with { type: "json" };
import { element, makeButton, setAttribute } from "../base/dom.js";
import { followHelp } from "../base/help.js";
import { rove } from "../base/roving.js";
import { sentences } from "../base/words.js";
import { Board } from "../board/board.js";
import { followRoom } from "../board/stage.js";
import { createControls } from "../controls/controls.js";
import { createLearn } from "../controls/learn.js";
import { Sliders } from "../controls/sliders.js";
import { LessonPanel } from "../lesson/panel.js";
import { TAUGHT } from "../lesson/player.js";
import { steer } from "../lesson/start.js";
import { bandOf } from "../tabs/entries.js";
import { createLead } from "./lead.js";
import { Lecture } from "./lecture.js";

const say = sentences(WORDS);

/**
 * @import { Model } from "../numbers/model.js"
 * @import { Player } from "../lesson/player.js"
 */

/**
 * Draw the app.
 * @param {HTMLElement} el @param {Model} model
 * @param {string[]} chosen names of groups and of controls; none: the board alone
 * @param {{ button: HTMLElement, box: HTMLElement }} share what hands the settings on
 * @param {Player} player
 * @param {{ drawer?: HTMLElement, own?: boolean, wish?: import("./lecture.js").Wish | null }} [around] in
 *   which the panes of tabs open; whether the whole page is ours; what the address wishes
 * @returns {{ close: () => void, readLesson: () => void, lecture: HTMLElement }} readLesson: turn to the
 *   lesson that was started;
 *   lecture: the button that starts one
 */
export function drawApp(el, model, chosen, share, player, { drawer, own = false, wish = null } = {}) {
  /** @type {(() => void)[]} */
  const closers = [];
  /** @param {string} event @param {() => void} listener */
  const follow = (event, listener) => {
    model.on(event, listener);
    closers.push(() => model.off(event, listener));
    listener();
  };
  const drawSliders = () => {
    const grid = element("div", { class: "cv-kernel" });
    const sliders = new Sliders(model, grid);
    closers.push(() => sliders.close());
    return grid;
  };
  const tools = chosen.length ? [createTools(model, follow, share.button), share.box] : [];
  const { primary, more } = createControls(model, chosen, drawSliders, follow);
  const side = element("div", { class: "cv-side" }, ...tools, ...more);
  if (chosen.includes("kernel")) {
    const learn = createLearn(model, follow);
    side.append(learn.el);
    closers.push(learn.close);
  }
  const controls = element("div", { class: "cv-controls" }, ...primary, side);
  const picture = element("div", { class: "cv-picture" });
  // The step whose numbers are the last word on all that was set, and who computed them;
  // empty while they are awaited.
  const tellSettled = () => {
    const { step, from } = model.get("values");
    setAttribute(picture, "data-settled", model.settled() && step ? `${step} ${from}` : "");
  };
  follow("settings", tellSettled);
  follow("change:values", tellSettled);
  // What an entry opens comes next for the keyboard; it is seen below the controls.
  const body = element("div", { class: "cv-body" }, ...(drawer ? [drawer] : []), controls, picture);
  el.append(body);
  const room = followRoom(body);
  /** @type {Lecture} */
  let lecture; // right after the board that it shows
  const board = new Board({ model, el: picture, taught: TAUGHT, own, onBands: () => lecture?.refresh() });
  if (drawer)
    follow(
      "settings",
      bringTold(model, (band) => board.scrollToBand(band)),
    );
  const app = /** @type {HTMLElement} */ (el.closest(".cv-app") ?? el);
  const lesson = new LessonPanel(player, board);
  controls.prepend(createLead(model, follow, lesson.el, board.arrival.watch));
  const hasLesson = () => Boolean(player.get("look") ?? player.get("left"));
  const leaveArrival = () => hasLesson() && board.arrival.leave();
  player.on("change:look", leaveArrival);
  closers.push(() => player.off("change:look", leaveArrival));
  if (["kernel", "geometry"].every((group) => chosen.includes(group)))
    board.arrival.arrive(app, () => !hasLesson() && !app.hasAttribute("data-present"));
  lesson.update(); // now that it is where the app around it can be found
  // A page without controls is the board alone, until there is something to say. Asked of CSS, with :has(),
  // it would be looked for again after every change of a number: a sixth of all that
  // a step of a slider takes.
  const tellBare = () =>
    body.toggleAttribute("data-bare", !chosen.length && !player.get("look") && !model.get("notice"));
  player.on("change:look", tellBare);
  closers.push(() => player.off("change:look", tellBare));
  follow("change:notice", tellBare);
  closers.push(followHelp(body), room.stop, board.close, lesson.close, steer(el, player, board.escape, own));
  lecture = new Lecture(app, board, player, { own, wish, fit: room.update });
  controls.append(lecture.bar);
  lecture.begin();
  closers.unshift(lecture.close); // before the board that it shows goes
  const close = () => {
    for (const each of closers) each();
    body.remove();
  };
  return { close, readLesson: lesson.focus, lecture: lecture.button };
}

/**
 * See to it that the band stays in sight that an open tab speaks of.
 * @param {Model} model @param {(band: string) => void} bring
 */
function bringTold(model, bring) {
  let told = "";
  return () => {
    const band = bandOf(model.settings());
    if (band !== told) bring(band);
    told = band;
  };
}

/**
 * Undo, redo and reset.
 * @param {Model} model @param {(event: string, listener: () => void) => void} follow
 * @param {HTMLElement} more
 */
function createTools(model, follow, more) {
  /** @param {"undo" | "redo" | "reset"} type */
  const button = (type) => {
    return makeButton({ title: say(`${type}.title`) }, say(type), () => model.send({ type }));
  };
  const [undo, redo, reset] = [button("undo"), button("redo"), button("reset")];
  follow("settings", () => {
    // Not disabled, which would take the focus from a button that was just pressed.
    setAttribute(undo, "aria-disabled", String(!model.canUndo()));
    setAttribute(redo, "aria-disabled", String(!model.canRedo()));
  });
  const el = element(
    "div",
    { class: "cv-tools", role: "toolbar", "aria-label": say("tools") },
    undo,
    redo,
    reset,
    more,
  );
  rove(el, [undo, redo, reset, more]);
  return el;
}
