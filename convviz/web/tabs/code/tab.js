// @ts-check
// The code tab: one setting as Python, seven ways. A line lights its panels, a panel its lines.
import WORDS from "../../../facts/words/tabs.json" with { type: "json" };
import { NOT_COPIED, createCopier } from "../../base/clipboard.js";
import { checkOne, walkAlong } from "../../base/roving.js";
import { CodeLines } from "../code_lines.js";
import { element, makeButton, setText } from "../../base/dom.js";
import { openPane, split } from "../pane.js";
import { pieces, sentences } from "../../base/words.js";

/**
 * @typedef {import("../code_lines.js").CodeFile & { name: string, label: string, title: string }} Way
 * @typedef {{ ways: Way[], numbers: { on: boolean, reason: string }, called: Record<string, string>,
 *   inside: Record<string, string> }} CodeData as app/tabs/code.py sends it
 */

const say = sentences(WORDS);
const sayPieces = pieces(WORDS);
const FIRST = "rotate"; // always among them, and its lines make every panel of the board

class CodePane {
  #pane;
  #data = /** @type {CodeData} */ (/** @type {unknown} */ (null));
  #chosen = FIRST;
  /** @type {string | null} */
  #shown = null; // the way whose lines stand there now
  /** @type {string[]} */
  #onBoard = []; // the panels that the board points at
  #ways = element("div", { class: "cv-buttons", role: "radiogroup", "aria-label": say("code.ways") });
  #title = element("h4");
  #copier = createCopier();
  #outcome = element("span", { class: "cv-copied cv-muted" });
  #box = element("input", { type: "checkbox" });
  #reason = element("p", { class: "cv-muted cv-reason" });
  #readout = element("p", { class: "cv-muted cv-linktext" }, say("code.hint"));
  #code = new CodeLines((number) => this.#pointAtLine(number));

  /** @param {import("../pane.js").PaneTools} pane @param {HTMLElement} body */
  constructor(pane, body) {
    this.#pane = pane;
    const copy = makeButton({ class: "cv-button cv-copy" }, say("code.copy"), async () => {
      const done = await this.#copier.copy(this.#way().text);
      const words = done ? say("code.copied") : NOT_COPIED;
      setText(this.#outcome, words);
      this.#outcome.classList.toggle("cv-refused", !done);
      pane.say(words);
    });
    const numbers = element("label", { class: "cv-numbers" }, this.#box, say("code.numbers"));
    const words = [
      element("h3", {}, say("code")),
      this.#ways,
      this.#title,
      element("div", { class: "cv-flow" }, copy, numbers, this.#outcome),
      this.#reason,
      this.#copier.el,
      this.#readout,
    ];
    body.append(split(words, [this.#code.el]));
    this.#box.addEventListener("change", () => pane.choose({ numbers: this.#box.checked }));
    walkAlong(
      this.#ways,
      () => this.#buttons(),
      ({ dataset }) => this.#choose(String(dataset.way)),
    );
    pane.onPoint(({ cell, panels }) => {
      this.#onBoard = [...new Set([...panels, ...(cell ? [cell.panel] : [])])];
      if (this.#data) this.#markBoard();
    });
  }

  #way() {
    return /** @type {Way} */ (this.#data.ways.find((each) => each.name === this.#chosen));
  }

  #buttons() {
    return /** @type {HTMLElement[]} */ ([...this.#ways.children]);
  }

  /** @param {number[]} lines that make or read panels; none where no line does @param {string[]} names */
  #tell(lines, names) {
    const panels = names.flatMap((name, place) => [
      place ? ", " : "",
      element("code", {}, this.#data.called[name] ?? name),
    ]);
    const values = { panels, lines: lines.join(", "), count: lines.length };
    this.#readout.replaceChildren(...sayPieces(lines.length ? "code.lines" : "code.no_line", values));
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
    this.#tell([number], names);
  }

  /** Mark the lines of what the board points at. */
  #markBoard() {
    const within = Object.keys(this.#data.inside).filter((name) =>
      this.#onBoard.includes(this.#data.inside[name]),
    );
    const names = [...this.#onBoard, ...within];
    const found = this.#code.mark(names);
    if (!this.#onBoard.length) setText(this.#readout, say("code.hint"));
    else this.#tell(found, this.#onBoard);
  }

  #show() {
    const found = this.#way();
    checkOne(this.#buttons(), ({ dataset }) => dataset.way === this.#chosen);
    setText(this.#title, found.title);
    this.#code.set(found, this.#shown === this.#chosen);
    this.#shown = this.#chosen;
    this.#markBoard();
  }

  /** @param {string} name */
  #choose(name) {
    this.#chosen = name;
    setText(this.#outcome, "");
    this.#copier.close();
    this.#show();
  }

  #makeButtons() {
    this.#ways.replaceChildren(
      ...this.#data.ways.map(({ name, label }) => {
        return makeButton({ class: "cv-button", role: "radio", "data-way": name }, label, () =>
          this.#choose(name),
        );
      }),
    );
  }

  set(next) {
    const sameWays =
      this.#data &&
      this.#data.ways.map((each) => each.name).join() === next.ways.map((each) => each.name).join();
    this.#data = next;
    if (!sameWays) this.#makeButtons();
    if (!this.#way()) this.#chosen = FIRST; // a transposed convolution is written in fewer ways
    this.#box.checked = this.#data.numbers.on && !this.#data.numbers.reason;
    this.#box.disabled = Boolean(this.#data.numbers.reason);
    setText(this.#reason, this.#data.numbers.reason);
    setText(this.#outcome, "");
    this.#copier.close(); // what stood there selected is no longer what the code says
    this.#show();
  }
}

/** @param {import("../pane.js").PaneContext} context */
function renderCode(context) {
  return openPane(context, "code", (pane, body) => {
    const made = new CodePane(pane, body);
    return (next) => made.set(next);
  });
}

export default { render: renderCode };
