// One view of the live app: its heading, tabs and buttons around controls and board. A widget draws it, the
// served page, and the page on a static host.
import SETTINGS from "../../facts/data/settings.json" with { type: "json" };
import { element } from "../base/dom.js";
import { notifyHolders } from "../base/when_attached.js";
import { language } from "../base/sentences.js";
import { Share } from "../controls/share_menu.js";
import { createLessonButtons, stepLink } from "../lesson/lesson_controls.js";
import { Tabbar } from "../tabs/tabbar.js";
import { drawApp } from "./app_view.js";
import { say } from "../tabs/tab_group_sentences.js";

const GROUPS = Object.keys(SETTINGS.controls);
const OF_THE_KERNEL = Object.values(SETTINGS.controls_of_the_kernel).flat();
const FEW = 4; // entries, beside which the question has room in a notebook

/**
 * @param {HTMLElement} el @param {Model} model @param {DrawPane} drawPane @param {Player} player
 * @param {import("./lecture.js").Wish | null} [wish] of the address
 * @param {{ menu?: HTMLElement, tabs?: string[], without?: string[], share?: { button: HTMLElement, box:
 *   HTMLElement } }} [own] without: tabs that do not work there; tabs, share: of a page without a kernel ever
 * @returns {() => void}
 */
export function drawLive(
  el,
  model,
  drawPane,
  player,
  wish = null,
  { menu, tabs: ownTabs, without, share: ownShare } = {},
) {
  el.querySelector(".cv-late")?.remove(); // the script has started
  el.classList.add("cv-app", "cv-page", "cv-full", "cv-look");
  el.lang = language(); // a notebook around it may speak another
  const name = el.querySelector(":scope > h1");
  const brand = name ?? element("p.cv-brand", { title: say("brand") }, say("brand"));
  brand.classList.add("cv-unseen"); // the question has its place
  const share = ownShare ? { ...ownShare, close() {} } : new Share(model, () => stepLink(player));
  const tabs = new Tabbar(model, drawPane, ownTabs, without);
  el.append(brand);
  const controls = ownTabs ? GROUPS : [...GROUPS, ...OF_THE_KERNEL];
  const app = drawApp(el, model, controls, share, player, { drawer: tabs.drawer, own: wish !== null, wish });
  const lessons = createLessonButtons(player, app.readLesson);
  el.toggleAttribute("data-many", tabs.entries.querySelectorAll("[data-entry]").length > FEW);
  app.heading.append(lessons.el, tabs.entries, ...(menu ? [menu] : []), app.lecture);
  const forget = notifyHolders(el);
  return () => {
    forget();
    for (const part of [share, tabs, lessons, app]) part.close();
    brand.remove();
  };
}
