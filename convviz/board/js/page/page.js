// @ts-check
// A page that lives without a kernel: the controls and the board around the page's own model.
import WORDS from "../../../facts/words/board.json" with { type: "json" };
import { element } from "../base/dom.js";
import { addressWith, followAddress } from "./address.js";
import { createControls } from "../controls/controls.js";
import { tellHeight } from "./height.js";
import { createKernelModel } from "../controls/kernel.js";
import { fromPage } from "../numbers/from_page.js";
import { createPageModel } from "../numbers/model.js";
import { createCopyLink } from "../controls/copy_link.js";
import { sentences } from "../base/words.js";

const say = sentences(WORDS);

/**
 * @typedef {(context: { model: any, el: HTMLElement }) => void} Render
 * @param {{ el: HTMLElement, data: import("../numbers/model.js").PageData & { controls: string[], height: number | null },
 *   widgets: { board: { render: Render }, sliders: { render: Render } }, own?: boolean,
 *   makeNumbers?: import("../numbers/asking.js").MakeNumbers }} page widgets: the modules of the live app; own: whether the
 *   whole page, and so its address, is ours
 */
function render({ el, data, widgets, own = false, makeNumbers = fromPage }) {
  const model = createPageModel(data, makeNumbers);
  if (own) followAddress((link) => model.send({ type: "open", link }));
  const drawSliders = () => {
    const grid = element("div", { class: "cv-kernel" });
    widgets.sliders.render({ model: createKernelModel(model), el: grid });
    return grid;
  };
  const { button, box } = createCopyLink(model, own ? addressWith : () => "");
  const tools = data.controls.length ? [createTools(model, button), box] : [];
  const controls = createControls(model, data.controls, drawSliders);
  controls.prepend(...tools, createNotice(model));
  const picture = element("div", { class: "cv-picture" });
  el.append(element("div", { class: "cv-body" }, controls, picture));
  widgets.board.render({ model, el: picture });
  if (!data.height) tellHeight(/** @type {HTMLElement} */ (el.closest(".cv-page") ?? el));
  return model;
}

/** Undo, redo and reset. @param {ReturnType<typeof createPageModel>} model @param {HTMLElement} more another button */
function createTools(model, more) {
  const button = (word, type) => {
    const made = /** @type {HTMLButtonElement} */ (element("button", { type: "button" }, word));
    made.addEventListener("click", () => model.send({ type }));
    return made;
  };
  const [undo, redo, reset] = [button(say("undo"), "undo"), button(say("redo"), "redo"), button(say("reset"), "reset")];
  // Not disabled, which would take the focus from a button that was just pressed.
  const refresh = () => {
    undo.setAttribute("aria-disabled", String(!model.canUndo()));
    redo.setAttribute("aria-disabled", String(!model.canRedo()));
  };
  model.on("settings", refresh);
  refresh();
  return element("div", { class: "cv-tools", role: "group", "aria-label": say("tools") }, undo, redo, reset, more);
}

/** One sentence about the last action, spoken as well. @param {ReturnType<typeof createPageModel>} model */
function createNotice(model) {
  const el = element("p", { class: "cv-notice", role: "status" });
  const show = () => {
    el.textContent = model.get("notice");
    el.dataset.failed = String(model.get("failed"));
  };
  model.on("change:notice", show);
  model.on("change:failed", show);
  show(); // what the page's address could not say is there by now
  return el;
}

/** Say that the page could not start. @param {unknown} error */
const failed = (error) => say("page.failed", { why: /** @type {Error} */ (error).message });

export default { render, failed };
