// @ts-check
// The code tab: one setting as Python, seven ways. A line lights its panels, a panel its lines.
import WORDS from "../../../facts/words/tabs.json" with { type: "json" };
import { NOT_COPIED, createCopier } from "../base/clipboard.js";
import { CodeLines } from "./code_lines.js";
import { element, setText } from "../base/dom.js";
import { openPane, split } from "./pane.js";
import { pieces, sentences } from "../base/words.js";

const say = sentences(WORDS);
const sayPieces = pieces(WORDS);
const FIRST = "rotate"; // always among them, and its lines make every panel of the board

/**
 * @param {import("./pane.js").PaneTools} pane @param {HTMLElement} body
 * @returns {(data: any) => void}
 */
function buildCode(pane, body) {
  let data = /** @type {any} */ (null);
  let chosen = FIRST;
  /** @type {string | null} */
  let shown = null; // the way whose lines stand there now
  /** @type {string[]} */
  let onBoard = []; // the panels that the board points at

  const ways = element("div", { class: "cv-buttons", role: "radiogroup", "aria-label": say("code.ways") });
  const title = element("h4");
  const copy = element("button", { type: "button", class: "cv-button cv-copy" }, say("code.copy"));
  const copier = createCopier();
  const outcome = element("span", { class: "cv-copied cv-muted" });
  const box = /** @type {HTMLInputElement} */ (element("input", { type: "checkbox" }));
  const numbers = element("label", { class: "cv-numbers" }, box, say("code.numbers"));
  const reason = element("p", { class: "cv-muted cv-reason" });
  const readout = element("p", { class: "cv-muted cv-linktext" }, say("code.hint"));
  const code = new CodeLines(pointAtLine);
  const words = [
    element("h3", {}, say("code")),
    ways,
    title,
    element("div", { class: "cv-flow" }, copy, numbers, outcome),
    reason,
    copier.el,
    readout,
  ];
  body.append(split(words, [code.el]));

  const way = () => data.ways.find((/** @type {any} */ each) => each.name === chosen);
  const buttons = () => /** @type {HTMLElement[]} */ ([...ways.children]);

  /** @param {number[]} lines that make or read panels; none where no line does @param {string[]} names */
  function tell(lines, names) {
    const panels = names.flatMap((name, place) => [
      place ? ", " : "",
      element("code", {}, data.called[name] ?? name),
    ]);
    const values = { panels, lines: lines.join(", "), count: lines.length };
    readout.replaceChildren(...sayPieces(lines.length ? "code.lines" : "code.no_line", values));
  }

  /** @param {number | null} number */
  function pointAtLine(number) {
    if (number === null) {
      pane.point();
      markBoard();
      return;
    }
    const names = code.panelsOf(number);
    pane.point({ panels: [...names, ...names.map((name) => data.inside[name]).filter(Boolean)] });
    tell([number], names);
  }

  /** Mark the lines of what the board points at. */
  function markBoard() {
    const within = Object.keys(data.inside).filter((name) => onBoard.includes(data.inside[name]));
    const names = [...onBoard, ...within];
    const found = code.mark(names);
    if (!onBoard.length) setText(readout, say("code.hint"));
    else tell(found, onBoard);
  }

  function show() {
    const found = way();
    for (const button of buttons()) {
      const here = button.dataset.way === chosen;
      button.setAttribute("aria-checked", String(here));
      button.tabIndex = here ? 0 : -1;
    }
    setText(title, found.title);
    code.set(found, shown === chosen);
    shown = chosen;
    markBoard();
  }

  /** @param {string} name */
  function choose(name) {
    chosen = name;
    setText(outcome, "");
    copier.close();
    show();
  }

  /** @param {KeyboardEvent} event */
  function onKey(event) {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    const all = buttons();
    const at = all.indexOf(/** @type {HTMLElement} */ (event.target));
    if (!step || at < 0) return;
    event.preventDefault();
    const next = all[(at + step + all.length) % all.length];
    choose(String(next.dataset.way));
    next.focus();
  }

  function makeButtons() {
    ways.replaceChildren(
      ...data.ways.map(({ name, label }) => {
        const button = element(
          "button",
          { type: "button", class: "cv-button", role: "radio", "data-way": name },
          label,
        );
        button.addEventListener("click", () => choose(name));
        return button;
      }),
    );
  }

  copy.addEventListener("click", async () => {
    const done = await copier.copy(way().text);
    const words = done ? say("code.copied") : NOT_COPIED;
    setText(outcome, words);
    outcome.classList.toggle("cv-refused", !done);
    pane.say(words);
  });
  box.addEventListener("change", () => pane.choose({ numbers: box.checked }));
  ways.addEventListener("keydown", onKey);
  pane.onPoint(({ cell, panels }) => {
    onBoard = [...new Set([...panels, ...(cell ? [cell.panel] : [])])];
    if (data) markBoard();
  });

  return (next) => {
    const sameWays =
      data && data.ways.map((each) => each.name).join() === next.ways.map((each) => each.name).join();
    data = next;
    if (!sameWays) makeButtons();
    if (!way()) chosen = FIRST; // a transposed convolution is written in fewer ways
    box.checked = data.numbers.on && !data.numbers.reason;
    box.disabled = Boolean(data.numbers.reason);
    setText(reason, data.numbers.reason);
    setText(outcome, "");
    copier.close(); // what stood there selected is no longer what the code says
    show();
  };
}

/** @param {any} context */
function renderCode(context) {
  return openPane(context, "code", buildCode);
}

export default { render: renderCode };
