// @ts-check
// The card on which a lesson is read, beside the picture that it is about. It is built once and kept in step, so that the
// focus stays where it is; what is new is spoken.
import WORDS from "../../../facts/words/player.json" with { type: "json" };
import { element, focusOf, setText } from "../base/dom.js";
import { sentences } from "../base/words.js";
import { pointAt } from "../base/wire.js";
import { createButton } from "./button.js";
import { lookInTab } from "./in_tab.js";
import { createLeft } from "./left.js";
import { createQuestion } from "./question.js";

const say = sentences(WORDS);
const ROOM = 8; // pixels around a control that is brought in sight

/**
 * @import { Look, SeenTask } from "./look.js"
 * @import { Player } from "./player.js"
 * @typedef {{ focus: (band: string) => void, bring: (band: string) => void, hide: (place: Look["hidden"]) => void,
 *   plain: () => void, tray: (full: boolean) => void }} Stage what a lesson does to a board
 */

/**
 * Make the card.
 * @param {Player} player @param {Stage} stage
 */
export function createLessonPanel(player, stage) {
  const name = element("b", { class: "cv-lesson-name" });
  const count = element("span", { class: "cv-lesson-count" });
  const heading = element("h3", { tabindex: "-1" });
  const words = element("p", { class: "cv-lesson-words" });
  const code = element("pre", { class: "cv-lesson-code", tabindex: "0" });
  const noTab = element("p", { class: "cv-muted" });
  const tasks = element("div", { class: "cv-lesson-tasks" });
  const question = createQuestion(player);
  const act = createButton("act", () => player.act());
  const back = createButton("back", () => player.go(-1));
  const next = createButton("next", () => player.go(1));
  const close = createButton("close", () => player.close(), "×");
  const again = createButton("again", () => player.go(0), "↺");
  const live = element("p", { class: "cv-live", role: "status", "aria-live": "polite" });
  const text = element("div", { class: "cv-lesson-text" }, words, code, noTab, tasks, question.el);
  const card = element(
    "section",
    { class: "cv-lesson", hidden: "" },
    element("header", {}, again, close),
    heading,
    text,
    element(
      "footer",
      { title: say("keys") },
      back,
      act,
      element(
        "p",
        { class: "cv-lesson-where" },
        name,
        " ",
        count,
        " ",
        element("kbd", {}, say("keys.short")),
      ),
      next,
    ),
  );
  const left = createLeft(player, () => heading.focus());
  const el = element("div", { class: "cv-lesson-place" }, card, left.el, live);
  let key = "";
  let told = ""; // all that stood there
  let pointed = "[]"; // the cells that are lit
  let wanted = ""; // the control that is framed
  let opened = /** @type {Element | null} */ (null); // what it stood behind

  /** @param {Look} look */
  function show(look) {
    card.setAttribute("aria-label", say("panel", { title: look.title }));
    setText(name, look.title);
    setText(count, say("count", { at: look.at, of: look.of }));
    setText(heading, look.heading);
    setText(words, look.words);
    setText(code, look.code);
    code.hidden = !look.code;
    setText(noTab, look.noTab);
    showTasks(tasks, look.tasks);
    question.show(look.question);
    act.hidden = look.tasks.every(({ done }) => done);
    back.setAttribute("aria-disabled", String(look.at === 1));
    setText(next, say(look.at === look.of ? "finish" : "next"));
    card.dataset.long = look.long;
    stage.hide(look.hidden);
    card.toggleAttribute("data-complete", look.complete); // only then is going on the first thing to do
    appOf()?.toggleAttribute("data-quiet", look.quiet);
    appOf()?.toggleAttribute("data-at-board", !look.choose && look.tasks.some(({ done }) => !done));
    if (look.key !== key) begin(look);
    want(look.wanted);
    tab.follow(look.choose, look.part, look.key);
    light(look.highlight);
    speak(look);
  }

  /** @param {Look} look */
  function begin(look) {
    if (!key) stage.plain(); // what was open would stand in the place of what the lesson speaks of
    key = look.key;
    told = "";
    pointed = "";
    stage.tray(look.full);
    text.scrollTop = 0;
    stage.focus(look.focus);
    stage.bring(look.band);
  }

  /** Frame the control that is to be moved, and bring it where it can be. @param {string} control */
  function want(control) {
    if (control === wanted) return;
    wanted = control;
    const app = appOf();
    for (const old of app?.querySelectorAll("[data-wanted]") ?? []) old.removeAttribute("data-wanted");
    opened?.removeAttribute("open");
    const part = control && app?.querySelector(`.cv-controls .cv-set-${control}`);
    if (!part) return;
    part.setAttribute("data-wanted", "");
    opened = part.closest("details:not([open])");
    opened?.setAttribute("open", "");
    const bring = () =>
      part.hasAttribute("data-wanted") && bringInSight(el, /** @type {HTMLElement} */ (part));
    requestAnimationFrame(() => requestAnimationFrame(bring)); // the first frame of a page gives the column its height
  }

  /** @param {Look["highlight"]} cells */
  function light(cells) {
    const wanted = JSON.stringify(cells);
    if (wanted === pointed) return;
    pointed = wanted;
    pointAt(el, { cells });
  }

  /** Say what was not there before. @param {Look} look */
  function speak(look) {
    const { at, of, heading: title } = look;
    const said = [say("told.step", { at, of, title, words: look.words })];
    for (const task of look.tasks) said.push(task.words, task.then);
    if (look.question)
      said.push(look.question.words, look.question.told, ...look.question.reasons.map(({ words }) => words));
    const whole = said.filter(Boolean).join("\n");
    if (whole === told) return;
    const old = new Set(told.split("\n"));
    setText(live, said.filter((each) => each && !old.has(each)).join(" "));
    told = whole;
    if (live.textContent && look.tasks.some(({ done }) => done)) text.scrollTop = text.scrollHeight; // the newest stands below
  }

  const appOf = () => el.closest(".cv-app");
  const tab = lookInTab(appOf, (ids) => player.choose(ids));
  const update = () => {
    const look = player.get("look");
    const focused = card.contains(focusOf(card));
    card.hidden = !look;
    el.toggleAttribute("data-playing", Boolean(look));
    appOf()?.toggleAttribute("data-lesson", Boolean(look));
    left.show(look ? null : player.get("left"));
    el.toggleAttribute("data-left", !left.el.hidden);
    if (look) return show(look);
    if (!key) return;
    key = "";
    appOf()?.removeAttribute("data-quiet");
    stage.tray(false);
    stage.hide(null);
    stage.focus("");
    light([]);
    want("");
    tab.follow("", "", "");
    setText(live, (player.get("left")?.words ?? []).join(" "));
    if (focused) left.focus();
  };
  player.on("change:look", update);
  player.on("change:left", update);
  player.on("press", tab.press);
  return {
    el,
    update,
    /** Read from its beginning. */
    focus: () => heading.focus(),
    close() {
      player.off("change:look", update);
      player.off("change:left", update);
      player.off("press", tab.press);
      tab.stop();
    },
  };
}

/** Scroll the controls below the card, where it stays as they move; elsewhere that would scroll the card away. @param {HTMLElement} card @param {HTMLElement} part */
function bringInSight(card, part) {
  const column = part.closest(".cv-controls");
  if (!column || getComputedStyle(card).position !== "sticky") return;
  const { top, bottom } = part.getBoundingClientRect();
  const above = top - card.getBoundingClientRect().bottom - ROOM;
  const below = bottom - column.getBoundingClientRect().bottom + ROOM;
  if (below > 0) column.scrollTop += below;
  else if (above < 0) column.scrollTop += above;
}

/** @param {HTMLElement} list @param {SeenTask[]} tasks */
function showTasks(list, tasks) {
  while (list.children.length > tasks.length) list.lastElementChild?.remove();
  tasks.forEach((task, index) => {
    const item = /** @type {HTMLElement} */ (
      list.children[index] ?? list.appendChild(element("div", {}, element("p", {}), element("p", {})))
    );
    item.className = task.done ? "cv-lesson-done" : "cv-lesson-task";
    setText(item.children[0], [task.words, task.walked && `(${task.walked})`].filter(Boolean).join(" "));
    setText(item.children[1], task.then);
  });
}
