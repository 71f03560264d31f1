// @ts-check
// A page that lives without a kernel: the app around a model whose numbers the page computes.
import WORDS from "../../facts/words/board.json" with { type: "json" };
import { createCopyLink } from "../controls/copy_link.js";
import { createValues } from "../base/events.js";
import { createShelf } from "../lesson/lessons.js";
import { Player } from "../lesson/player.js";
import { createLessonButtons, stepLink } from "../lesson/start.js";
import { fromPage } from "../numbers/from_page.js";
import { createPageModel } from "../numbers/model.js";
import { sentences } from "../base/words.js";
import { addressWith, followAddress } from "./address.js";
import { tellHeight } from "./height.js";
import { createOwnTabs } from "./own_tab.js";
import { drawApp } from "./view.js";

const say = sentences(WORDS);

/**
 * @import { MakeNumbers } from "../numbers/latest_request.js"
 * @import { PageData } from "../numbers/model.js"
 * @param {{ el: HTMLElement, data: PageData & { controls: string[], height: number | null,
 *   lesson?: string | null, lessons?: Record<string, import("../lesson/lessons.js").Told>,
 *   tabs?: Record<string, import("../tabs/opening.js").TabScript["default"]>, race?: any }, own?: boolean,
 *   makeNumbers?: MakeNumbers }} page data.tabs: what draws them, by name; data.race: the recorded one, where
 *   it is among them; own: whether the whole page, and so its address, is ours
 */
function render({ el, data, own = false, makeNumbers = fromPage }) {
  const model = createPageModel(data, makeNumbers);
  const player = new Player(model, createShelf(data.lessons), Object.keys(data.tabs ?? {}));
  const wish = createValues({ present: false });
  const opened = own && followAddress(model, player, wish);
  if (data.lesson && !opened) player.play(data.lesson); // who opens a link wants to see that
  const tabs = data.tabs && createOwnTabs(model, data.colorscales, data.tabs, data.race);
  const share = createCopyLink(model, own ? addressWith : () => "", () => stepLink(player));
  const app = drawApp(el, model, data.controls, share, player, { own, wish, drawer: tabs?.drawer });
  const made = own && el.parentElement?.querySelector(":scope > .cv-made");
  // Beside the numbers it takes no height from the picture.
  if (made) el.querySelector(".cv-facts")?.append(made);
  const lessons = createLessonButtons(player, app.readLesson);
  (own ? el.parentElement?.querySelector(".cv-headline") : el.querySelector(".cv-tools"))?.append(
    lessons.el,
    ...(tabs ? [tabs.entries] : []),
    app.lecture,
  );
  const close = () => {
    lessons.close();
    lessons.el.remove();
    player.end();
    tabs?.close();
    app.close();
  };
  if (!data.height) tellHeight(/** @type {HTMLElement} */ (el.closest(".cv-page") ?? el));
  return { model, close };
}

/** Say that the page could not start. @param {unknown} error */
const failed = (error) => say("page.failed", { why: /** @type {Error} */ (error).message });

export default { render, failed };
