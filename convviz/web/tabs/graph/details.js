// @ts-check
// What a box of the graph holds: value and gradient, what it has saved, its settings, and what stands inside
// it.
import WORDS from "../../../facts/words/tabs.json" with { type: "json" };
import { element, makeButton, setText } from "../../base/dom.js";
import { Inside } from "./inside.js";
import { setRich } from "../../base/rich_text.js";
import { TensorView } from "../tensor_view.js";
import { sentences } from "../../base/words.js";

const say = sentences(WORDS);

/**
 * @typedef {{ label: string, text: string, note: string, opens: boolean, tensors:
 *   import("../tensor_view.js").Tensor[], settings: { name: string, value: string, note: string }[] }}
 *   BoxReply
 */

export class Details {
  #pane;
  #title = element("h4", { tabindex: "-1" });
  #text = element("p", {});
  #note = element("p", { class: "cv-note" });
  #open = element("button", { type: "button", class: "cv-button", "aria-expanded": "false" });
  #tensors = element("div", { class: "cv-flow cv-tensors" });
  #readout = element("p", { class: "cv-muted cv-details-readout" });
  #settings = element("table", {});
  #inside;
  #saved = element("details", {}, element("summary", {}, say("graph.settings")), this.#settings);
  el;
  /** @type {Map<string, TensorView>} */
  #views = new Map();
  #id = "";
  /** @type {Record<string, number[]>} */
  #planes = {};
  /** @type {Record<string, number> | null} */
  #chosenPlane = null;
  #isOpen = false;
  #wanted = ""; // the box that was asked for last: an earlier answer is not shown any more

  /** @param {import("../pane.js").PaneTools} pane @param {() => void} onClose */
  constructor(pane, onClose) {
    this.#pane = pane;
    const close = makeButton({ class: "cv-button" }, say("graph.hide"), onClose);
    this.#inside = new Inside(
      pane,
      (text) => setText(this.#readout, text),
      (plane) => {
        this.#chosenPlane = plane;
        pane.send({ type: "inside", id: this.#id, plane });
      },
    );
    const head = element(
      "div",
      { class: "cv-details-head" },
      this.#title,
      element("div", { class: "cv-buttons" }, this.#open, close),
    );
    this.el = element(
      "section",
      { class: "cv-details", hidden: "" },
      head,
      this.#text,
      this.#note,
      this.#inside.el,
      this.#tensors,
      this.#readout,
      this.#saved,
    );
    this.#open.addEventListener("click", () => this.#toggle());
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
    if (this.#isOpen) this.#pane.send({ type: "inside", id: this.#id, plane: this.#chosenPlane });
  }

  /** @param {boolean} next */
  #setOpen(next) {
    this.#isOpen = next;
    this.#open.setAttribute("aria-expanded", String(next));
    setText(this.#open, say(next ? "graph.close" : "graph.open"));
    if (!next) this.#inside.hide();
  }

  #toggle() {
    this.#setOpen(!this.#isOpen);
    if (this.#isOpen) this.#pane.send({ type: "inside", id: this.#id, plane: this.#chosenPlane });
  }

  /** @param {BoxReply} reply @param {DataView<ArrayBuffer>[]} buffers */
  #show(reply, buffers) {
    setText(this.#title, reply.label);
    setRich(this.#text, reply.text);
    setText(this.#note, reply.note);
    this.#open.hidden = !reply.opens;
    if (!reply.opens && this.#isOpen) this.#setOpen(false);
    const keys = reply.tensors.map(({ key }) => key);
    if (keys.join() !== [...this.#views.keys()].join()) {
      this.#pane.point(); // a heatmap that is replaced never tells that the pointer has left it
      const make = (key) =>
        new TensorView(
          this.#pane,
          (line) => setText(this.#readout, line),
          (at) => this.#choose(key, at),
        );
      this.#views = new Map(keys.map((key) => [key, this.#views.get(key) ?? make(key)]));
      this.#tensors.replaceChildren(...[...this.#views.values()].map((view) => view.el));
    }
    for (const tensor of reply.tensors) this.#views.get(tensor.key)?.set(tensor, buffers);
    this.#saved.hidden = !reply.settings.length;
    this.#settings.replaceChildren(
      ...reply.settings.map((each) =>
        element(
          "tr",
          {},
          element("th", { scope: "row" }, element("code", {}, each.name)),
          element("td", {}, [each.value, each.note].filter(Boolean).join(" ")),
        ),
      ),
    );
    this.el.hidden = false;
    if (this.el.dataset.shown !== this.#id)
      this.#title.scrollIntoView({ block: "nearest", behavior: "instant" });
    this.el.dataset.shown = this.#id;
  }

  /** @param {string} key @param {number[]} at */
  #choose(key, at) {
    this.#planes = { ...this.#planes, [key]: at };
    this.#ask();
  }

  /** Show a box; the same one again closes or opens it. @param {string} next */
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

  /** Ask again: there are new numbers, and the box may be called otherwise. @param {string} now */
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
