// The inside of a convolution's box: its backward pass as small heatmaps with what is done between them.
import { element, setText } from "../../web/base/dom.js";
import { rich, setRich } from "../../web/base/rich_text.js";
import { say } from "./sentences.js";
import { LinkedMap, PlaneFields } from "./tensor_view.js";

const CELL_SIDE = 26; // pixels

/**
 * @typedef {import("./tensor_view.js").Plane & { name: string, label: string, shape: string, words?: string,
 *   note: string }} Stage words: of an operation between stages
 */

export class Inside {
  #failure = element("p.cv-pane-failure", { role: "alert" });
  #fields;
  #branches = element("div");
  el;
  /** @type {{ map: LinkedMap, note: HTMLElement }[]} */
  #maps = [];
  /** @type {HTMLElement[]} */
  #truths = [];
  /** @type {string[]} */
  #axes = [];
  #built = "";
  #pane;
  #read;

  /**
   * @param {PaneTools} pane @param {(text: string) => void} read
   * @param {(plane: Record<string, number>) => void} choose
   */
  constructor(pane, read, choose) {
    [this.#pane, this.#read] = [pane, read];
    this.#fields = new PlaneFields((values) =>
      choose(Object.fromEntries(values.map((value, index) => [this.#axes[index], value]))),
    );
    const parts = [this.#failure, this.#fields.el, this.#branches];
    this.el = element("div.cv-inside", { hidden: "" }, ...parts);
  }

  /** @param {any} reply @param {Buffers} buffers */
  show(reply, buffers) {
    this.el.hidden = false;
    this.el.dataset.of = reply.id;
    setText(this.#failure, reply.error ?? "");
    this.#branches.hidden = this.#fields.el.hidden = Boolean(reply.error);
    if (reply.error) return;
    this.#setChoices(reply.choices, reply.fixed);
    this.#build(reply.branches);
    const stages = reply.branches.flatMap(({ rows }) => rows.flat()).filter(({ words }) => !words);
    stages.forEach((stage, index) => {
      const { map, note } = this.#maps[index];
      map.set(stage, buffers);
      setText(note, stage.part && say("tensor.shown", { part: stage.part }));
    });
    reply.branches.forEach(({ truth }, index) => setRich(this.#truths[index], truth));
  }

  hide() {
    this.el.hidden = true;
  }

  /** @param {Pointed} pointed */
  hear(pointed) {
    for (const { map } of this.#maps) map.hear(pointed);
  }

  /** @param {{ axis: string, word: string, count: number, value: number }[]} wanted @param {boolean} fixed */
  #setChoices(wanted, fixed) {
    const plane = wanted.map(({ word, value }) => `${word} = ${value}`).join(", ");
    this.#fields.el.hidden = !wanted.length;
    if (fixed) return setText(this.#fields.el, plane && say("board", { plane }));
    this.#axes = wanted.map(({ axis }) => axis);
    const inputs = this.#fields.set(
      wanted.map(({ count }) => count),
      wanted.map(({ value }) => value),
      (input, index) => [`${wanted[index].word} `, input],
    );
    inputs.forEach((input, index) => Object.assign(input.dataset, { axis: this.#axes[index] }));
  }

  /** Unless it is the same. @param {{ title: string, rows: Stage[][] }[]} branches */
  #build(branches) {
    const built = JSON.stringify(
      branches.map(({ rows }) => rows.map((row) => row.map((item) => [item.words ?? item.name, item.note]))),
    );
    if (built === this.#built) return;
    this.#built = built;
    this.#pane.point(); // a replaced heatmap never reports that the pointer left
    [this.#maps, this.#truths] = [[], []];
    this.#branches.replaceChildren(...branches.map((branch) => this.#branch(branch)));
  }

  /** @param {{ title: string, rows: Stage[][] }} branch */
  #branch({ title, rows }) {
    const truth = element("p.cv-muted.cv-inside-truth");
    this.#truths.push(truth);
    const flows = rows.map((row) => element("div.cv-flow", ...row.map((item) => this.#item(item))));
    return element("section.cv-branch", element("h5", title), ...flows, truth);
  }

  /** @param {Stage} item */
  #item({ name, words, note }) {
    if (words) return operation(words, note);
    const map = new LinkedMap(this.#pane, this.#read, CELL_SIDE);
    const line = element("p.cv-muted");
    this.#maps.push({ map, note: line });
    return element("div.cv-inside-stage", { "data-stage": name }, map.el, line);
  }
}

/** @param {string} words @param {string} note */
function operation(words, note) {
  const line = rich("span.cv-operation-note", note);
  const arrow = element("span", { "aria-hidden": "true" }, "\u2192");
  return element("div.cv-operation", element("strong", words), line, arrow);
}
