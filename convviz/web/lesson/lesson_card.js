// The card on which a lesson is read. It is built once and kept in step, so that the focus stays where it is;
// what is new is spoken.
import { element, focusOf, setStyle, setText } from "../base/dom.js";
import { pointAt } from "../base/pointed_cell_events.js";
import { TabWatch } from "./watch_open_tab.js";
import { AfterLesson, createButton } from "./after_lesson.js";
import { QuestionForm } from "./number_question.js";
import { say } from "./sentences.js";

/**
 * @import { Look, SeenTask } from "./step_view_model.js"
 * @import { Board } from "../board/board.js"
 */

export class LessonPanel {
  update = () => {
    const look = this.#player.get("look");
    const focused = this.#card.contains(focusOf(this.#card));
    this.#card.hidden = !look;
    this.el.toggleAttribute("data-playing", Boolean(look));
    this.#appOf()?.toggleAttribute("data-lesson", Boolean(look));
    const left = look ? null : this.#player.get("left");
    const isEnded = Boolean(left?.words.length); // else it was left: the picture has the room at once
    this.#left.show(left);
    this.el.toggleAttribute("data-left", isEnded);
    this.#appOf()?.toggleAttribute("data-card", Boolean(look) || isEnded);
    this.#appOf()?.toggleAttribute("data-offer", Boolean(left) && !isEnded);
    if (look) return this.#show(look);
    if (!this.#key) return;
    this.#key = "";
    this.#appOf()?.removeAttribute("data-quiet");
    this.#stage.tray(false);
    this.#stage.hide(null);
    this.#stage.focus("");
    this.#stage.markBand("");
    this.#light([]);
    this.#want("");
    this.#tab.follow("", "", "");
    setText(this.#live, (this.#player.get("left")?.words ?? []).join(" "));
    if (focused) this.#left.focus();
  };
  #player;
  #stage;
  #ends;
  #name = element("b.cv-lesson-name");
  #count = element("span.cv-lesson-count");
  #heading = element("h3", { tabindex: "-1" });
  #words = element("p.cv-lesson-words");
  #code = element("pre.cv-lesson-code", { tabindex: "0" });
  #noTab = element("p.cv-muted");
  #tasks = element("div.cv-lesson-tasks");
  #question;
  #act = createButton("act", () => this.#player.act());
  #back = createButton("back", () => this.#player.go(-1));
  #next = createButton("next", () => this.#player.go(1));
  #live = element("p.cv-live", { role: "status", "aria-live": "polite" });
  #text;
  #card;
  #left;
  el;
  #key = "";
  #spoken = "";
  #pointed = "[]";
  #wanted = "";
  #opened = /** @type {Element | null} */ (null); // the details that was opened to show the wanted control
  #sheet = new ResizeObserver(() => {
    const strip = /** @type {HTMLElement | null} */ (this.#appOf()?.querySelector(".cv-controls"));
    if (strip) setStyle(strip, "--cv-below", `${this.#card.offsetHeight}px`);
  });
  #tab = new TabWatch(
    () => this.#appOf(),
    (ids) => this.#player.choose(ids),
  );

