// One view of the live app: its heading, tabs and buttons around controls and board. A widget draws it, the
// served page, and the page on a static host.
import SETTINGS from "../../facts/data/settings.json" with { type: "json" };
import { element } from "../base/dom.js";
import { notifyHolders } from "../base/when_attached.js";
import { language } from "../base/sentences.js";
import { Share } from "../controls/share_menu.js";
import { stepLink } from "../lesson/lesson_controls.js";
import { Tabbar } from "../tabs/tabbar.js";
import { drawApp } from "./app_view.js";
import { say } from "../tabs/tab_group_sentences.js";

const GROUPS = Object.keys(SETTINGS.controls);
const OF_THE_KERNEL = Object.values(SETTINGS.controls_of_the_kernel).flat();

/**
 * @param {HTMLElement} el @param {Model} model @param {Player} player
 * @param {{ drawPane: DrawPane, wish?: import("./lecture.js").Wish | null, menu?: HTMLElement, tabs?: string[],
 *   without?: string[], share?: import("./app_view.js").ShareButton }} around wish: of the address; without: tabs
 *   that do not work there; tabs, share: of a page without a kernel ever
 * @returns {() => void}
 */
export function drawLive(el, model, player, { drawPane, wish = null, menu, tabs, without, share }) {
  el.querySelector(".cv-late")?.remove(); // the script has started
  el.classList.add("cv-app", "cv-page", "cv-full", "cv-look");
  el.lang = language(); // a notebook around it may speak another
  const name = el.querySelector(":scope > h1");
  const brand = name ?? element("p.cv-brand", { title: say("brand") }, say("brand"));
  brand.classList.add("cv-unseen"); // the question has its place
  el.append(brand);
  const close = drawApp(el, model, player, {
    chosen: tabs ? GROUPS : [...GROUPS, ...OF_THE_KERNEL],
    share: share ?? new Share(model, () => stepLink(player)),
    tabs: new Tabbar(model, drawPane, tabs, without),
    menu,
    own: wish !== null,
    wish,
  });
  const forget = notifyHolders(el);
  return () => {
    forget();
    close();
    brand.remove();
  };
}
