// The code tab: one setting as Python, seven ways. A line lights its panels, a panel its lines.
import { NOT_COPIED, createClipboard } from "../../web/base/clipboard.js";
import { element, setText } from "../../web/base/dom.js";
import { CodeLines } from "./code_lines.js";
import { split, tab } from "../../web/tabs/pane.js";
import { code, createRadios, button } from "../../web/tabs/pane_elements.js";
import { say, sayPieces } from "./sentences.js";

/**
 * @typedef {import("./code_lines.js").CodeFile & { name: string, label: string, title: string }} Way
 * @typedef {{ ways: Way[], numbers: { on: boolean, reason: string }, called: Record<string, string>, inside:
 *   Record<string, string> }} CodeData by data.py
 */

const FIRST = "rotate"; // always there; its lines make every panel

class CodePane {
  #pane;
  #data = /** @type {CodeData} */ (/** @type {unknown} */ (null));
  #chosen = FIRST;
  #shown = "";
  /** @type {string[]} */
  #onBoard = [];
  #ways = createRadios(say("ways"), "way", (name) => {
    this.#chosen = name;
    this.#show();
  });
  #title = element("h4");
  #copier = createClipboard();
  #outcome = element("span.cv-copied.cv-muted");
  #box = element("input", { type: "checkbox" });
  #reason = element("p.cv-muted.cv-reason");
  #readout = element("p.cv-muted.cv-linktext", say("hint"));
  #code = new CodeLines((number) => this.#pointAtLine(number));

  /** @param {PaneTools} pane @param {HTMLElement} body */
  constructor(pane, body) {
    this.#pane = pane;
    const copy = button(say("copy"), async () => {
      const done = await this.#copier.copy(this.#way().text);
      const words = done ? say("copied") : NOT_COPIED;
      setText(this.#outcome, words);
      this.#outcome.classList.toggle("cv-refused", !done);
      pane.say(words);
    });
    const numbers = element("label.cv-numbers", this.#box, say("numbers"));
    const words = [
      element("h3", say("title")),
      this.#ways.el,
      this.#title,
      element("div.cv-flow", copy, numbers, this.#outcome),
      this.#reason,
      this.#copier.el,
      this.#readout,
    ];
    body.append(split(words, [this.#code.el]));
    this.#box.addEventListener("change", () => pane.choose({ numbers: this.#box.checked }));
    pane.onPoint(({ cell, panels }) => {
      this.#onBoard = [...new Set([...panels, ...(cell ? [cell.panel] : [])])];
      if (this.#data) this.#markBoard();
    });
  }

  #way() {
    return /** @type {Way} */ (this.#data.ways.find((each) => each.name === this.#chosen));
  }

  /** @param {number[]} lines that make or read panels @param {string[]} names */
  #pointAtCells(lines, names) {
    const panels = names.flatMap((name, place) => [place ? ", " : "", code(this.#data.called[name] ?? name)]);
    const values = { panels, lines: lines.join(", "), count: lines.length };
    this.#readout.replaceChildren(...sayPieces(lines.length ? "lines" : "no_line", values));
  }

  /** @param {number | null} number */
  #pointAtLine(number) {
    if (number === null) {
      this.#pane.point();
      this.#markBoard();
      return;
    }
    const names = this.#code.panelsOf(number);
    this.#pane.point({ panels: [...names, ...names.map((name) => this.#data.inside[name]).filter(Boolean)] });
    this.#pointAtCells([number], names);
  }

  #markBoard() {
    const { inside } = this.#data;
    const within = Object.keys(inside).filter((name) => this.#onBoard.includes(inside[name]));
    const found = this.#code.mark([...this.#onBoard, ...within]);
    if (!this.#onBoard.length) setText(this.#readout, say("hint"));
    else this.#pointAtCells(found, this.#onBoard);
  }

  #show() {
    const found = this.#way();
    this.#ways.set(
      this.#chosen,
      this.#data.ways.map(({ name, label }) => [name, label]),
    );
    setText(this.#title, found.title);
    this.#code.set(found, this.#shown === this.#chosen);
    this.#shown = this.#chosen;
    this.#markBoard();
    setText(this.#outcome, "");
    this.#copier.close();
  }

  /** @param {CodeData} next */
  set = (next) => {
    this.#data = next;
    if (!this.#way()) this.#chosen = FIRST; // a transposed one has fewer ways
    const { on, reason } = next.numbers;
    this.#box.checked = on && !reason;
    this.#box.disabled = Boolean(reason);
    setText(this.#reason, reason);
    this.#show();
  };
}

export default tab("code", (pane, body) => new CodePane(pane, body).set);