  /** @param {Player} player @param {Board} stage */
  constructor(player, stage) {
    [this.#player, this.#stage] = [player, stage];
    this.#question = new QuestionForm(player);
    const read = [this.#words, this.#code, this.#noTab, this.#tasks, this.#question.el];
    this.#text = element("div.cv-lesson-text", ...read);
    const header = element(
      "header",
      createButton("again", () => player.go(0), "↺"),
      createButton("close", () => player.close(), "×"),
    );
    const where = [this.#name, " ", this.#count, " ", element("kbd", say("keys.short"))];
    const footer = element(
      "footer",
      { title: say("keys") },
      this.#back,
      this.#act,
      element("p.cv-lesson-where", ...where),
      this.#next,
    );
    this.#card = element("section.cv-lesson", { hidden: "" }, header, this.#heading, this.#text, footer);
    this.#left = new AfterLesson(this.#player, () => this.#heading.focus());
    this.el = element("div.cv-lesson-place", this.#card, this.#left.el, this.#live);
    this.#sheet.observe(this.#card);
    this.#ends = [
      ...["change:look", "change:left"].map((event) => player.on(event, this.update)),
      player.on("press", this.#tab.press),
      () => this.#tab.stop(),
      () => this.#sheet.disconnect(),
    ];
  }

  /** @param {Look} look */
  #show(look) {
    this.#card.setAttribute("aria-label", say("panel", { title: look.title }));
    setText(this.#name, look.title);
    setText(this.#count, say("count", { at: look.at, of: look.of }));
    setText(this.#heading, look.heading);
    setText(this.#words, look.words);
    setText(this.#code, look.code);
    this.#code.hidden = !look.code;
    setText(this.#noTab, look.noTab);
    showTasks(this.#tasks, look.tasks);
    const isAsked = this.#question.el.hidden && Boolean(look.question);
    this.#question.show(look.question);
    const isHeld = focusOf(this.#act) === this.#act;
    this.#act.hidden = look.tasks.every(({ done }) => done);
    // else the next key would go nowhere
    if (isHeld && this.#act.hidden) this.#next.focus({ preventScroll: true });
    this.#back.setAttribute("aria-disabled", String(look.at === 1));
    setText(this.#next, say(look.at === look.of ? "finish" : "next"));
    this.#card.dataset.long = look.long;
    this.#stage.hide(look.hidden);
    this.#card.toggleAttribute("data-complete", look.complete);
    this.#appOf()?.toggleAttribute("data-quiet", look.quiet);
    this.#appOf()?.toggleAttribute("data-at-board", !look.choose && look.tasks.some(({ done }) => !done));
    if (look.key !== this.#key) this.#begin(look);
    else if (isAsked) this.#bring(look);
    this.#want(look.wanted);
    this.#tab.follow(look.choose, look.part, look.key);
    this.#light(look.highlight);
    this.#speak(look);
  }

  /** @param {Look} look */
  #begin(look) {
    if (!this.#key) this.#stage.closePopovers();
    this.#key = look.key;
    this.#spoken = "";
    this.#pointed = "";
    this.#stage.tray(look.full);
    this.#text.scrollTop = 0;
    this.#stage.focus(look.focus);
    this.#stage.scrollToBand(look.band);
    this.#stage.markBand(look.band);
    this.#bring(look);
  }

  /** Once the step's picture has its size. @param {Look} look */
  #bring(look) {
    const bring = () => this.#key === look.key && this.#stage.scrollToTools(look.band || look.focus);
    requestAnimationFrame(() => requestAnimationFrame(bring));
  }

  /** Frame it, and bring it in sight. @param {string} control */
  #want(control) {
    if (control === this.#wanted) return;
    this.#wanted = control;
    const app = this.#appOf();
    for (const old of app?.querySelectorAll("[data-wanted]") ?? []) old.removeAttribute("data-wanted");
    this.#opened?.removeAttribute("open");
    const strip = app?.querySelector(".cv-controls");
    const part = control ? strip?.querySelector(`.cv-set-${control}`) : null;
    // on a phone it stands alone above the sheet, so that it and the picture are in sight
    strip?.toggleAttribute("data-lent", Boolean(part?.matches(".cv-block > *")));
    if (!part) return;
    part.setAttribute("data-wanted", "");
    this.#opened = part.closest("details:not([open])");
    this.#opened?.setAttribute("open", "");
    const bring = () => part.hasAttribute("data-wanted") && part.scrollIntoView({ block: "nearest" });
    // the first frame of a page gives the column its height
    requestAnimationFrame(() => requestAnimationFrame(bring));
  }

  /** @param {Look["highlight"]} cells */
  #light(cells) {
    const wanted = JSON.stringify(cells);
    if (wanted === this.#pointed) return;
    this.#pointed = wanted;
    pointAt(this.el, { cells });
  }

  /** @param {Look} look */
  #speak(look) {
    const { at, of, heading: title } = look;
    const said = [say("told.step", { at, of, title, words: look.words })];
    for (const task of look.tasks) said.push(task.words, task.after);
    if (look.question)
      said.push(
        look.question.words,
        look.question.feedback,
        ...look.question.reasons.map(({ words }) => words),
      );
    const whole = said.filter(Boolean).join("\n");
    if (whole === this.#spoken) return;
    const old = new Set(this.#spoken.split("\n"));
    setText(this.#live, said.filter((each) => each && !old.has(each)).join(" "));
    this.#spoken = whole;
    if (this.#live.textContent && look.tasks.some(({ done }) => done))
      this.#text.scrollTop = this.#text.scrollHeight;
  }

  #appOf() {
    return this.el.closest(".cv-app");
  }

  focus = () => this.#heading.focus();

  close = () => this.#ends.forEach((end) => end());
}

/** @param {HTMLElement} list @param {SeenTask[]} tasks */
function showTasks(list, tasks) {
  while (list.children.length > tasks.length) list.lastElementChild?.remove();
  tasks.forEach((task, index) => {
    const item = /** @type {HTMLElement} */ (
      list.children[index] ?? list.appendChild(element("div", element("p"), element("p")))
    );
    item.className = task.done ? "cv-lesson-done" : "cv-lesson-task";
    const { words, walked } = task;
    setText(item.children[0], walked ? say("walked.task", { task: words, walked }) : words);
    setText(item.children[1], task.after);
  });
}
