// A page that lives without a kernel: the app around a model whose numbers the page computes.
import { createCopyLink } from "../controls/copy_link.js";
import { createValues } from "../base/observable_values.js";
import { createLessons } from "../lesson/available_lessons.js";
import { Player } from "../lesson/player.js";
import { stepLink } from "../lesson/lesson_controls.js";
import { fromPage } from "../numbers/compute_in_page.js";
import { createPageModel } from "../numbers/page_model.js";
import { openTab } from "../tabs/tab_placeholder.js";
import { Tabbar } from "../tabs/tabbar.js";
import { addressWith, followAddress } from "./static_page_address.js";
import { createTabContext } from "./tab_context.js";
import { drawApp } from "./app_view.js";
import { say } from "../base/board_sentences.js";

const SLACK = 4; // pixels, or two pages could chase each other

/**
 * @import { LessonBundle } from "../lesson/available_lessons.js"
 * @import { MakeNumbers } from "../numbers/latest_request.js"
 * @import { PageData } from "../numbers/page_model.js"
 * @import { TabScript } from "../tabs/tab_placeholder.js"
 * @param {{ el: HTMLElement, data: PageData & { controls: string[], height: number | null, lesson?: string |
 *   null, lessons?: Record<string, LessonBundle>, tabs?: Record<string, TabScript["default"]>, recorded?: Record<string, any> },
 *   own?: boolean, makeNumbers?: MakeNumbers }} page own: the whole page and its address are ours
 */
function render({ el, data, own = false, makeNumbers = fromPage }) {
  const model = createPageModel(data, makeNumbers);
  const player = new Player(model, createLessons(data.lessons), Object.keys(data.tabs ?? {}));
  const wish = createValues({ present: false });
  const opened = own && followAddress(model, player, wish);
  if (data.lesson && !opened) player.play(data.lesson);
  const tabs = data.tabs && createOwnTabs(model, data.colorscales, data.tabs, data.recorded);
  const share = createCopyLink(model, own ? addressWith : () => "", () => stepLink(player));
  const closeView = drawApp(el, model, player, { chosen: data.controls, share, tabs, own, wish });
  const made = own && el.parentElement?.querySelector(":scope > .cv-made");
  if (made)
    el.querySelector(".cv-more-controls > .cv-popover, .cv-body:not(:has(.cv-popover)) .cv-facts")?.append(
      made,
    );
  const close = () => {
    player.end();
    closeView();
  };
  if (!data.height) postHeight(/** @type {HTMLElement} */ (el.closest(".cv-page") ?? el));
  return { model, close };
}

/**
 * @param {Model} model @param {any} colorscales
 * @param {Record<string, TabScript["default"]>} tabs the page has their sheets @param {Record<string, any>} [recorded] by tab
 */
function createOwnTabs(model, colorscales, tabs, recorded = {}) {
  /** @param {string} name */
  const paneOf = (name) => {
    const data = { state: "alone", recorded: recorded[name] };
    return createValues({ data, tab: name, theme: model.get("theme"), colorscales });
  };
  const panes = Object.fromEntries(Object.keys(tabs).map((name) => [name, paneOf(name)]));
  model.on("change:theme", () =>
    Object.values(panes).forEach((pane) => pane.put({ theme: model.get("theme") })),
  );
  const scripts = {
    now: (/** @type {string} */ name) => ({ default: tabs[name], sheet: "" }),
    ask: () => () => {},
  };
  const context = { send() {}, ...createTabContext(model) };
  const names = Object.keys(tabs);
  return new Tabbar(model, (name, el) => openTab(name, el, scripts, { ...panes[name], ...context }), names);
}

/** To the page around an iframe; anybody may read it. @param {HTMLElement} el */
function postHeight(el) {
  if (window.parent === window) return;
  el.dataset.grows = ""; // no vh: it would chase its own height
  let sent = -SLACK;
  let frame = 0;
  const sendHeight = () => {
    frame = 0;
    const height = Math.ceil(el.getBoundingClientRect().bottom + window.scrollY);
    if (Math.abs(height - sent) < SLACK) return;
    sent = height;
    window.parent.postMessage({ type: "convviz:resize", height }, "*");
    // What Canvas, Moodle and Sakai hear.
    window.parent.postMessage(JSON.stringify({ subject: "lti.frameResize", height }), "*");
  };
  new ResizeObserver(() => (frame ||= requestAnimationFrame(sendHeight))).observe(el);
}

/** @param {unknown} error */
const failed = (error) => say("page.failed", { why: /** @type {Error} */ (error).message });

export default { render, failed };
