// What a box of the graph holds: value and gradient, what it saved, its settings, its inside.
import { element, setText } from "../../web/base/dom.js";
import { setRich } from "../../web/base/rich_text.js";
import { code, tableRow, button } from "../../web/tabs/pane_elements.js";
import { say } from "./sentences.js";
import { TensorView } from "./tensor_view.js";
import { Inside } from "./inside_convolution.js";

/**
 * @typedef {{ label: string, text: string, note: string, opens: boolean, tensors:
 *   import("./tensor_view.js").Tensor[], settings: { name: string, value: string, note: string }[] }}
 *   BoxReply
 */

export class Details {
  #pane;
  #title = element("h4", { tabindex: "-1" });
  #text = element("p");
  #note = element("p.cv-note");
  #open = button([], () => this.#toggle(), { "aria-expanded": "false" });
  #tensors = element("div.cv-flow.cv-tensors");
  #readout = element("p.cv-muted.cv-details-readout");
  #settings = element("table");
  #inside;
  #saved = element("details", element("summary", say("settings")), this.#settings);
  el;
  /** @type {Map<string, TensorView>} */
  #views = new Map();
  #id = "";
  /** @type {Record<string, number[]>} */
  #planes = {};
  /** @type {Record<string, number> | null} */
  #chosenPlane = null;
  #isOpen = false;
  #wanted = ""; // earlier answers are not shown

  /** @param {PaneTools} pane @param {() => void} onClose */
  constructor(pane, onClose) {
    this.#pane = pane;
    const close = button(say("hide"), onClose);
    this.#inside = new Inside(
      pane,
      (text) => setText(this.#readout, text),
      (plane) => {
        this.#chosenPlane = plane;
        this.#askInside();
      },
    );
    const buttons = element("div.cv-buttons", this.#open, close);
    const head = element("div.cv-details-head", this.#title, buttons);
    const parts = [this.#text, this.#note, this.#inside.el, this.#tensors, this.#readout, this.#saved];
    this.el = element("section.cv-details", { hidden: "" }, head, ...parts);
    pane.onReply((reply, buffers) => {
      if (reply.id !== this.#wanted) return;
      if (reply.type === "node") this.#show(reply, buffers);
      if (reply.type === "inside" && this.#isOpen) this.#inside.show(reply, buffers);
    });
    pane.onPoint((pointed) => {
      for (const view of this.#views.values()) view.hear(pointed);
      this.#inside.hear(pointed);
    });
  }

  #ask() {
    this.#wanted = this.#id;
    this.#pane.send({ type: "node", id: this.#id, planes: this.#planes });
    if (this.#isOpen) this.#askInside();
  }

  #askInside() {
    this.#pane.send({ type: "inside", id: this.#id, plane: this.#chosenPlane });
  }

  /** @param {boolean} next */
  #setOpen(next) {
    this.#isOpen = next;
    this.#open.setAttribute("aria-expanded", String(next));
    setText(this.#open, say(next ? "close" : "open"));
    if (!next) this.#inside.hide();
  }

  #toggle() {
    this.#setOpen(!this.#isOpen);
    if (this.#isOpen) this.#askInside();
  }

  /** @param {BoxReply} reply @param {Buffers} buffers */
  #show(reply, buffers) {
    setText(this.#title, reply.label);
    setRich(this.#text, reply.text);
    setText(this.#note, reply.note);
    this.#open.hidden = !reply.opens;
    if (!reply.opens && this.#isOpen) this.#setOpen(false);
    this.#showTensors(reply.tensors, buffers);
    this.#saved.hidden = !reply.settings.length;
    this.#settings.replaceChildren(
      ...reply.settings.map(({ name, value, note }) =>
        tableRow([code(name), [value, note].filter(Boolean).join(" ")]),
      ),
    );
    this.el.hidden = false;
    if (this.el.dataset.shown !== this.#id)
      this.#title.scrollIntoView({ block: "nearest", behavior: "instant" });
    this.el.dataset.shown = this.#id;
  }

  /** @param {BoxReply["tensors"]} tensors @param {Buffers} buffers */
  #showTensors(tensors, buffers) {
    const keys = tensors.map(({ key }) => key);
    if (keys.join() !== [...this.#views.keys()].join()) {
      this.#pane.point(); // a replaced heatmap never reports that the pointer left
      this.#views = new Map(keys.map((key) => [key, this.#views.get(key) ?? this.#createView(key)]));
      this.#tensors.replaceChildren(...[...this.#views.values()].map((view) => view.el));
    }
    for (const tensor of tensors) this.#views.get(tensor.key)?.set(tensor, buffers);
  }

  /** @param {string} key */
  #createView(key) {
    return new TensorView(
      this.#pane,
      (line) => setText(this.#readout, line),
      (at) => {
        this.#planes = { ...this.#planes, [key]: at };
        this.#ask();
      },
    );
  }

  /** The same one again closes or opens it. @param {string} next */
  open(next) {
    if (next === this.#id && !this.#open.hidden && !this.el.hidden) return this.#toggle();
    if (next !== this.#id) {
      this.#id = next;
      this.#planes = {};
      this.#chosenPlane = null;
      this.#setOpen(false);
    }
    this.#ask();
  }

  /** New numbers; the box may have another id. @param {string} now */
  refresh(now) {
    this.#id = now;
    this.#ask();
  }

  close() {
    this.#id = this.#wanted = "";
    this.#setOpen(false);
    this.el.hidden = true;
    delete this.el.dataset.shown;
  }
}
