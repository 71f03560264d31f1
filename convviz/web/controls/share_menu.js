// Share: a link; with a kernel Python or a page, too.
import { NOT_COPIED, createClipboard } from "../base/clipboard.js";
import { element, makeButton, makeId, setText } from "../base/dom.js";
import { saveFile } from "../base/save_file.js";
import { closeWithEscape } from "../base/keys.js";
import { messageOf } from "../numbers/ask_kernel.js";
import { toLink } from "../rules/settings_link.js";
import { hasAddress, howToOpen, whatOpens } from "../board/read_link_from_address.js";
import { say } from "../base/board_sentences.js";

export class Share {
  #refresh = () => {
    this.#python.hidden = !this.#model.kernel();
    this.#page.hidden = !this.#model.kernel()?.facts.makes_pages;
  };
  /** It was about other settings. */
  #onSettings = () => {
    if (this.#asked || !this.#outcome.textContent) return;
    this.#copier.close();
    this.#report("");
  };
  #model;
  #lessonLink;
  #ends;
  button;
  #python = makeButton({}, say("share.python"), () =>
    this.#ask("python", say("share.writing"), ({ message }) =>
      this.#copy(message.text, say("copy.notebook")),
    ),
  );
  #page = makeButton({}, say("share.page"), () =>
    this.#ask("page", say("share.making"), ({ message, buffers }) => this.#save(message.name, buffers[0])),
  );
  #outcome = element("p.cv-share-outcome", { role: "status" });
  #copier = createClipboard();
  box;
  /** @type {object | null} */
  #asked = null;

  /** @param {Model} model @param {() => string} lessonLink */
  constructor(model, lessonLink) {
    [this.#model, this.#lessonLink] = [model, lessonLink];
    const id = `cv-share-${makeId()}`;
    this.button = element(
      "button",
      { type: "button", "aria-expanded": "false", "aria-controls": id },
      say("share"),
    );
    const link = makeButton({}, say("copy.link"), () => this.#copyLink());
    this.box = element(
      "div.cv-share-panel",
      { id, hidden: "" },
      link,
      this.#python,
      this.#page,
      this.#outcome,
      this.#copier.el,
    );
    this.button.addEventListener("click", () => {
      this.box.hidden = !this.box.hidden;
      this.button.setAttribute("aria-expanded", String(!this.box.hidden));
      this.#copier.close();
      this.#report("");
      if (!this.box.hidden) this.box.scrollIntoView({ block: "nearest" }); // on a phone it opens below what is in sight
    });
    closeWithEscape(() => (this.box.hidden ? null : this.button), this.button, this.box);
    this.#ends = [model.on("settings", this.#onSettings), model.on("change:kernel", this.#refresh)];
    this.#refresh();
  }

  /** @param {string} words */
  #report(words, refused = false) {
    setText(this.#outcome, words);
    this.#outcome.classList.toggle("cv-refused", refused);
  }

  /** @param {string} text @param {string} words */
  async #copy(text, words) {
    const done = await this.#copier.copy(text);
    this.#report(done ? words : NOT_COPIED, !done);
  }

  #copyLink() {
    const state = this.#model.settings();
    try {
      const left = state.device === "cpu" ? [] : [say("share.device", { device: state.device })];
      this.#copy(
        whatOpens((hasAddress() && this.#lessonLink()) || toLink(state)),
        [howToOpen(), ...left].join(" "),
      );
    } catch (error) {
      this.#copier.close();
      const { message } = /** @type {Error} */ (error);
      this.#report(`${message[0].toUpperCase()}${message.slice(1)}.`, true);
    }
  }

  /** @param {string} type @param {string} words @param {(reply: Reply) => void} take */
  async #ask(type, words, take) {
    this.#copier.close();
    this.#report(words);
    const mine = (this.#asked = {});
    try {
      const reply = await this.#model
        .kernel()
        ?.request({ type, settings: messageOf(this.#model.settings()) });
      if (this.#asked !== mine) return;
      this.#asked = null;
      if (reply) take(reply);
    } catch (error) {
      if (this.#asked !== mine) return;
      this.#asked = null;
      this.#report(/** @type {Error} */ (error).message, true);
    }
  }

  /** @param {string} name @param {DataView<ArrayBuffer>} content */
  #save(name, content) {
    saveFile(content, name, "text/html");
    this.#report(say("share.ready", { file: name }));
  }

  close = () => this.#ends.forEach((end) => end());
}
