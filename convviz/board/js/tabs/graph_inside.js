// @ts-check
// The inside of a convolution's box: its backward pass as a row of small heatmaps with what is done between
// them.
import WORDS from "../../../facts/words/tabs.json" with { type: "json" };
import { element, setText } from "../base/dom.js";
import { setRich } from "../base/rich_text.js";
import { createLinkedMap } from "./tensor_view.js";
import { sentences } from "../base/words.js";

const say = sentences(WORDS);
const CELL_SIDE = 26; // pixels: two stages and what is done between them stand side by side

/**
 * @typedef {import("./tensor_view.js").Plane & { name: string, label: string, shape: string, words?: string,
 *   note: string }} Stage words: what is done between two stages, where it is no stage
 */

/**
 * Make the inside, hidden.
 * @param {import("./pane.js").PaneTools} pane
 * @param {(text: string) => void} read shows what a cell is, in words
 * @param {(plane: Record<string, number>) => void} choose another sample or channel is wanted
 */
export function createInside(pane, read, choose) {
  const failure = element("p", { class: "cv-pane-failure", role: "alert" });
  const choices = element("div", { class: "cv-planes" });
  const branches = element("div", {});
  const el = element("div", { class: "cv-inside", hidden: "" }, failure, choices, branches);
  /** @type {{ key: string, map: ReturnType<typeof createLinkedMap>, note: HTMLElement }[]} */
  let maps = [];
  /** @type {HTMLElement[]} */
  let truths = [];
  let built = "";

  /** @param {{ axis: string, word: string, count: number, value: number }[]} wanted @param {boolean} fixed */
  function setChoices(wanted, fixed) {
    const plane = wanted.map(({ word, value }) => `${word} = ${value}`).join(", ");
    choices.hidden = !wanted.length;
    if (fixed) return setText(choices, plane && say("graph.board", { plane }));
    if (choices.childElementCount !== wanted.length)
      choices.replaceChildren(...wanted.map((each) => choice(each)));
    choices.querySelectorAll("input").forEach((input, index) => {
      const { axis, count, value } = wanted[index];
      Object.assign(input, { max: String(count - 1), value: String(value) });
      input.dataset.axis = axis;
    });
  }

  function choice({ word }) {
    const input = element("input", { type: "number", min: "0", step: "1" });
    input.addEventListener("change", () => {
      const all = [...choices.querySelectorAll("input")].map((each) => [
        each.dataset.axis,
        Number(each.value) || 0,
      ]);
      choose(Object.fromEntries(all));
    });
    return element("label", {}, `${word} `, input);
  }

  /** @param {Stage} item */
  function build(item) {
    if (item.words) {
      const note = element("span", { class: "cv-operation-note" });
      setRich(note, item.note);
      return element(
        "div",
        { class: "cv-operation" },
        element("strong", {}, item.words),
        note,
        element("span", { "aria-hidden": "true" }, "\u2192"),
      );
    }
    const map = createLinkedMap(pane, read, CELL_SIDE);
    const note = element("p", { class: "cv-muted" });
    const stage = element("div", { class: "cv-inside-stage", "data-stage": item.name }, map.el, note);
    maps.push({ key: item.name, map, note });
    return stage;
  }

  /** @param {{ title: string, rows: Stage[][] }} branch */
  function buildBranch(branch) {
    const truth = element("p", { class: "cv-muted cv-inside-truth" });
    truths.push(truth);
    const rows = branch.rows.map((row) => element("div", { class: "cv-flow" }, ...row.map(build)));
    return element("section", { class: "cv-branch" }, element("h5", {}, branch.title), ...rows, truth);
  }

  return {
    el,
    /** @param {any} reply @param {DataView<ArrayBuffer>[]} buffers */
    show(reply, buffers) {
      el.hidden = false;
      el.dataset.of = reply.id;
      setText(failure, reply.error ?? "");
      branches.hidden = choices.hidden = Boolean(reply.error);
      if (reply.error) return;
      setChoices(reply.choices, reply.fixed);
      const stages = reply.branches.flatMap((branch) => branch.rows.flat()).filter((item) => !item.words);
      const operations = reply.branches.map((branch) =>
        branch.rows.map((row) => row.map((item) => [item.words ?? item.name, item.note])),
      );
      const structure = JSON.stringify(operations);
      if (structure !== built) {
        built = structure;
        pane.point(); // a heatmap that is replaced never tells that the pointer has left it
        maps = [];
        truths = [];
        branches.replaceChildren(...reply.branches.map(buildBranch));
      }
      stages.forEach((stage, index) => {
        maps[index].map.set(stage, buffers);
        setText(maps[index].note, stage.part && say("tensor.shown", { part: stage.part }));
      });
      reply.branches.forEach((branch, index) => setRich(truths[index], branch.truth));
    },
    hide() {
      el.hidden = true;
    },
    /** @param {import("../base/wire.js").Pointed} pointed */
    hear: (pointed) => maps.forEach(({ map }) => map.hear(pointed)),
  };
}
