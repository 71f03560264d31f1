// @ts-check
// Hand the settings on: as a link; with a kernel as Python or as a page, too.
import WORDS from "../../../facts/words/board.json" with { type: "json" };
import { NOT_COPIED, createCopier } from "../base/clipboard.js";
import { element, setText } from "../base/dom.js";
import { closeWithEscape } from "../base/keys.js";
import { messageOf } from "../numbers/from_kernel.js";
import { toLink } from "../rules/link.js";
import { hasAddress, howToOpen, whatOpens } from "../board/share_address.js";
import { sentences } from "../base/words.js";

const say = sentences(WORDS);

/**
 * @import { Reply } from "../numbers/from_kernel.js"
 * @import { Model } from "../numbers/model.js"
 */

/**
 * Make the button "Share", and what it opens.
 * @param {Model} model @param {() => string} lessonLink leads to the step of a lesson that is being read; empty while none is
 */
export function createShare(model, lessonLink) {
  const id = `cv-share-${Math.random().toString(36).slice(2, 8)}`;
  const open = element(
    "button",
    { type: "button", "aria-expanded": "false", "aria-controls": id },
    say("share"),
  );
  const link = element("button", { type: "button" }, say("copy.link"));
  const python = element("button", { type: "button" }, say("share.python"));
  const page = element("button", { type: "button" }, say("share.page"));
  const outcome = element("p", { class: "cv-share-outcome", role: "status" });
  const copier = createCopier();
  const panel = element(
    "div",
    { class: "cv-share-panel", id, hidden: "" },
    link,
    python,
    page,
    outcome,
    copier.el,
  );
  /** What is waited for. @type {object | null} */
  let asked = null;

  /** @param {string} words @param {boolean} [refused] */
  function tell(words, refused = false) {
    setText(outcome, words);
    outcome.classList.toggle("cv-refused", refused);
  }

  /** @param {string} text @param {string} words */
  async function copy(text, words) {
    const done = await copier.copy(text);
    tell(done ? words : NOT_COPIED, !done);
  }

  function copyLink() {
    const state = model.settings();
    try {
      const left = state.device === "cpu" ? [] : [say("share.device", { device: state.device })];
      copy(whatOpens((hasAddress() && lessonLink()) || toLink(state)), [howToOpen(), ...left].join(" "));
    } catch (error) {
      copier.close();
      tell(`${sentence(/** @type {Error} */ (error).message)}.`, true);
    }
  }

  /**
   * Ask torch's side for something that is made of these settings.
   * @param {string} type of the request @param {string} words until it comes @param {(reply: Reply) => void} take
   */
  async function ask(type, words, take) {
    copier.close();
    tell(words);
    const mine = (asked = {});
    try {
      const reply = await model.kernel()?.request({ type, settings: messageOf(model.settings()) });
      if (asked !== mine) return; // something else was asked for
      asked = null;
      if (reply) take(reply);
    } catch (error) {
      if (asked !== mine) return;
      asked = null;
      tell(/** @type {Error} */ (error).message, true);
    }
  }

  /** @param {string} name @param {DataView<ArrayBuffer>} content */
  function save(name, content) {
    const url = URL.createObjectURL(new Blob([content], { type: "text/html" }));
    element("a", { href: url, download: name }).click();
    // Not at once: the browser has yet to read it.
    setTimeout(() => URL.revokeObjectURL(url), 60_000);
    tell(say("share.ready", { file: name }));
  }

  /** Offer what somebody is there to make. */
  function refresh() {
    python.hidden = !model.kernel();
    page.hidden = !model.kernel()?.facts.makes_pages;
  }

  open.addEventListener("click", () => {
    panel.hidden = !panel.hidden;
    open.setAttribute("aria-expanded", String(!panel.hidden));
    copier.close();
    tell("");
  });
  closeWithEscape(() => (panel.hidden ? null : open), open, panel);
  link.addEventListener("click", copyLink);
  python.addEventListener("click", () =>
    ask("python", say("share.writing"), ({ message }) => copy(message.text, say("copy.notebook"))),
  );
  page.addEventListener("click", () =>
    ask("page", say("share.making"), ({ message, buffers }) => save(message.name, buffers[0])),
  );
  /** What was said was said of other settings. */
  const onSettings = () => {
    if (asked || !outcome.textContent) return;
    copier.close();
    tell("");
  };
  model.on("settings", onSettings);
  model.on("change:kernel", refresh);
  refresh();
  return {
    button: open,
    box: panel,
    close() {
      model.off("settings", onSettings);
      model.off("change:kernel", refresh);
    },
  };
}

/** @param {string} text */
const sentence = (text) => text[0].toUpperCase() + text.slice(1);
